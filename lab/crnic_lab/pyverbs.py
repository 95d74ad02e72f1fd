# SPDX-License-Identifier: GPL-2.0-or-later
"""rdma-core's own tests in guest a, and the gate: what passes stays so.

A gate is a file for a driver and a Debian suite that names each test which
passes there. A name once in it stays.
"""

import argparse
import collections
import contextlib
import io
import re
import sys
import tarfile

from .errors import LabError, WrongUse
from .lab import script
from .paths import TOP
from .program import seconds

HOME = TOP / 'lab/pyverbs'
THERE = '/root/pyverbs'
TABLE = TOP / 'Documentation/driver/pyverbs.rst'

HEADER = '''# SPDX-License-Identifier: GPL-2.0-or-later
# rdma-core's tests of Debian {suite} that pass with {driver}. Names may be
# added, never taken out.
'''

Outcome = collections.namedtuple('Outcome', 'result seconds name reason')


def tests_of(suite):
    """The directory of a suite's tests, fetched if need be."""
    return script('pyverbs-tests', '--suite', suite)['tests']


class Gate:
    """The names that have to pass with a driver."""

    def __init__(self, driver, suite):
        self.driver, self.suite = driver, suite
        self.path = HOME / f'{driver}.{suite}'

    def names(self):
        try:
            lines = self.path.read_text(encoding='ascii').splitlines()
        except FileNotFoundError:
            return set()
        return {line for line in lines if line and line[0] != '#'}

    def add(self, names):
        """Names that pass too from now on."""
        head = HEADER.format(driver=self.driver, suite=self.suite)
        lines = sorted(self.names() | set(names))
        self.path.write_text(head + '\n'.join(lines) + '\n', encoding='ascii')

    def broken(self, outcomes):
        """Which of the outcomes are of this gate and did not pass."""
        gate = self.names()
        return [outcome for outcome in outcomes
                if outcome.name in gate and outcome.result != 'passed']


def known_reasons():
    """Parts of the reasons that the documentation has for tests left out."""
    return re.findall(r'^ +\* - ``(.+)``$',
                      TABLE.read_text(encoding='ascii'), re.MULTILINE)


def unexplained(outcomes):
    """Outcomes of tests left out for a reason that nobody wrote down."""
    known = known_reasons()
    return [outcome for outcome in outcomes if outcome.result == 'skipped' and
            not any(part in outcome.reason for part in known)]


@contextlib.contextmanager
def huge_pages(guest):
    """Some tests want memory in huge pages."""
    guest.check('echo 32 >/proc/sys/vm/nr_hugepages')
    try:
        yield
    finally:
        guest.run('echo 0 >/proc/sys/vm/nr_hugepages')


def push(guest):
    """The tests and their runner, in the guest."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode='w:gz') as tar:
        tar.add(tests_of(guest.options['suite']), 'tests')
        tar.add(HOME / 'runner.py', 'runner.py')
    guest.agent.push(data.getvalue(), '/root/pyverbs.tgz')
    guest.check(f'rm -rf {THERE} && mkdir {THERE} && '
                f'tar -C {THERE} --no-same-owner -xzf /root/pyverbs.tgz')


class Listener:
    """Takes the runner's lines as they come."""

    def __init__(self, tell):
        self.tell, self.rest, self.outcomes = tell, b'', []

    def __call__(self, stream, data):
        if stream != 1:
            sys.stderr.buffer.write(data)
            sys.stderr.flush()
            return
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            fields = line.decode(errors='replace').split('|', 3)
            if len(fields) == 4:
                self.outcomes.append(Outcome(*fields))
                self.tell(self.outcomes[-1])


def show(outcome):
    """An outcome as a line."""
    reason = f': {outcome.reason}' if outcome.reason else ''
    print(f'{outcome.result:7} {float(outcome.seconds):6.1f} s '
          f'{outcome.name}{reason}', flush=True)


def run(guest, *arguments, tell=lambda outcome: None):
    """Run tests in a guest, all if no argument names some: the outcomes."""
    push(guest)
    listener = Listener(tell)
    with huge_pages(guest):
        result = guest.run(['python3', f'{THERE}/runner.py', '--dev',
                            guest.rdma_device(), *arguments], sink=listener)
    if result.returncode:
        lines = result.stderr.decode(errors='replace').strip().splitlines()
        raise LabError(f'pyverbs: {(lines or ["no output"])[-1]}')
    if not listener.outcomes:
        raise WrongUse(f'pyverbs: no test fits {" ".join(arguments)}')
    return listener.outcomes


def main(lab, arguments):
    """The command: exit code 1 if a test failed or the gate is broken."""
    parser = argparse.ArgumentParser(prog='scripts/lab pyverbs --')
    parser.add_argument('--seconds', type=seconds, help='of a test before it is killed')
    parser.add_argument('--trace', action='store_true',
                        help='show where a test failed')
    parser.add_argument('--grow', action='store_true',
                        help='add what passes to the gate')
    parser.add_argument('pattern', nargs='*', help='a test, a class, a '
                        'module, or a pattern with wildcards')
    args = parser.parse_args(arguments)
    guest = lab.guest('a')
    gate = Gate(guest.options['drivers']['a'], guest.options['suite'])
    options = ['--seconds', str(args.seconds)] if args.seconds else []
    options += ['--trace'] * args.trace
    outcomes = run(guest, *options, *args.pattern, tell=show)
    if args.grow:
        gate.add(outcome.name for outcome in outcomes
                 if outcome.result == 'passed')
    broken = gate.broken(outcomes)
    for outcome in broken:
        print(f'gate: {outcome.name} has to pass')
    count = collections.Counter(outcome.result for outcome in outcomes)
    print(f'{count["passed"]} passed, {count["failed"]} failed, '
          f'{count["skipped"]} skipped')
    return 1 if count['failed'] or broken else 0
