# SPDX-License-Identifier: GPL-2.0-or-later
"""What an administrator gets wrong with the module, inside a guest."""

import re

import pytest

import content

# A wrong value, and how the one line about it goes.
WRONG = [
    ('comp_vectors=many', r"`many' invalid for parameter `comp_vectors'"),
    ('comp_vectors=4294967295', r'comp_vectors=4294967295 is not in 0\.\.'),
    ('comp_vectors', r"`' invalid for parameter `comp_vectors'"),
    ('cmd_timeout_ms=-1', r"`-1' invalid for parameter `cmd_timeout_ms'"),
    ('cmd_timeout_ms=0', r'cmd_timeout_ms=0 is not in '),
    ('fail_stage=sulk', r'fail_stage=sulk is no stage'),
    ('fail_stage', r"`' invalid for parameter `fail_stage'"),
]
TRY = 'insmod /root/crnic.ko "$1"; echo " $?"; rmmod crnic 2>/dev/null; :'
AGAIN = 'insmod /root/crnic.ko && ls /sys/class/infiniband && rmmod crnic'


def insmod(guest, value):
    """Load the module with a parameter: exit code, what the kernel said."""
    last = guest.dmesg()[-1].time
    said = guest.check(['/bin/sh', '-c', TRY, 'sh', value], timeout=60)
    return int(said), [line.text for line in guest.dmesg()
                       if line.time > last and 'crnic' in line.text]


def refusals(guest):
    """Each wrong value is refused in one line, and the next load works."""
    for value, told in WRONG:
        code, lines = insmod(guest, value)
        assert code != 0, f'{value} was accepted'
        assert len(lines) == 1 and re.search(told, lines[0]), (value, lines)
        assert guest.check(AGAIN, timeout=60).strip(), value


@pytest.mark.says(r'invalid for parameter|is not in \d|is no stage')
def test_wrong_module_parameters(lab):
    if lab.drivers['a'] != 'crnic':
        pytest.skip('the parameters are those of crnic')
    lab.a.unload()
    said = lab.a.check(['modinfo', '-F', 'parm', '/root/crnic.ko'])
    assert {line.split(':')[0] for line in said.splitlines()} == \
        {value.split('=')[0] for value, _ in WRONG}
    refusals(lab.a)

    # The kernel tells of one it does not know, and loads the module.
    code, lines = insmod(lab.a, 'colour=blue')
    assert code == 0
    assert sum("unknown parameter 'colour'" in line for line in lines) == 1

    lab.lab.setup_guest(lab.a)
    lab.forget()
    content.run(lab, '-s', '0-9', '-o', 'rc/send,ud/send').expect(2)
