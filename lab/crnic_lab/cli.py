# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/lab."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import sys

from . import accel, console, demo, gid, pyverbs
from .errors import Refusal, WrongUse, reason
from .lab import DEFAULTS, Lab, all_labs
from .program import guard, seconds


@contextlib.contextmanager
def wrong_if_refused():
    """What QEMU, a guest's agent or this machine's files do not take was
    wrong to ask for."""
    try:
        yield
    except Refusal as error:
        raise WrongUse(str(error)) from error
    except OSError as error:
        if not error.filename:
            raise
        raise WrongUse(f'{error.filename}: {reason(error)}') from error


def cmd_up(lab, args):
    wishes = {name: getattr(args, name) for name in DEFAULTS}
    lab.up(**wishes)
    print(f'lab {lab.name} is up: scripts/lab exec a|b -- COMMAND, '
          'scripts/lab down', file=sys.stderr)


def cmd_down(lab, args):
    names = all_labs() if args.all else [lab.name]
    for name in names:
        if not Lab(name).down():
            print(f'lab {name} is not up', file=sys.stderr)


def cmd_exec(lab, args):
    def sink(stream, data):
        out = sys.stdout if stream == 1 else sys.stderr
        out.buffer.write(data)
        out.flush()

    if not args.command:
        raise WrongUse('exec needs a command')
    stdin = sys.stdin.buffer.read() if args.stdin else b''
    return lab.guest(args.guest).run(args.command, timeout=args.timeout,
                                     stdin=stdin, sink=sink).returncode


def cmd_push(lab, args):
    guest = lab.guest(args.guest)
    with wrong_if_refused():
        data = pathlib.Path(args.file).read_bytes()
        mode = oct(os.stat(args.file).st_mode & 0o777)[2:]
        guest.agent.push(data, args.path, mode)


def cmd_pull(lab, args):
    guest = lab.guest(args.guest)
    with wrong_if_refused():
        data = guest.agent.pull(args.path)
        pathlib.Path(args.file).write_bytes(data)


def cmd_console(lab, args):
    console.attach(lab.guest(args.guest).sockets + f'/{args.guest}.con')


def json_or(text):
    """The value that a text is as JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def qmp_arguments(texts):
    """A JSON object, or words key=value, as the arguments of a command."""
    if len(texts) == 1 and isinstance(json_or(texts[0]), dict):
        return json.loads(texts[0])
    arguments = {}
    for text in texts:
        name, equals, value = text.partition('=')
        if not name or not equals or text[0] in '{[':
            raise WrongUse('qmp takes arguments as key=value or as one JSON '
                           f'object, not {text}')
        arguments[name] = json_or(value)
    return arguments


def cmd_qmp(lab, args):
    arguments = qmp_arguments(args.arguments)
    guest = lab.guest(args.guest)
    with wrong_if_refused():
        answer = guest.qmp(args.execute, **arguments)
    print(json.dumps(answer, indent=1))


def cmd_pcap(lab, args):
    if not args.stop and not args.file:
        raise WrongUse('pcap needs a file, or --stop')
    guest = lab.guest(args.guest)
    with wrong_if_refused():
        if args.stop:
            guest.qmp('object-del', id='pcap')
            return
        path = pathlib.Path(args.file).resolve()
        guest.qmp('object-add', **{'qom-type': 'filter-dump', 'id': 'pcap',
                                   'netdev': args.wire, 'file': str(path),
                                   'maxlen': 65536})


def flat(value, prefix=''):
    """A nested dict as dotted names and values."""
    if not isinstance(value, dict):
        yield prefix, value
        return
    for key, item in value.items():
        yield from flat(item, f'{prefix}.{key}' if prefix else key)


def cmd_status(lab, args):
    status = {guest.name: guest.status() for guest in lab.guests()}
    options = lab.running()['options']
    chosen = accel.of(options)
    if args.json:
        told = {'accelerator': dataclasses.asdict(chosen)}
        print(json.dumps(told | status, indent=1))
        return
    print(f'accelerator: {chosen}')
    for name, value in status.items():
        print(f'{name}:' if value else f'{name}: no mocx')
        for key, item in flat(value or {}):
            print(f'  {key:32} {item}')


def cmd_gid(lab, args):
    gid.gid_of(args.address)        # which must be one, before a guest is asked
    rows = lab.guest(args.guest).gids(args.dev)
    print(gid.find_index(rows, args.address, args.version))


def cmd_dmesg(lab, args):
    lines = lab.guest(args.guest).dmesg()
    bad = [line for line in lines if line.bad]
    for line in bad if args.bad else lines:
        print(line)
    return 1 if args.bad and bad else 0


def cmd_driver(lab, args):
    lab.switch(args.driver)


def cmd_pyverbs(lab, args):
    return pyverbs.main(lab, args.command)


def cmd_demo(lab, _):
    return demo.run(lab)


def add_up(commands):
    up = commands.add_parser('up', help='boot two guests wired to each other')
    up.add_argument('--driver', metavar='X[,Y]',
                    help='crnic, mlx5, rxe or none; for a and b')
    up.add_argument('--suite', choices=('trixie', 'bookworm'))
    up.add_argument('--kernel', metavar='SERIES', help='6.12, 6.1 or debug')
    up.add_argument('--mem', metavar='SIZE')
    up.add_argument('--smp', type=int, metavar='N')
    up.add_argument('--mtu', type=int, metavar='N')
    up.add_argument('--model', metavar='K=V,…', help='properties of mocx')
    up.add_argument('--tb-size', type=int, metavar='MIB',
                    help='of TCG\'s buffer of translated code')
    up.add_argument('--accel', metavar='auto|kvm|tcg',
                    help='what runs the guests: KVM if it can, else TCG')
    up.add_argument('--append', metavar='"…"', help='kernel command line')
    up.add_argument('--bench', action='store_true',
                    help='a second wire with virtio-net and rxe')
    up.set_defaults(run=cmd_up, **DEFAULTS)


def add_guest(commands, name, run, text, *arguments):
    command = commands.add_parser(name, help=text)
    command.add_argument('guest', choices=('a', 'b'))
    for argument in arguments:
        command.add_argument(argument)
    command.set_defaults(run=run)
    return command


def add_exec(commands):
    run = add_guest(commands, 'exec', cmd_exec, 'run a command in a guest')
    run.add_argument('--timeout', type=seconds, metavar='SECONDS')
    run.add_argument('--stdin', action='store_true',
                     help='give it our standard input')
    run.add_argument('command', nargs='*')
    run.set_defaults(rest=True)


def make_parser():
    parser = argparse.ArgumentParser(prog='scripts/lab', description=__doc__)
    parser.add_argument('--name', default='default', help='which lab')
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    add_up(commands)
    add_exec(commands)
    add_guest(commands, 'console', cmd_console, 'serial console')
    add_guest(commands, 'push', cmd_push, 'copy a file in', 'file', 'path')
    add_guest(commands, 'pull', cmd_pull, 'copy a file out', 'path', 'file')
    qmp = add_guest(commands, 'qmp', cmd_qmp, 'a QEMU command', 'execute')
    qmp.add_argument('arguments', nargs='*', help='key=value, or one JSON '
                     'object')
    pcap = add_guest(commands, 'pcap', cmd_pcap, 'write frames to a file')
    pcap.add_argument('file', nargs='?')
    pcap.add_argument('--stop', action='store_true')
    pcap.add_argument('--wire', default='wire', choices=('wire', 'bench'))
    status = commands.add_parser('status', help='what each model holds')
    status.add_argument('--json', action='store_true')
    status.set_defaults(run=cmd_status)
    index = add_guest(commands, 'gid', cmd_gid, 'index of a GID', 'address')
    index.add_argument('version', nargs='?', default='v2',
                       choices=('v1', 'v2'))
    index.add_argument('--dev', help='RDMA device (the wire\'s)')
    log = add_guest(commands, 'dmesg', cmd_dmesg, 'the kernel\'s log')
    log.add_argument('--bad', action='store_true',
                     help='only what a test may not leave; then exit 1')
    driver = commands.add_parser('driver',
                                 help='unload the driver, load another')
    driver.add_argument('driver', metavar='X[,Y]')
    driver.set_defaults(run=cmd_driver)
    tests = commands.add_parser('pyverbs', help='rdma-core\'s own tests in '
                                'guest a; -- --help for more')
    tests.set_defaults(run=cmd_pyverbs, command=[], rest=True)
    show = commands.add_parser('demo', help='show the NIC at work')
    show.set_defaults(run=cmd_demo)
    down = commands.add_parser('down', help='end both guests')
    down.add_argument('--all', action='store_true')
    down.set_defaults(run=cmd_down)
    for command in commands.choices.values():
        command.add_argument('--name', default=argparse.SUPPRESS)
    return parser


def parse(argv):
    """The arguments; what follows -- is not ours to parse."""
    cut = argv.index('--') if '--' in argv else len(argv)
    parser = make_parser()
    args = parser.parse_args(argv[:cut])
    if getattr(args, 'rest', False):
        args.command += argv[cut + 1:]
    elif argv[cut + 1:]:
        parser.error(f'unrecognized arguments: {" ".join(argv[cut + 1:])}')
    return args


def main():
    args = parse(sys.argv[1:])
    return guard('lab', lambda: args.run(Lab(args.name), args))
