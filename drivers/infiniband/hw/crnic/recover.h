/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_RECOVER_H
#define CRNIC_RECOVER_H

struct crnic_dev;
struct pci_error_handlers;

extern const struct pci_error_handlers crnic_error_handlers;

void crnic_sleep(struct crnic_dev *dev);
int crnic_wake(struct crnic_dev *dev);

#endif /* CRNIC_RECOVER_H */
