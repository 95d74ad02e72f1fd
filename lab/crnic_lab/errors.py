# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception the lab raises for what a user can understand."""


class LabError(Exception):
    """One clear line, and the log that holds the rest, if there is one."""

    def __init__(self, message, log=None):
        super().__init__(message)
        self.log = log

    def __str__(self):
        text = super().__str__()
        return f'{text}; full log: {self.log}' if self.log else text
