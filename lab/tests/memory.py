# SPDX-License-Identifier: GPL-2.0-or-later
"""What memory is taken, by a guest's kernel and by a model."""


def slab(guest):
    """Unreclaimable slab in KiB."""
    text = guest.check('echo 3 >/proc/sys/vm/drop_caches; sleep 0.5; '
                       'grep SUnreclaim /proc/meminfo')
    return int(text.split()[1])


def qemu_memory(lab, name):
    """KiB that QEMU holds beside the guest's RAM (half a GiB or more)."""
    pid, total, size = lab.lab.running()['pids'][name], 0, 0
    with open(f'/proc/{pid}/smaps', encoding='ascii') as file:
        for line in file:
            words = line.split()
            if words[0] == 'Size:':
                size = int(words[1])
            elif words[0] == 'Rss:' and size < 1 << 19:
                total += int(words[1])
    return total
