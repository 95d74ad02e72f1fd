# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU device by qtest: what device.py is made of."""
