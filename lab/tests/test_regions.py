# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights of memory regions, and the memory that they lock."""

import itertools
import re

import pytest

# At level err, rxe tells of what it refuses and mlx5 of a QP that it could
# not make.
pytestmark = pytest.mark.says(r'rxe\d: (qp|cq|mr|pd)#\d+|rxe\d: rxe_\w+: |'
                              r'mlx5_\d: .*Create QP type \d failed')

SECRET = '/tmp/of-root'


def resources(lab):
    """What `rdma resource` counts for the device of a."""
    said = lab.a.check(['rdma', 'resource', 'show', lab.device('a')])
    # The vendor's driver makes a CQ when the first region changes.
    return re.sub(r'cq \d+ ', '', said)


def lines_of(lab, program, *args):
    """What a program of one guest printed; it left nothing behind."""
    before = resources(lab)
    path = lab.push_program(program, '-libverbs')
    said = lab.a.check([path, lab.device('a'), *args], timeout=120)
    assert resources(lab) == before
    return said.splitlines()


@pytest.mark.cross
def test_case_60_registering_again_gives_no_right_to_write(lab):
    """A file of root stays as it is, whatever nobody asks for."""
    lab.a.check(f'head -c 4096 /dev/zero | tr "\\0" r >{SECRET} && '
                f'chmod 644 {SECRET}')
    said = lines_of(lab, 'widen', str(lab.gid('a')), SECRET)
    assert lab.a.check(['cat', SECRET]) == 'r' * 4096, '\n'.join(said)
    assert len(said) == 21
    for line in said:
        # A window alone may be bound: there is nothing to write through it.
        assert re.fullmatch(r'[\w ]+: E[A-Z]+,( bind)?', line), line


TRANS, PD, ACCESS = 1, 2, 4
# What the kernel says of memory that cannot be registered.
REFUSED = {'good': '0', 'unmapped': 'EFAULT', 'zero': 'EINVAL',
           'large': 'ENOMEM'}


def after(flags, memory):
    """What a region is after it was registered again, in the program's
    words: memory is looked at only if it changes."""
    said = REFUSED[memory] if flags & TRANS else '0'
    words = ' '.join('new' if said == '0' and flags & flag else 'old'
                     for flag in (PD, ACCESS, TRANS))
    return f'{flags} {memory}: {said}, {words}, 0, 0 ENOENT'


@pytest.mark.mocx
def test_case_61_what_is_not_named_stays(lab):
    said = lines_of(lab, 'subsets', str(lab.gid('a')))
    assert said == [after(*case) for case in
                    itertools.product(range(1, 8), REFUSED)]


READING, WRITING = 'none remote-read', 'local-write remote-write atomic window'
# Kind of memory: whether it can be registered to read, and to write.
KINDS = {
    'anonymous': (True, True),
    'anonymous-shared': (True, True),
    'anonymous-read-only': (True, False),
    'no-access': (False, False),
    'write-only': (False, True),
    'memfd': (True, True),
    'memfd-read-only': (True, False),
    'memfd-sealed': (True, False),
    'file-shared': (True, True),
    'file-shared-read-only': (True, False),
    'file-private': (True, True),
    'file-private-read-only': (True, False),
    'pci': (False, False),
    'pci-read-only': (False, False),
}


def unclaimed(lab):
    """A page of a PCI device that no driver has."""
    return lab.a.check(
        'for d in /sys/bus/pci/devices/*; do [ -e $d/driver ] || '
        'for r in $d/resource?; do '
        '[ "$(stat -c %s $r 2>/dev/null || echo 0)" -ge 4096 ] && '
        'echo $r; done; done; true').split()[0]


@pytest.mark.cross
def test_case_62_memory_is_locked_to_write_only_if_it_may_be_written(lab):
    """The same answers by all drivers, rxe's among them."""
    said = lines_of(lab, 'kinds', '/tmp/kinds', unclaimed(lab))
    assert said == [f'{kind} {right}: {"0" if can else "EFAULT"}, 0'
                    for kind, cans in KINDS.items()
                    for can, rights in zip(cans, (READING, WRITING))
                    for right in rights.split()]


def kernel_lines(lab):
    """How many lines the kernel of a has said."""
    return int(lab.a.check('dmesg | wc -l'))


# Objects that need more memory than the least limits allow; rxe takes that of
# queues from the kernel, and has no raw packets.
PINNED = {'rxe': ['mr']}


@pytest.mark.cross
def test_case_70_a_limit_of_locked_memory_is_met_halfway(lab):
    """ENOMEM at each step, or EPERM without any; nothing stays locked."""
    before, driver = kernel_lines(lab), lab.drivers['a']
    for line in lines_of(lab, 'memlock'):
        kind, errnos, leak, counts = re.fullmatch(
            r'([\w-]+):((?: \w+)*), (-?\d+), (\d+ \d+)', line).groups()
        refused, done = map(int, counts.split())
        assert leak == '0', line
        if kind not in PINNED.get(driver, [kind]):
            continue
        assert errnos == ' EPERM ENOMEM' and refused > 2 and done > 2, line
    if driver == 'crnic':
        assert kernel_lines(lab) == before
