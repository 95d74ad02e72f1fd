#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail each allocation, and each copy from or to a program, that a driver makes
in an operation, one a try.

failnth.py MODULE PCI NETDEV RDMA [OPERATION...]

A kernel with fault injection fails the nth of these in a task, and is told to
count those alone that are made on behalf of MODULE. An operation is tried with
n = 1, 2, ... until none is left to fail. After each try what it made is undone,
and it has to work without a failure. One line for each operation, as JSON:
its name, the tries, how many of these failed and how many found another way,
and what was wrong.
"""

import json
import os
import subprocess
import sys

import pyverbs.enums as e
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR, MW
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr, QPInitAttrEx
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.xrcd import XRCD, XRCDInitAttr

MOST = 2000             # tries of one operation, which end before that
KNOBS = '/sys/kernel/debug'
ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE


def write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(str(text))


def symbols():
    """(address, name, module) of the kernel's functions."""
    with open('/proc/kallsyms', encoding='ascii') as file:
        rows = [line.split() for line in file]
    return [(int(row[0], 16), row[2], row[3] if row[3:] else '')
            for row in rows if row[1] in 'tT' and '.cold' not in row[2]]


def span(found):
    """Addresses that begin and end what encloses these functions."""
    addresses = [address for address, _, _ in found]
    return hex(min(addresses)), hex(max(addresses) + 1)


def arm(module):
    """Count what happens under that module's functions, of any kind, but not
    what the DMA-API debugger needs, which switches itself off without it."""
    table = symbols()
    start, end = span([row for row in table if row[2] == f'[{module}]' and
                       row[1] not in ('init_module', 'cleanup_module')])
    debug_start, debug_end = span(
        [row for row in table if not row[2] and
         row[1].startswith(('debug_dma_', 'active_cacheline_'))])
    for kind in ('failslab', 'fail_page_alloc', 'fail_usercopy'):
        knobs = f'{KNOBS}/{kind}'
        write(f'{knobs}/verbose', 0)
        write(f'{knobs}/stacktrace-depth', 32)
        write(f'{knobs}/require-start', start)
        write(f'{knobs}/require-end', end)
        write(f'{knobs}/reject-start', debug_start)
        write(f'{knobs}/reject-end', debug_end)
    write(f'{KNOBS}/failslab/ignore-gfp-wait', 'N')
    write(f'{KNOBS}/failslab/cache-filter', 'N')
    write(f'{KNOBS}/fail_page_alloc/ignore-gfp-wait', 'N')
    write(f'{KNOBS}/fail_page_alloc/ignore-gfp-highmem', 'N')
    write(f'{KNOBS}/fail_page_alloc/min-order', 0)


class Nth:
    """The counter of this thread."""

    path = '/proc/thread-self/fail-nth'

    def __init__(self, n):
        self.n, self.struck = n, None

    def __enter__(self):
        self.fd = os.open(self.path, os.O_RDWR)
        os.write(self.fd, str(self.n).encode())
        return self

    def __exit__(self, *_):
        left = int(os.pread(self.fd, 32, 0))
        os.pwrite(self.fd, b'0', 0)
        os.close(self.fd)
        self.struck = left == 0


def command(*argv):
    """An operation that is a program; its allocations are counted in it."""
    def act(n):
        def start():
            if n:
                write('/proc/self/fail-nth', n)
        process = subprocess.Popen(argv, preexec_fn=start,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        said = process.stderr.read().decode(errors='replace')
        # It is dead and not yet buried: its counter can still be read.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with open(f'/proc/{process.pid}/fail-nth', encoding='ascii') as file:
            left = int(file.read())
        code = process.wait()
        return n and left == 0, said.strip() or str(code) if code else None
    return act


def filed(path, text):
    """An operation that writes a file of sysfs."""
    def act(n):
        fd = os.open(path, os.O_WRONLY)
        try:
            if not n:
                os.write(fd, text.encode())
                return False, None
            with Nth(n) as nth:
                failure = attempt(lambda: os.write(fd, text.encode()))
            return nth.struck, failure
        finally:
            os.close(fd)
    return act


def attempt(function):
    """What went wrong when it was called, or None."""
    try:
        function()
    except (OSError, PyverbsRDMAError) as error:
        return str(error)
    return None


class Verbs:
    """A user of the device, with what an operation needs beforehand."""

    def __init__(self, name):
        self.name, self.kept = name, []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def context(self):
        return self.keep(Context(name=self.name))

    def pd(self):
        return self.keep(PD(self.context()))

    def close(self):
        for thing in reversed(self.kept):
            if thing is not None:
                thing.close()
        self.kept.clear()


def verb(name, prepare, make):
    """An operation of verbs: make(prepared) is tried."""
    def act(n):
        user, made = Verbs(name), []
        try:
            have = prepare(user)
            if not n:
                user.keep(make(have))
                return False, None
            with Nth(n) as nth:
                failure = attempt(lambda: made.append(make(have)))
            user.kept += made
            return nth.struck, failure
        finally:
            user.close()
    return act


def closing(name, prepare, make):
    """The end of what make() made is tried; it has to succeed."""
    def act(n):
        user = Verbs(name)
        try:
            thing = make(prepare(user))
            if not n:
                thing.close()
                return False, None
            with Nth(n) as nth:
                failure = attempt(thing.close)
            if failure:
                thing.close()
            return nth.struck, failure and f'not destroyed: {failure}'
        finally:
            user.close()
    return act


def rc(pd_cq):
    pd, cq = pd_cq
    return QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq,
                             cap=QPCap(max_send_wr=64, max_recv_wr=64)))


def datagrams(pd_cq, kind=e.IBV_QPT_UD):
    pd, cq = pd_cq
    return QP(pd, QPInitAttr(qp_type=kind, scq=cq, rcq=cq,
                             cap=QPCap(max_send_wr=64, max_recv_wr=64)))


def with_cq(user):
    context = user.context()
    return user.keep(PD(context)), user.keep(CQ(context, 16))


def initialized(user):
    """A QP that may be brought to INIT."""
    return user.keep(rc(with_cq(user)))


def to_init(qp):
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = ACCESS
    qp.to_init(attr)


def rereg(mr):
    mr.rereg(flags=e.IBV_REREG_MR_CHANGE_ACCESS,
             access=ACCESS | e.IBV_ACCESS_REMOTE_READ)


def verbs(name):
    """The operations of verbs."""
    def region(pd):
        return MR(pd, 1 << 20, ACCESS)

    def srq(pd):
        return SRQ(pd, SrqInitAttr(SrqAttr(max_wr=64)))

    def xrcd(context):
        return XRCD(context, XRCDInitAttr(
            e.IBV_XRCD_INIT_ATTR_FD | e.IBV_XRCD_INIT_ATTR_OFLAGS,
            os.O_CREAT, -1))

    def xrc_target(user):
        context = user.context()
        return context, user.keep(xrcd(context))

    def target(context_domain):
        context, domain = context_domain
        attr = QPInitAttrEx(qp_type=e.IBV_QPT_XRC_RECV, xrcd=domain,
                            comp_mask=e.IBV_QP_INIT_ATTR_XRCD)
        return QP(context, attr)

    rows = {
        'open': (lambda user: None, lambda _: Context(name=name)),
        'pd': (Verbs.context, PD),
        'region': (Verbs.pd, region),
        'window': (Verbs.pd, lambda pd: MW(pd, e.IBV_MW_TYPE_1)),
        'channel': (Verbs.context, CompChannel),
        'cq': (Verbs.context, lambda context: CQ(context, 64)),
        'rc': (with_cq, rc),
        'ud': (with_cq, datagrams),
        'raw': (with_cq, lambda have: datagrams(have, e.IBV_QPT_RAW_PACKET)),
        'srq': (Verbs.pd, srq),
        'xrcd': (Verbs.context, xrcd),
        'xrc target': (xrc_target, target),
    }
    table = {}
    for what, (prepare, make) in rows.items():
        table[f'create {what}'] = verb(name, prepare, make)
        if what not in ('channel',):
            table[f'destroy {what}'] = closing(name, prepare, make)
    table['modify qp'] = verb(name, initialized, to_init)
    table['reregister'] = verb(
        name, lambda user: user.keep(region(user.pd())), rereg)
    table['resize cq'] = verb(
        name, lambda user: user.keep(CQ(user.context(), 64)),
        lambda cq: cq.resize(512))
    return table


def sysfs(module, pci):
    """The life of the device: it ends bound."""
    drv = f'/sys/bus/pci/drivers/{module}'
    bind, unbind = filed(f'{drv}/bind', pci), filed(f'{drv}/unbind', pci)

    def bound():
        return os.path.exists(f'{drv}/{pci}')

    def probe(n):
        if bound():
            unbind(0)
        struck, failure = bind(n)
        if failure and bound():
            return struck, f'wrong: bound although {failure}'
        if not failure and not bound():
            return struck, 'wrong: no error, and not bound'
        return struck, failure

    def remove(n):
        if not bound():
            bind(0)
        struck, failure = unbind(n)
        return struck, 'wrong: still bound' if bound() else failure
    return {'probe': probe, 'remove': remove}


def netdev(dev):
    """What an administrator does to the port."""
    def turns(*pairs):
        """A setting of the open port that goes to and fro, so that each try
        changes it."""
        state = {'turn': 0}

        def act(n):
            link('up')(0)
            struck, failure = pairs[state['turn'] % len(pairs)](n)
            if not failure:
                state['turn'] += 1
            return struck, failure
        return act

    def link(*words):
        return command('ip', 'link', 'set', dev, *words)

    def tool(*words):
        return command('ethtool', *words)

    def up(n):
        link('down')(0)
        return link('up')(n)

    def down(n):
        link('up')(0)
        return link('down')(n)

    return {
        'open port': up,
        'close port': down,
        'mtu': turns(link('mtu', '3000'), link('mtu', '4200')),
        'mac': turns(link('address', '52:54:00:aa:00:01'),
                     link('address', '52:54:00:aa:00:02')),
        'promiscuous': turns(link('promisc', 'on'), link('promisc', 'off')),
        'rings': turns(tool('-G', dev, 'rx', '256', 'tx', '256'),
                       tool('-G', dev, 'rx', '512', 'tx', '512')),
        'channels': turns(tool('-L', dev, 'combined', '1'),
                          tool('-L', dev, 'combined', '2')),
        'offload': turns(tool('-K', dev, 'rxvlan', 'off'),
                         tool('-K', dev, 'rxvlan', 'on')),
        'statistics': tool('-S', dev),
    }


def unharmed(act):
    """What goes wrong when nothing is made to fail, or None."""
    try:
        return act(0)[1]
    except (OSError, PyverbsRDMAError) as error:
        return str(error)


def try_all(name, act):
    """All tries of an operation, as a row."""
    row = {'operation': name, 'tries': 0, 'failed': 0, 'survived': 0,
           'wrong': []}
    for n in range(1, MOST + 1):
        struck, failure = act(n)
        if not struck:
            if failure:
                row['wrong'].append(f'{n}: not struck, and {failure}')
            break
        row['tries'] += 1
        row['failed' if failure else 'survived'] += 1
        if failure and failure.startswith(('wrong', 'not destroyed')):
            row['wrong'].append(f'{n}: {failure}')
        again = unharmed(act)
        if again:
            row['wrong'].append(f'{n}: the next one: {again}')
            break
    else:
        row['wrong'].append(f'no end after {MOST}')
    print(json.dumps(row), flush=True)


def main():
    module, pci, dev, rdma, *wanted = sys.argv[1:]
    arm(module)
    table = {**verbs(rdma), **netdev(dev), **sysfs(module, pci)}
    for name in wanted or table:
        try_all(name, table[name])


if __name__ == '__main__':
    main()
