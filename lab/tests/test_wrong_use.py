# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong arguments of every program: one clear line and exit code 2, and
nothing is begun."""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from crnic_lab.cli import make_parser
from crnic_lab.paths import TOP

from host import refusing, state_of, wrong

RANGE = 'takes a number from'

# Arguments of scripts/lab, and what is told.
LAB = [
    ('', 'the following arguments are required: COMMAND'),
    ('fly', "invalid choice: 'fly'"),
    ('--fly', 'required: COMMAND'),
    ('status --name', 'expected one argument'),
    ('status --name ../x', 'not a name for a lab: ../x'),
    ('status --name \xe9\n', 'not a name for a lab'),
    (f'status --name {"x" * 65}', 'not a name for a lab: xxx'),
    ('up --name a/b', 'not a name for a lab: a/b'),
    ('up --driver cx5', 'crnic, mlx5, rxe, none, not cx5'),
    ('up --driver rxe,rxe,rxe', 'one or two of'),
    ('up --driver ,', 'one or two of'),
    ('up --suite sid', "invalid choice: 'sid'"),
    ('up --kernel debugged', 'not debugged'),
    ('up --kernel six', '--kernel takes a series like 6.12, not six'),
    ('up --kernel ../6.12', 'not ../6.12'),
    ('up --kernel 5.4', 'build-guest: error: no kernel 5.4 in '),
    ('up --mem lots', '--mem takes a size like 2G, not lots'),
    ('up --mem 1M', f'--mem {RANGE} 256 to '),
    ('up --mem 9999999G', f'--mem {RANGE} 256 to '),
    ('up --mem 2g', 'not 2g'),
    ('up --smp 0', '--smp takes a number from 1 to 255, not 0'),
    ('up --smp 9999', f'--smp {RANGE} 1 to 255, not 9999'),
    ('up --smp two', "invalid int value: 'two'"),
    ('up --mtu 5', '--mtu takes a number from 68 to 65535, not 5'),
    ('up --mtu 99999', '--mtu takes a number from 68'),
    ('up --tb-size -1', '--tb-size takes a number from 0'),
    ('up --model colour', '--model takes properties as K=V,K=V, not colour'),
    ('up --model help', 'not help'),
    ('up --model strict=on,,x=y', '--model takes properties'),
    ('up --accel warp', '--accel takes auto, kvm, tcg, not warp'),
    ('up --speed 1', 'unrecognized arguments: --speed 1'),
    ('up -- --driver crnic', 'unrecognized arguments: --driver crnic'),
    ('down everything', 'unrecognized arguments: everything'),
    ('exec', 'required: guest'),
    ('exec c -- true', "invalid choice: 'c'"),
    ('exec a', 'exec needs a command'),
    ('exec a --timeout soon -- true', "invalid seconds value: 'soon'"),
    ('exec a --timeout -1 -- true', "invalid seconds value: '-1'"),
    ('exec a --timeout nan -- true', "invalid seconds value: 'nan'"),
    ('console', 'required: guest'),
    ('console c', "invalid choice: 'c'"),
    ('push a', 'required: file, path'),
    ('push a nosuchfile /x', 'nosuchfile: No such file or directory'),
    ('push a lab /x', 'lab: Is a directory'),
    ('push a README.md /no/x', 'guest-file-open is not to my taste'),
    ('pull a /x', 'required: file'),
    ('pull a /nosuchfile x', 'guest-file-open is not to my taste'),
    ('qmp a', 'required: execute'),
    ('qmp a device_del id', 'key=value or as one JSON object, not id'),
    ('qmp a device_del =nic', 'not =nic'),
    ('qmp a device_del [1]', 'not [1]'),
    ('qmp a device_del {"id":', 'not {"id":'),
    ('qmp a device_del {} id=x', 'not {}'),
    ('qmp a device_del id=nic-wire', 'device_del is not to my taste'),
    ('qmp a device_del {"command":1,"self":2}', 'device_del is not to my'),
    ('qmp a fly', 'fly is not to my taste'),
    ('qmp a query-name -- x', 'unrecognized arguments: x'),
    ('pcap a', 'pcap needs a file, or --stop'),
    ('pcap a x --wire none', "invalid choice: 'none'"),
    ('pcap a /no/x.pcap', 'object-add is not to my taste'),
    ('pcap a --stop', 'object-del is not to my taste'),
    ('status --yaml', 'unrecognized arguments: --yaml'),
    ('status a', 'unrecognized arguments: a'),
    ('status -- a', 'unrecognized arguments: a'),
    ('gid a', 'required: address'),
    ('gid a 10.0.0.1 v3', "invalid choice: 'v3'"),
    ('gid a ten', 'not an IP address: ten'),
    ('dmesg', 'required: guest'),
    ('dmesg a --worse', 'unrecognized arguments: --worse'),
    ('driver', 'required: X[,Y]'),
    ('driver cx5', 'crnic, mlx5, rxe, none, not cx5'),
    ('driver rxe', 'rxe needs another device'),
    ('pyverbs -- --seconds soon', "invalid seconds value: 'soon'"),
    ('pyverbs -- --fly', 'unrecognized arguments: --fly'),
    ('demo now', 'unrecognized arguments: now'),
]

# Of the other scripts; words with a = before the name are environment.
SCRIPTS = [
    ('bench cx5', 'bench: error: no driver to measure: cx5'),
    ('bench --fast', 'unrecognized arguments: --fast'),
    ('CRNIC_ACCEL=warp bench', 'CRNIC_ACCEL takes auto, kvm, tcg, not warp'),
    ('CRNIC_ACCEL=warp lab up', 'CRNIC_ACCEL takes auto, kvm, tcg, not warp'),
    ('build-guest --suite', '--suite takes trixie|bookworm, not nothing'),
    ('build-guest --suite sid', '--suite takes trixie|bookworm, not sid'),
    ('build-guest --kernel', '--kernel takes a series like 6.12, not nothing'),
    ('build-guest --kernel six', '--kernel takes a series like 6.12, not six'),
    ('build-guest --kernel 5.4', 'no kernel 5.4 in '),
    ('build-guest fast', 'unknown argument fast'),
    ('build-module --kernel', '--kernel takes a series like 6.12, not nothing'),
    ('build-module --kernel ../x', 'takes a series like 6.12, not ../x'),
    ('build-module --kernel 6.12 x', 'unknown argument x'),
    ('build-module 6.12', 'unknown argument 6.12'),
    ('build-qemu --fast', 'unknown argument --fast'),
    ('build-qemu --base x', 'unknown argument x'),
    ('check', 'check takes static|kunit|model|lab, not nothing'),
    ('check kunit all', 'check takes static|kunit|model|lab, not all'),
    ('check-kunit --all', 'unknown argument --all'),
    ('check-kunit core_* x', 'unknown argument x'),
    ('check-lab --fast', 'check-lab: error: unrecognized arguments: --fast'),
    ('check-lab --pair cx5', 'a pair is one of crnic,crnic'),
    ('check-lab -k nosuchtest', 'no test fits -k nosuchtest'),
    ('check-lab -k (', 'Wrong expression passed to'),
    ('check-lab lab/tests/nosuch.py', 'not found: lab/tests/nosuch.py'),
    ('CRNIC_ACCEL=warp check-lab', 'CRNIC_ACCEL takes auto|kvm|tcg, not warp'),
    ('check-model mem', 'unknown argument mem'),
    ('DEPTH=ful check-model', 'DEPTH takes quick|full, not ful'),
    ('check-static all', 'unknown argument all'),
    ('deps --all', 'unknown argument --all'),
    ('deps --list x', 'unknown argument x'),
    ('JOBS=many deps', 'JOBS takes a number, not many'),
    ('fuzz --fast', 'usage: fuzz'),
    ('fuzz nosuch', "there is no fuzzer 'nosuch'"),
    ('fuzz --one pkt', 'usage: fuzz --one NAME FILE'),
    ('FUZZ_SECONDS=long fuzz', "FUZZ_SECONDS is 'long'"),
    ('lab', 'required: COMMAND'),
    ('model-headers 6.12', 'unknown argument 6.12'),
    ('pyverbs-tests --suite sid', '--suite takes trixie|bookworm, not sid'),
    ('pyverbs-tests --suite', '--suite takes trixie|bookworm, not nothing'),
    ('pyverbs-tests x', 'unknown argument x'),
]


def subcommands():
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return set(action.choices)
    return set()


def test_tables_are_whole():
    assert {args.split()[0] for args, _ in LAB if args} >= subcommands()
    scripts = {path.name for path in (TOP / 'scripts').iterdir()
               if path.is_file()}
    assert {word for line, _ in SCRIPTS for word in line.split()
            if '=' not in word} >= scripts


def test_lab(impostor):
    """All of them, of a lab that is up as far as they can see."""
    def look(line, told):
        args = line.split(' ') if line else []
        name = 'nobody' if args[:1] == ['up'] else 'wrong'
        said = wrong('scripts/lab', '--name', name, *args)
        return [] if told in said else [(line, said)]

    with state_of('wrong', impostor) as sockets, refusing(sockets), \
            ThreadPoolExecutor(4) as pool:
        assert not sum(pool.map(look, *zip(*LAB)), [])


# Their names must not fit what check-lab is asked for.
@pytest.mark.parametrize('line, told', SCRIPTS, ids=map(str, range(len(SCRIPTS))))
def test_script(line, told):
    words, env = line.split(), {}
    while '=' in words[0]:
        name, value = words.pop(0).split('=')
        env[name] = value
    assert told in wrong(f'scripts/{words[0]}', *words[1:], **env)


def test_arguments_that_are_not_text():
    """Bytes that no encoding explains."""
    odd = os.fsdecode(b'\xff\xfe')
    for args in (('status', '--name', odd), ('up', '--driver', odd),
                 ('up', '--model', odd), ('qmp', 'a', 'stop', odd)):
        wrong('scripts/lab', *args)
