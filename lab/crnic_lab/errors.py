# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab raises for what a user can understand."""


class LabError(Exception):
    """One clear line, and the log that holds the rest, if there is one."""

    def __init__(self, message, log=None):
        super().__init__(message)
        self.log = log

    def __str__(self):
        text = super().__str__()
        return f'{text}; full log: {self.log}' if self.log else text


def reason(error):
    """What went wrong in an OSError or a LabError, without its number."""
    return getattr(error, 'strerror', None) or str(error)


class WrongUse(LabError):
    """An argument that cannot be right. Nothing is left of what was begun."""


class Told(LabError):
    """A script that ended with that exit code, and has told why."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Unusable(LabError):
    """A driver does not work in a guest, which is left to be looked at."""


class Refusal(LabError):
    """What QEMU or a guest's agent answers to a request it does not take."""


class Lost(LabError):
    """There is nobody at a socket's other end, or not any more."""
