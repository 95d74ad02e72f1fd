# SPDX-License-Identifier: GPL-2.0-or-later
"""What a newcomer gets wrong on the host: one clear line each, no guest."""

import contextlib
import os
import pathlib
import socket
import threading

import pytest
from crnic_lab.paths import BUILD, LABS

from host import refused, run, state_of

# A script, and a tool that it cannot do without.
TOOLS = [
    ('build-qemu', 'ninja'), ('build-guest', 'genext2fs'),
    ('build-module', 'rsync'), ('check-static', 'sparse'),
    ('check-kunit', 'bison'), ('check-model', 'gcc'), ('check-lab', 'tshark'),
]
# Steps that fill a cache from nothing, and so need room first.
STEPS = ['build-qemu', 'build-guest', 'build-module', 'check-static',
         'check-kunit', 'model-headers']


# scripts/lab without a lab

@pytest.mark.parametrize('args', [
    ('exec', 'a', '--', 'true'), ('status',), ('gid', 'a', '10.0.0.1'),
    ('pcap', 'a', 'x.pcap'), ('console', 'b'), ('qmp', 'a', 'query-name'),
    ('driver', 'mlx5'), ('demo',), ('dmesg', 'a'), ('pull', 'a', '/x', 'x'),
    ('push', 'a', 'README.md', '/x'), ('pyverbs',),
], ids=lambda args: args[0])
def test_lab_that_is_not_up(args):
    assert 'is not up' in refused(args[0], '--name', 'nobody', *args[1:])


# A lab whose guests are only said to be there

def test_lab_of_a_name_that_is_up(impostor):
    with state_of('twice', impostor):
        assert 'lab twice is up' in refused('up', '--name', 'twice')


def test_lab_whose_qemu_died():
    with state_of('dead', lambda _: 0):
        assert 'guest a is not running' in refused('exec', 'a', '--name',
                                                   'dead', '--', 'true')
        assert 'is not running' in refused('status', '--name', 'dead')


@pytest.mark.parametrize('answer', [b'', b'no json\n'])
def test_lab_whose_guest_hangs_up(impostor, answer):
    """A QEMU that dies while it is spoken to, or has lost its mind."""
    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                conn, _ = listener.accept()
                conn.sendall(answer)
                conn.close()

    with state_of('deaf', impostor) as sockets, \
            socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f'{sockets}/a.qga')
        listener.listen()
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        assert 'lab: error: ' in refused('exec', 'a', '--name', 'deaf', '--',
                                         'true')
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize('model, told', [
    ('colour=blue', 'colour'),
    ('log-max-qp=99', 'log_max_qp'),
    ('model=cx99', "model 'cx99' is unknown"),
    ('strict=maybe', 'strict'),
])
def test_model_property(model, told):
    """QEMU's own words, before anything boots."""
    code, lines = run('scripts/lab', 'up', '--name', 'model', '--driver',
                      'none', '--model', model)
    errors = [line for line in lines if 'error' in line]
    assert code == 2 and len(errors) == 1 and told in errors[0], lines
    assert not (LABS / 'model' / 'state.json').exists()


# A machine that lacks something

@pytest.fixture(scope='module')
def farm(tmp_path_factory):
    """A directory of links to every tool there is."""
    path = tmp_path_factory.mktemp('bin')
    for part in reversed(['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin',
                          '/sbin']):
        for tool in pathlib.Path(part).glob('*'):
            (path / tool.name).unlink(missing_ok=True)
            (path / tool.name).symlink_to(tool)
    return path


@pytest.mark.parametrize('script, tool', TOOLS)
def test_missing_tool(farm, script, tool):
    """One line names the tool and the cure; a check counts as failed."""
    link = farm / tool
    target = link.readlink()
    link.unlink()
    try:
        code, lines = run(f'scripts/{script}', PATH=str(farm))
    finally:
        link.symlink_to(target)
    assert code == 1
    assert lines[0] == f'{script}: error: missing {tool}: run scripts/deps'
    assert lines[1:] == (['0 passed, 1 failed, 0 skipped']
                         if script.startswith('check-') else [])


def on_small_disk(mount, script, **env):
    """Run a line for the shell where a file system has 1 MiB. The mount is
    gone with the processes."""
    user = [] if os.geteuid() == 0 else ['--map-root-user']
    code, lines = run('unshare', '--mount', *user, 'sh', '-c',
                      f'mount -t tmpfs -o size=1M small {mount} || exit 99; '
                      + script, **env)
    if code == 99:
        pytest.skip('a mount is not allowed here')
    return code, lines


@pytest.mark.parametrize('step', STEPS)
def test_full_cache(step, tmp_path):
    code, lines = on_small_disk(tmp_path, f'scripts/{step}',
                                CRNIC_CACHE=str(tmp_path))
    told = [line for line in lines if 'disk full' in line]
    assert code == 1 and len(told) == 1, lines
    assert lines[0].endswith(told[0]), lines


def test_full_build_folder():
    """The next run, with room, works."""
    assert run('scripts/build-module')[0] == 0
    code, lines = on_small_disk(
        BUILD, 'scripts/build-module; echo $?; '
        f'mount -o remount,size=512M {BUILD}; exec scripts/build-module')
    assert code == 0 and lines[-1].startswith('module='), lines
    assert any('No space left' in line or 'disk full' in line
               for line in lines), lines
    assert '1' in lines, lines
