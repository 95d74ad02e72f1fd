/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_IDS_H
#define CRNIC_IDS_H

/*
 * The one PCI identity that crnic binds without being told to: a ConnectX-5
 * device ID under the subsystem ID of the mocx device model.  No card that was
 * ever sold carries this pair, so a real one is never taken by surprise.
 */
#define CRNIC_PCI_VENDOR_ID		0x15b3
#define CRNIC_PCI_DEVICE_ID_MODEL	0x1017
#define CRNIC_PCI_SUBVENDOR_ID_MODEL	0x1af4
#define CRNIC_PCI_SUBDEVICE_ID_MODEL	0x1101

#endif /* CRNIC_IDS_H */
