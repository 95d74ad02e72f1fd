# SPDX-License-Identifier: GPL-2.0-or-later
"""ethtool in a guest: what it prints, taken apart."""

import re

# What -K calls a feature, and what -k does.
FEATURES = {
    'rx': 'rx-checksumming', 'tx': 'tx-checksumming', 'sg': 'scatter-gather',
    'tso': 'tcp-segmentation-offload', 'gro': 'generic-receive-offload',
    'rxvlan': 'rx-vlan-offload', 'txvlan': 'tx-vlan-offload',
    'rxhash': 'receive-hashing', 'rx-vlan-filter': 'rx-vlan-filter',
    'tx-tcp6-segmentation': 'tx-tcp6-segmentation',
}


def ethtool(lab, *words, name='a'):
    return lab.guests[name].check(['ethtool', *map(str, words)])


def table(lab, flag, name='a'):
    """A list of values for each key. What has a maximum has that first, and
    last what is set."""
    rows = {}
    for line in ethtool(lab, flag, lab.netdev(name), name=name).splitlines():
        key, found, value = line.strip().partition(':')
        if found and value.split():
            rows.setdefault(key, []).append(value.split()[0])
    return rows


def statistics(lab, name):
    return {key: int(values[0])
            for key, values in table(lab, '-S', name).items()}


def features(lab, name):
    """on or off for each short name of one that can be changed."""
    text = ethtool(lab, '-k', lab.netdev(name), name=name)
    found = {short: re.search(rf'^\s*{long}: (on|off)( \[fixed\])?', text, re.M)
             for short, long in FEATURES.items()}
    return {short: match[1] for short, match in found.items()
            if match and not match[2]}


def set_features(lab, name, words):
    """As in 'tx on tso off'. They are so afterwards, as far as the driver lets
    them be changed."""
    words = words.split()
    # It fails where nothing is left to change.
    lab.guests[name].run(['ethtool', '-K', lab.netdev(name), *words])
    now = features(lab, name)
    for short, wanted in zip(words[::2], words[1::2]):
        assert now.get(short, wanted) == wanted, f'{name}: {short}'
