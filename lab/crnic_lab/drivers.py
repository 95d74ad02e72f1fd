# SPDX-License-Identifier: GPL-2.0-or-later
"""What each --driver puts on the wire and loads in the guest."""

from dataclasses import dataclass

# The wire's device sits behind the first root port, the bench wire's
# behind the second.
WIRE_PCI = '0000:01:00.0'
BENCH_PCI = '0000:02:00.0'


@dataclass(frozen=True)
class Driver:
    """One row of the table below."""
    device: str
    modules: tuple = ()
    ours: bool = False
    rxe: bool = False
    network: bool = True


DRIVERS = {
    'crnic': Driver('mocx', ours=True),
    'mlx5': Driver('mocx', modules=('mlx5_core', 'mlx5_ib')),
    'rxe': Driver('virtio-net-pci', modules=('virtio_net',), rxe=True),
    'none': Driver('mocx', network=False),
}
