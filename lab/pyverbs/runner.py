#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run rdma-core's tests in a guest, each result as a line when it is there.

runner.py --dev DEVICE [--seconds N] [--list] [PATTERN...]

A pattern is a test's name, whole or its last part, or one with wildcards, or
the start of one that ends at a dot. A worker runs the tests one after the
other; where one hangs, or takes the worker with it, it has failed and another
worker goes on behind it. Lines are RESULT|SECONDS|NAME|REASON.
"""

import argparse
import contextlib
import fnmatch
import importlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument('--dev', required=True)
    parser.add_argument('--seconds', type=float, default=120)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--worker', action='store_true')
    parser.add_argument('--trace', action='store_true')
    parser.add_argument('patterns', nargs='*')
    return parser.parse_args(argv)


def load(dev):
    """All tests of the suite by name, in its order."""
    sys.argv[1:] = ['--dev', dev]
    sys.path.insert(0, os.path.join(HERE, 'tests'))
    from args_parser import parser
    parser.parse_args()
    suites = [unittest.defaultTestLoader.loadTestsFromModule(module)
              for module in importlib.import_module('tests').__test_modules__]
    tests = {}
    while suites:
        suite = suites.pop(0)
        if isinstance(suite, unittest.TestSuite):
            suites = list(suite) + suites
        else:
            tests[short(suite)] = suite
    return tests


def short(test):
    """A test's name without the package's."""
    return test.id().removeprefix('tests.')


def wanted(name, patterns):
    return not patterns or any(
        fnmatch.fnmatchcase(name, pattern) or name.startswith(pattern + '.')
        or name.endswith('.' + pattern) for pattern in patterns)


class Lines(unittest.TestResult):
    """A line at a test's start and one at its end."""

    def __init__(self, out, trace):
        super().__init__()
        self.out, self.trace = out, trace
        self.start = 0
        self.said = None

    def tell(self, *words):
        print(*(str(word).replace('\n', ' ').replace('|', '/')
                for word in words), sep='|', file=self.out, flush=True)

    def startTest(self, test):
        super().startTest(test)
        # What nobody says has passed has not.
        self.start, self.said = time.monotonic(), ('failed', 'no result')
        self.tell('start', 0, short(test), '')

    def stopTest(self, test):
        seconds = f'{time.monotonic() - self.start:.1f}'
        self.tell(self.said[0], seconds, short(test), self.said[1])

    def bad(self, err):
        if self.trace:
            traceback.print_exception(*err)
        self.said = ('failed', f'{err[0].__name__}: {err[1]}')

    def addSuccess(self, test):
        self.said = ('passed', '')

    def addError(self, test, err):
        self.bad(err)

    def addFailure(self, test, err):
        self.bad(err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.bad(err)

    def addSkip(self, test, reason):
        self.said = ('skipped', reason)


def work(args):
    """The worker: the names come on standard input."""
    names = sys.stdin.read().split()
    tests = load(args.dev)
    # Tests and what they start may print; only our lines go to the parent.
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    result = Lines(out, args.trace)
    for name in names:
        tests[name].run(result)


class Worker:
    """A worker process, and its lines as they come."""

    def __init__(self, args, names):
        command = [sys.executable, os.path.abspath(__file__), '--worker',
                   '--dev', args.dev] + ['--trace'] * args.trace
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True, text=True)
        self.lines = queue.Queue()
        self.process.stdin.write('\n'.join(names))
        self.process.stdin.close()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip('\n'))
        self.lines.put(None)

    def end(self, grace):
        """End it and all that it started; its exit code."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=grace)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


def supervise(args, names):
    """Run the names; a test that hangs or dies is one that failed."""
    left = list(names)
    while left:
        worker, reason = Worker(args, left), None
        while reason is None:
            try:
                line = worker.lines.get(timeout=args.seconds)
            except queue.Empty:
                reason = f'no end after {args.seconds:g} s'
                break
            if line is None:
                break
            result, _, name, _ = line.split('|', 3)
            if result != 'start':
                left.remove(name)
                print(line, flush=True)
        code = worker.end(grace=0 if reason else 5)
        if left:
            name = left.pop(0)
            print(f'failed|0|{name}|{reason or f"ended with {code}"}',
                  flush=True)


def main():
    args = parse(sys.argv[1:])
    if args.worker:
        work(args)
        return
    names = [name for name in load(args.dev) if wanted(name, args.patterns)]
    if args.list:
        print('\n'.join(names))
        return
    supervise(args, names)


main()
