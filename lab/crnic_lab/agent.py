# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands and files of a guest, through qemu-guest-agent.

The agent's port takes one connection at a time, and several programs may
use a guest at once: every exchange is short, and made under a file lock.
"""

import base64
import contextlib
import fcntl
import itertools
import os
import random
import time
from dataclasses import dataclass

from .errors import LabError, Lost, Refusal, reason
from .qmp import JsonSocket

CHUNK = 1 << 20

# The command's output goes to files that the host holds open; their names
# go before the command starts, so that nothing stays behind.
WRAPPER = ('exec 3>>"$0.out" 4>>"$0.err" 5<"$0.in"; '
           'rm -f "$0.out" "$0.err" "$0.in"; '
           'exec "$@" <&5 >&3 2>&4 3>&- 4>&- 5<&-')


@dataclass
class Result:
    """What a command left: bytes on both streams and its exit code."""
    returncode: int
    stdout: bytes = b''
    stderr: bytes = b''

    @property
    def text(self):
        return self.stdout.decode(errors='replace')


class Session(JsonSocket):
    """One exchange with the agent."""

    def __init__(self, path, timeout):
        super().__init__(path, timeout)
        self.sync()

    def sync(self):
        """Throw away what an earlier, broken exchange left."""
        token = random.randrange(1 << 30)
        self.send({'execute': 'guest-sync-delimited',
                   'arguments': {'id': token}}, prefix=b'\xff')
        while True:
            line = self.read_line()
            if b'\xff' in line:
                self.buffer = line.split(b'\xff')[-1] + b'\n' + self.buffer
                if self.receive().get('return') == token:
                    return

    def call(self, command, **arguments):
        self.send({'execute': command, 'arguments': arguments})
        answer = self.receive()
        if 'error' in answer:
            raise Refusal(f"{command}: {answer['error']['desc']}")
        return answer['return']

    def read(self, handle):
        """All that is in the file from here on."""
        data = b''
        while True:
            part = self.call('guest-file-read', handle=handle, count=CHUNK)
            data += base64.b64decode(part['buf-b64'])
            if part['count'] < CHUNK:
                return data


class Agent:
    """A guest's agent, found by the path of its socket. end(patience) is the
    error that tells why the guest has ended, or None if it has not within
    that many seconds."""

    serial = itertools.count()

    def __init__(self, path, end=lambda patience: None):
        self.path, self.end = path, end

    @contextlib.contextmanager
    def session(self, timeout=60):
        with open(self.path + '.lock', 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                with Session(self.path, timeout) as session:
                    yield session
            except TimeoutError as error:
                raise self.end(0) or \
                    LabError('the guest does not answer') from error
            except (OSError, Lost) as error:
                raise self.end(1) or LabError(
                    f'the guest is gone: {reason(error)}') from error

    def answers(self):
        """Whether the agent is there, asked for half a second."""
        try:
            with self.session(timeout=0.5):
                return True
        except LabError:
            return False

    def start(self, command, stdin=b''):
        """Start a command in the guest and return a Process."""
        name = f'/run/lab/{os.getpid()}.{next(self.serial)}.{time.time_ns()}'
        argv = ['-w', '/bin/sh', '-c', WRAPPER, name, *command]
        with self.session() as session:
            handles = [session.call('guest-file-open', path=name + end,
                                    mode='w+') for end in ('.out', '.err')]
            self.write_open(session, name + '.in', stdin)
            # It leads a session, so that a time-out can end all of it.
            pid = session.call('guest-exec', path='/usr/bin/setsid',
                               arg=argv)['pid']
        return Process(self, pid, handles)

    def run(self, command, timeout=None, stdin=b'', sink=None):
        """Run a command to its end. sink(stream, data) gets output as it
        comes, stream being 1 or 2."""
        process = self.start(command, stdin)
        try:
            return process.wait(timeout, sink)
        except BaseException:
            with contextlib.suppress(LabError):
                process.kill()
            raise

    @staticmethod
    def write_open(session, path, data):
        handle = session.call('guest-file-open', path=path, mode='w')
        for start in range(0, len(data), CHUNK):
            part = base64.b64encode(data[start:start + CHUNK]).decode()
            session.call('guest-file-write', handle=handle,
                         **{'buf-b64': part})
        session.call('guest-file-close', handle=handle)

    def push(self, data, path, mode='644'):
        """Write a file into the guest."""
        with self.session() as session:
            self.write_open(session, path, data)
        if self.run(['chmod', mode, path]).returncode:
            raise LabError(f'cannot set the mode of {path}')

    def pull(self, path):
        """The content of a file of the guest."""
        with self.session() as session:
            handle = session.call('guest-file-open', path=path, mode='r')
            try:
                return session.read(handle)
            finally:
                session.call('guest-file-close', handle=handle)


class Process:
    """A command that runs in a guest."""

    def __init__(self, agent, pid, handles):
        self.agent, self.pid, self.handles = agent, pid, handles
        self.output = {1: b'', 2: b''}
        self.returncode = None

    def poll(self, sink=None):
        """Fetch new output; the exit code once there is one."""
        if self.returncode is not None:
            return self.returncode
        with self.agent.session() as session:
            status = session.call('guest-exec-status', pid=self.pid)
            for stream, handle in zip((1, 2), self.handles):
                data = session.read(handle)
                self.output[stream] += data
                if data and sink:
                    sink(stream, data)
            if status['exited']:
                for handle in self.handles:
                    session.call('guest-file-close', handle=handle)
                # As a shell has it: 128 and the signal's number.
                self.returncode = status.get('exitcode',
                                             128 + status.get('signal', 0))
        return self.returncode

    def wait(self, timeout=None, sink=None):
        """The Result at the end; LabError past the time-out."""
        start, pause = time.monotonic(), 0.01
        while self.poll(sink) is None:
            if timeout and time.monotonic() - start > timeout:
                self.kill()
                raise LabError(f'no end after {timeout} s: pid {self.pid}')
            time.sleep(pause)
            pause = min(pause * 1.5, 0.3)
        return Result(self.returncode, self.output[1], self.output[2])

    def kill(self, signal='KILL'):
        """End the command and all that it started."""
        self.agent.run(['kill', f'-{signal}', '--', f'-{self.pid}'],
                       timeout=20)
