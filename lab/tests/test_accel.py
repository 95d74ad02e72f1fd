# SPDX-License-Identifier: GPL-2.0-or-later
"""KVM is used where it runs a guest, and TCG everywhere else."""

import json

import pytest
from crnic_lab import accel, machine
from crnic_lab.errors import LabError
from crnic_lab.lab import Lab

# What stands in for QEMU: it ends at once and tells what it was asked for.
# With KVM, and asked to prove it, it does what the test wants.
QEMU = r'''#!/bin/sh
case " $* " in
*" kvm "*lab.prove*) ;;
*" kvm "*) echo "qemu-system-x86_64: KVM it is" >&2; exit 1 ;;
*) echo "qemu-system-x86_64: TCG it is" >&2; exit 1 ;;
esac
echo >>"$0.tries"
for word; do
	case $word in file,id=con,*) console=${word##*path=} ;; esac
done
'''
WORKS = 'echo "lab: the guest runs" >>"$console"'
REFUSED = r'''cat >&2 <<END
qemu-system-x86_64: warning: host doesn't support requested feature
qemu-system-x86_64: error: failed to set MSR 0x10a to 0xe0000000000c0e
qemu-system-x86_64: kvm.c:1: kvm_buf_set_msrs: Assertion \`ret == nmsrs' failed.
END
kill -ABRT $$'''
STUCK = r'''cat >&2 <<END
KVM internal error. Suberror: 1
emulation failure
RAX=0000000000000000 RBX=0000000000000000
END
exec sleep 60'''
PANICS = 'echo "Kernel panic - not syncing: no" >>"$console"'
REASONS = {
    'refused': (REFUSED, 'failed to set MSR 0x10a'),
    'stuck': (STUCK, 'emulation failure'), 'panics': (PANICS, 'Kernel panic'),
    'hangs': ('exec sleep 60', 'says nothing within 1 s'),
    'crashes': ('kill -SEGV $$', 'killed by SIGSEGV'),
    'silent': ('exit 0', 'ended without a word'),
}


class Fake:
    """A host with a KVM, and a lab of guests that never start."""

    def __init__(self, home):
        self.qemu, self.lab = home / 'qemu-system-x86_64', Lab('accel')
        self.images = {'boot': str(home), 'rootfs': str(home / 'root')}
        for name in ('vmlinuz', 'initramfs', 'kvm'):
            (home / name).touch()

    def does(self, script):
        self.qemu.write_text(QEMU + script + '\n')
        self.qemu.chmod(0o755)

    def up(self, **wishes):
        """The accelerator that a lab's QEMU was started with."""
        with pytest.raises(LabError) as caught:
            self.lab.up(driver='none', **wishes)
        assert ' it is' in str(caught.value), caught.value
        return str(caught.value).partition(' it is')[0][-3:].lower()

    def tries(self):
        return len(self.qemu.with_suffix('.tries').read_text())


@pytest.fixture
def fake(tmp_path, monkeypatch):
    host = Fake(tmp_path)
    monkeypatch.setattr(machine, 'BUILD', tmp_path)
    monkeypatch.setattr(machine, 'QEMU', host.qemu, raising=False)
    monkeypatch.setattr(accel, 'BUILD', tmp_path)
    monkeypatch.setattr(accel, 'CACHE', tmp_path / 'cache')
    monkeypatch.setattr(accel, 'KVM', str(tmp_path / 'kvm'))
    monkeypatch.setattr(accel, 'SECONDS', 1)
    monkeypatch.setattr(Lab, 'prepare', lambda *_: dict(host.images))
    monkeypatch.delenv('CRNIC_ACCEL', raising=False)
    return host


@pytest.mark.parametrize('kind', REASONS)
def test_kvm_that_runs_no_guest(fake, kind, capfd):
    """One line tells what is used instead, and what KVM or its guest said."""
    script, told = REASONS[kind]
    fake.does(script)
    assert fake.up() == 'tcg'
    lines = [line for line in capfd.readouterr().err.splitlines()
             if 'accelerator:' in line]
    assert len(lines) == 1, lines
    assert 'accelerator: tcg: KVM does not run a guest here: ' in lines[0]
    assert told in lines[0]


def test_kvm_that_works(fake, capfd):
    fake.does(WORKS)
    assert fake.up() == 'kvm'
    assert 'accelerator: kvm: it ran a guest in ' in capfd.readouterr().err


def test_no_kvm(fake, capfd, tmp_path):
    fake.does(WORKS)
    (tmp_path / 'kvm').unlink()
    assert fake.up() == 'tcg'
    assert 'accelerator: tcg: ' in capfd.readouterr().err


def test_answer_is_remembered(fake, tmp_path, monkeypatch):
    """Until the host, QEMU or the kernel is another."""
    fake.does(WORKS)
    assert [fake.up(), fake.up(), fake.tries()] == ['kvm', 'kvm', 1]
    fake.does(REFUSED)
    assert [fake.up(), fake.up(), fake.tries()] == ['tcg', 'tcg', 2]
    (tmp_path / 'vmlinuz').write_text('another')
    assert [fake.up(), fake.tries()] == ['tcg', 3]
    fact = tmp_path / 'fact'
    fact.write_text('booted again')
    monkeypatch.setattr(accel, 'HOST_FILES', (fact,))
    assert [fake.up(), fake.tries()] == ['tcg', 4]


@pytest.mark.parametrize('spoilt', ['', '[]', '{"runs": true}'])
def test_spoilt_memory(fake, tmp_path, spoilt):
    fake.does(WORKS)
    fake.up()
    for path in (tmp_path / 'cache/accel').glob('*.json'):
        path.write_text(spoilt)
    assert [fake.up(), fake.tries()] == ['kvm', 2]


def test_chosen_by_hand(fake, monkeypatch):
    """Without a try; the option goes before the environment."""
    fake.does(REFUSED)
    assert fake.up(accel='kvm') == 'kvm'
    monkeypatch.setenv('CRNIC_ACCEL', 'kvm')
    assert fake.up() == 'kvm'
    assert fake.up(accel='tcg') == 'tcg'
    assert not fake.qemu.with_suffix('.tries').exists()
    assert [fake.up(accel='auto'), fake.tries()] == ['tcg', 1]
    monkeypatch.setenv('CRNIC_ACCEL', 'warp')
    with pytest.raises(LabError, match='CRNIC_ACCEL takes .*, not warp'):
        fake.lab.up(driver='none')


def test_proof_is_told_as_json(fake, tmp_path):
    fake.does(STUCK)
    fake.up()
    path, = (tmp_path / 'cache/accel').glob('*.json')
    assert json.loads(path.read_text())['runs'] is False
