# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab: two guests, the wire between them, and its state on disk."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import accel, machine, words
from .drivers import DRIVERS
from .errors import LabError, Told, Unusable, WrongUse
from .guest import Guest
from .machine import HOSTS
from .paths import LABS, SCRIPTS

READY_SECONDS = 180
# With all checks of the debug kernel, on a host with other work.
READY_SECONDS_DEBUG = 900

# A virtual CPU for each core the two guests can have: more of them take
# turns, and what polls then waits for what works.
SMP = min(2, max(1, (os.cpu_count() or 1) // 2))

DEFAULTS = {
    'driver': 'crnic', 'suite': 'trixie', 'kernel': '6.12', 'mem': '2G',
    'smp': SMP, 'mtu': 1500, 'model': '', 'append': '', 'bench': False,
    'tb_size': 0, 'accel': None,
}


def script(*args):
    """Run one of scripts/; its output as a dict of NAME=VALUE lines."""
    # It and what it starts are a process group, or an interrupt that reaches
    # us alone would leave it at work.
    process = subprocess.Popen([SCRIPTS / args[0], *args[1:]], text=True,
                               stdin=subprocess.DEVNULL, process_group=0,
                               stdout=subprocess.PIPE)
    try:
        text = process.communicate()[0]
    except BaseException:
        end_group(process)
        raise
    if process.returncode:
        raise Told(f'scripts/{args[0]} failed', process.returncode)
    return dict(line.split('=', 1) for line in text.splitlines()
                if '=' in line)


def end_group(process):
    """End a script, which ends what it has started."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
            return


def parse_drivers(text):
    names = text.split(',')
    if len(names) > 2 or not all(name in DRIVERS for name in names):
        raise WrongUse(f'--driver takes one or two of {", ".join(DRIVERS)}, '
                       f'not {text}')
    return {'a': names[0], 'b': names[-1]}


def check_options(options):
    """What would otherwise be found out by a guest that is booted for it."""
    for name, shape, told in SHAPES:
        if not re.fullmatch(shape, options[name]):
            raise WrongUse(f'--{name} takes {told}, not {options[name]}')
    number, unit = options['mem'][:-1], options['mem'][-1]
    ranges = (*RANGES, ('mem', 256, 1 << 20))
    sizes = options | {'mem': int(number) << (10 * 'MG'.index(unit))}
    for name, least, most in ranges:
        if not least <= sizes[name] <= most:
            text = f'--{name.replace("_", "-")} takes a number from {least}'
            raise WrongUse(f'{text} to {most}, not {options[name]}')


# How words and numbers must be; memory is in MiB.
SHAPES = (
    ('mem', r'[1-9]\d{0,9}[MG]', 'a size like 2G'),
    ('kernel', r'\d+\.\d+|debug', 'a series like 6.12'),
    ('model', r'([\w-]+=[^,]*(,(?=.))?)*', 'properties as K=V,K=V'),
)
RANGES = (('smp', 1, 255), ('mtu', 68, 65535), ('tb_size', 0, 1 << 15))


def wrong_model(error, options):
    """What a QEMU that did not start says of --model as wrong use."""
    text = str(error)
    if not options['model'] or ': -device mocx,' not in text:
        return error
    return WrongUse(f'--model {options["model"]}: ' +
                    text.partition(': -device mocx,')[2].partition(': ')[2])


class Lab:
    """The lab of that name, up or not."""

    def __init__(self, name='default'):
        if not re.fullmatch(r'[\w-]{1,64}', name):
            raise WrongUse(f'not a name for a lab: {name}')
        self.name = name
        self.dir = LABS / name
        self.file = self.dir / 'state.json'
        self.start_time = time.monotonic()

    # State

    @property
    def state(self):
        try:
            return json.loads(self.file.read_text())
        except (OSError, ValueError):
            return None

    def running(self):
        """The state of a lab that is up."""
        state = self.state
        if not state:
            raise LabError(f'lab {self.name} is not up: scripts/lab up')
        return state

    def save(self, state):
        new = self.file.with_suffix('.new')
        new.write_text(json.dumps(state, indent=1))
        new.rename(self.file)

    def guest(self, name):
        state = self.running()
        if name not in HOSTS:
            raise WrongUse(f'guests are called a and b, not {name}')
        guest = Guest(name, state, self.dir)
        if not guest.alive():
            raise guest.end()
        return guest

    def guests(self):
        return [self.guest(name) for name in HOSTS]

    # Up and down

    def say(self, text):
        seconds = time.monotonic() - self.start_time
        print(f'lab {seconds:6.1f} s: {text}', file=sys.stderr, flush=True)

    def prepare(self, options):
        """Build what is missing; what the guests boot from, our module."""
        # First what may find that there is no such kernel.
        images = script('build-guest', '--suite', options['suite'],
                        '--kernel', options['kernel'])
        script('build-qemu')
        if any(DRIVERS[name].ours for name in options['drivers'].values()):
            images |= script('build-module', '--kernel', options['kernel'])
        return images

    def switch(self, driver):
        """Another driver for the wire's device in both running guests."""
        names = parse_drivers(driver)
        state = self.running()
        options = state['options']
        for name, new in names.items():
            if DRIVERS[new].device != DRIVERS[options['drivers'][name]].device:
                raise WrongUse(f'{new} needs another device: '
                               'scripts/lab down, scripts/lab up')
        self.each(Guest.unload)
        options['drivers'] = names
        options['images'] = self.prepare(options)
        self.save(state)
        self.each(self.setup_guest)
        self.each(self.report)

    def up(self, **wishes):
        """Boot both guests, load their drivers, give them addresses."""
        options = DEFAULTS | wishes
        options['drivers'] = parse_drivers(options.pop('driver'))
        check_options(options)
        wish = accel.wish_of(options['accel'])
        self.refuse_second()
        options['images'] = self.prepare(options)
        chosen = accel.choose(wish, options['images'], self.say)
        self.say(f'accelerator: {chosen}')
        options |= {'accel': chosen.name, 'accel_why': chosen.why}
        self.dir.mkdir(parents=True, exist_ok=True)
        self.start_time = time.monotonic()
        state = {'sockets': tempfile.mkdtemp(prefix='crnic-lab-'),
                 'options': options, 'pids': {}}
        try:
            self.boot(state)
            self.each(self.setup_guest)
            self.each(self.report)
        except Unusable:
            raise       # the guests stay, for one who wants to look
        except BaseException:
            self.clear(state)
            raise

    def boot(self, state):
        """Start both guests and wait until they answer."""
        self.save(state)
        try:
            for name in HOSTS:
                state['pids'][name] = machine.start(name, state['sockets'],
                                                    self.dir, state['options'])
                self.save(state)
            self.each(self.wait_ready, patient=False)
        except LabError as error:
            raise wrong_model(error, state['options']) from None

    def refuse_second(self):
        state = self.state
        if not state:
            return
        if any(machine.alive(pid, state['sockets'])
               for pid in state['pids'].values()):
            raise LabError(f'lab {self.name} is up: scripts/lab down')
        self.down()

    def each(self, function, patient=True):
        """Run function for both guests at once. The first error counts. The
        other guest's is not waited for after an interrupt, or if impatient:
        it ends with its QEMU."""
        pool = ThreadPoolExecutor()
        futures = [pool.submit(function, guest) for guest in self.guests()]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException as error:
            pool.shutdown(wait=patient and isinstance(error, LabError))
            raise
        pool.shutdown()

    def wait_ready(self, guest):
        self.say(f'{guest.name}: booting')
        seconds = READY_SECONDS_DEBUG \
            if guest.options['kernel'] == 'debug' else READY_SECONDS
        end = time.monotonic() + seconds
        while not guest.agent.answers():
            ended = guest.end()
            if ended:
                raise ended
            if time.monotonic() > end:
                raise LabError(f'{guest.name}: not ready after '
                               f'{seconds} s: '
                               f'{words.shown(self.dir, guest.name)}',
                               self.dir / f'{guest.name}.console.log')
            time.sleep(0.1)
        self.say(f'{guest.name}: ready')

    def setup_guest(self, guest):
        options = guest.options
        driver = options['drivers'][guest.name]
        try:
            guest.setup(options['images'].get('module'))
            if options['bench'] and not guest.has_bench():
                guest.setup_bench()
        except LabError as error:
            log = self.dir / f'{guest.name}.dmesg.log'
            log.write_text(guest.run(['dmesg']).text)
            raise Unusable(f'{driver}: {error} (the guests stay up)',
                           log) from error
        self.say(f'{guest.name}: {driver} is set up')

    def report(self, guest):
        if not guest.row.network:
            return
        for _ in range(50):
            links = guest.check(['rdma', 'link']).splitlines()
            if links and all('ACTIVE' in line for line in links):
                break
            time.sleep(0.2)
        for line in links or ['no RDMA device']:
            self.say(f'{guest.name}: {line.strip()}')

    def down(self):
        """End both guests; logs stay."""
        state = self.state
        if not state:
            return False
        self.clear(state)
        return True

    def clear(self, state):
        """End what there is of a lab."""
        for name, pid in state['pids'].items():
            machine.stop(name, pid, state['sockets'])
        shutil.rmtree(state['sockets'], ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            self.file.unlink()


def all_labs():
    """Names of the labs that have a state."""
    return sorted(path.parent.name for path in LABS.glob('*/state.json'))
