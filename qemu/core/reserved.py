#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Find out which bits of the commands' messages are reserved.

usage: reserved.py OUTPUT INCLUDE ARGUMENT...

OUTPUT becomes a C file with the table that INCLUDE, reserved.h, declares.  The
layouts are those of linux/mlx5/mlx5_ifc.h, looked for in the directories that
the compiler's ARGUMENTs name.
"""

import os
import re
import sys

TOKEN = re.compile(r'[A-Za-z_]\w*|\d\w*|[{}\[\]();,*+/<>-]')


def header(args):
    """The text of mlx5_ifc.h and of what it includes, without comments and
    preprocessor lines."""
    dirs = [re.sub('^-(isystem|I)', '', arg) for arg in args]
    for place in dirs + ['/usr/include']:
        if os.path.exists(os.path.join(place, 'linux/mlx5/mlx5_ifc.h')):
            text = ''
            for name in ('mlx5_ifc_fpga.h', 'mlx5_ifc.h'):
                with open(os.path.join(place, 'linux/mlx5', name),
                          encoding='utf-8') as file:
                    text += file.read()
            text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S)
            return re.sub(r'^\s*#(.*\\\n)*.*$', '', text, flags=re.M)
    sys.exit('reserved.py: there is no linux/mlx5/mlx5_ifc.h')


class Layout:
    """A struct or union: its bits, those with a meaning, those reserved."""

    def __init__(self):
        self.bits = 0           # size
        self.used = 0           # a mask, bit 0 is the first in the message
        self.spare = 0          # reserved, not counting inner structs
        self.open = False       # data of any length may follow

    def place(self, inner, count, at, reserved):
        """Put @count of @inner at bit @at."""
        for _ in range(count):
            if reserved:
                self.spare |= ((1 << inner.bits) - 1) << at
            else:
                self.used |= inner.used << at
            at += inner.bits
        return at


class Parser:
    """Turns the declarations into Layouts."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.known = {}
        byte = Layout()
        byte.bits, byte.used = 1, 1     # "u8 name[0x20]" has 32 bits
        self.known['u8'] = byte

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def dimensions(self):
        """[0x18][0x8]: how many, and whether that is for the driver to say."""
        count, flexible = 1, False
        while self.tokens[self.at] == '[':
            self.next()
            inside = ''
            while self.tokens[self.at] != ']':
                inside += self.next()
            self.next()
            if not inside:
                flexible = True
            elif re.fullmatch(r'[\d+*/()xa-fA-F-]+', inside):
                count *= eval(inside)   # pylint: disable=eval-used
            else:
                raise ValueError(inside)
        return (0, True) if flexible or not count else (count, False)

    def member(self, whole, union):
        """One declaration of @whole."""
        word = self.next()
        flexible = word == 'DECLARE_FLEX_ARRAY'
        if flexible:
            self.next()
            word = self.next()
        if word in ('struct', 'union'):
            if self.tokens[self.at] == '{':
                inner = self.body(word == 'union')
            else:
                inner = self.known[self.next()]
        else:
            inner = self.known[word]
        if flexible:
            self.next()
        name = '' if self.tokens[self.at] == ';' else self.next()
        if flexible:
            self.next()
        count, empty = self.dimensions()
        self.next()
        whole.open |= empty or flexible or inner.open
        start = 0 if union else whole.bits
        end = whole.place(inner, 0 if flexible else count, start,
                          name.startswith('reserved_'))
        whole.bits = max(whole.bits, end)

    def body(self, union):
        """{ ... }"""
        whole = Layout()
        self.next()
        while self.tokens[self.at] != '}':
            self.member(whole, union)
        self.next()
        return whole

    def all(self):
        """Every named struct and union of the header, by name."""
        while self.at < len(self.tokens) - 2:
            word, name = self.tokens[self.at:self.at + 2]
            if word in ('struct', 'union') and \
                    self.tokens[self.at + 2] == '{' and \
                    name.startswith('mlx5_ifc_'):
                self.at += 2
                start = self.at
                try:
                    self.known[name] = self.body(word == 'union')
                except (KeyError, ValueError):
                    self.at = start     # of no command that there is
            self.at += 1
        return self.known


def runs(mask):
    """(first bit, bits) of each run of ones."""
    at = 0
    while mask >> at:
        zeros = (mask >> at & -(mask >> at)).bit_length() - 1
        at += zeros
        rest = mask >> at
        ones = (~rest & rest + 1).bit_length() - 1
        yield at, ones
        at += ones


def main(output, include, *args):
    """Write the table."""
    tables, rows = [], []
    # By name without what all names end in: they are looked up by bisection.
    layouts = Parser(header(args)).all().items()
    for name, layout in sorted(layouts, key=lambda item: item[0][:-5]):
        match = re.fullmatch(r'mlx5_ifc_(\w+_(in|out))_bits', name)
        if not match or layout.bits % 8:
            continue
        if match[2] == 'in':
            mask = ~layout.used & (1 << layout.bits) - 1
        else:
            mask = layout.spare
        gaps = list(runs(mask))
        tables.append(f'static const MocxGap gaps_{match[1]}[] = {{\n'
                      + ''.join(f'    {{ {at}, {n} }},\n' for at, n in gaps)
                      + '    { 0, 0 },\n};\n')
        rows.append(f'    {{ "{match[1]}", {layout.bits // 8}, '
                    f'{"true" if layout.open else "false"}, {len(gaps)}, '
                    f'gaps_{match[1]} }},\n')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(f'/* Made by reserved.py. */\n#include "{include}"\n\n'
                   + '\n'.join(tables)
                   + '\nconst MocxLayout mocx_layouts[] = {\n'
                   + ''.join(rows) + '};\n\nconst unsigned mocx_num_layouts ='
                   '\n    sizeof(mocx_layouts) / sizeof(mocx_layouts[0]);\n')


main(*sys.argv[1:])
