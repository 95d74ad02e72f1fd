# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of tests, which grows as modules with @case are imported."""

import dataclasses
import functools
import traceback
import typing

from .machine import machine

CASES = []


class Skip(Exception):
    """This QEMU has not what the test needs."""


@dataclasses.dataclass
class Case:
    name: str
    test: typing.Callable
    nics: tuple
    options: tuple

    def run(self, qemu):
        """Returns passed, failed or skipped; tells which."""
        try:
            with machine(qemu, *self.nics, options=self.options) as m:
                self.test(m)
        except Skip as reason:
            print(f'skipped {self.name}: {reason}')
            return 'skipped'
        except Exception:       # pylint: disable=broad-except
            traceback.print_exc()
            print(f'not ok {self.name}')
            return 'failed'
        print(f'ok {self.name}')
        return 'passed'


def case(*nics, options=(), each=None):
    """A test of a Machine with these NICs (their properties; one by default).

    each: names and a further argument; the test runs once with each.
    """
    def add(test):
        for name, value in (each or {'': None}).items():
            run = functools.partial(test, value) if each else test
            CASES.append(Case(f'{test.__name__}{"_" * bool(name)}{name}', run,
                              nics, options))
        return test
    return add
