# SPDX-License-Identifier: GPL-2.0-or-later
"""crnic and mlx5 on the same model, and rxe, in the same two guests."""

import argparse
import json
import math
import os
import statistics
import time
from dataclasses import dataclass

from .errors import LabError
from .lab import Lab
from .pair import endpoint, run_pair
from .paths import BUILD
from .program import complain, guard

DRIVERS = ('rxe', 'mlx5', 'crnic')
RUNS = 5
PORT = 18515


@dataclass(frozen=True)
class Row:
    """One measurement: a perftest program and the column that counts."""
    name: str
    program: str
    size: int
    count: int
    rxe_count: int
    unit: str = 'MB/s'
    column: int = 3
    factor: float = 1.048576


def latency(name, program):
    return Row(name, program, 64, 5000, 1000, 'us', 4, 1.0)


ROWS = (
    Row('write 64 KiB', 'ib_write_bw', 65536, 10000, 500),
    Row('write 1 MiB', 'ib_write_bw', 1 << 20, 1000, 32),
    Row('send 64 KiB', 'ib_send_bw', 65536, 10000, 500),
    Row('send 1 MiB', 'ib_send_bw', 1 << 20, 1000, 32),
    latency('write 64 B', 'ib_write_lat'),
    latency('send 64 B', 'ib_send_lat'),
)


IDLE = Row('idle load', '', 0, 0, 0, '%core')
IDLE_SECONDS = 20


def idle_load(lab):
    """Share of a core that a guest takes while nothing happens, in %."""
    pids = lab.running()['pids'].values()

    def ticks():
        total = 0
        for pid in pids:
            with open(f'/proc/{pid}/stat', encoding='ascii') as file:
                fields = file.read().rsplit(')', 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total

    time.sleep(2)
    before = ticks()
    time.sleep(IDLE_SECONDS)
    seconds = (ticks() - before) / os.sysconf('SC_CLK_TCK')
    return 100 * seconds / IDLE_SECONDS / len(pids)


def measure(lab, row, driver):
    """One run of a row, in the row's unit."""
    rxe = driver == 'rxe'
    net = 1 if rxe else 0
    count = row.rxe_count if rxe else row.count
    common = [row.program, '-s', str(row.size), '-n', str(count), '-m',
              '4096', '-F', '-p', str(PORT)]
    sides = []
    for name in 'ba':
        device, index = endpoint(lab, name, net, 'rxe1' if rxe else None)
        sides.append(common + ['-d', device, '-x', index])
    result = run_pair(lab, sides[0], sides[1] + [f'10.0.{net}.2'], PORT, 300)
    for line in result.text.splitlines():
        fields = line.split()
        if fields[:1] == [str(row.size)]:
            return float(fields[row.column]) * row.factor
    last = (result.stdout + result.stderr).decode(errors='replace')
    raise LabError(f'{driver}: {row.program}: '
                   f'{last.strip().splitlines()[-1:]}')


def loaded(lab, driver):
    """See to it that a driver is there; rxe always is, on its own wire."""
    if driver not in ('rxe', lab.running()['options']['drivers']['a']):
        lab.switch(driver)


def idle_loads(lab, drivers):
    """What each driver adds to the load of idle guests, in % of a core."""
    none, loads = idle_load(lab), {}
    for driver in drivers:
        loaded(lab, driver)
        loads[driver] = max(0.01, idle_load(lab) - none)
        lab.say(f'{driver:5} adds {loads[driver]:.2f} % of a core when idle')
    return loads


def figures(lab, drivers):
    """{driver: {row name: RUNS figures}}, and whether they are all there.

    What the host does besides, and where it runs the guests' threads, changes
    within minutes and would be taken for a difference between drivers. So
    they take turns at each row, and the order is turned round after each,
    which saves half of the changes of drivers. A driver that fails takes no
    further turn; what it has shown until then stays, and the others go on.
    """
    seen = {driver: {row.name: [] for row in ROWS} for driver in drivers}
    order = list(drivers)
    for turn in range(RUNS):
        for row in ROWS:
            taken = []
            for driver in tuple(order):
                try:
                    loaded(lab, driver)
                    figure = measure(lab, row, driver)
                except LabError as error:
                    complain('bench', error)
                    order.remove(driver)
                    continue
                seen[driver][row.name].append(figure)
                taken.append(f'{driver} {figure:.0f}')
            if not order:
                return seen, False
            order.reverse()
            lab.say(f'{turn + 1} of {RUNS}: {row.name:12} '
                    f'{", ".join(taken)} {row.unit}')
    return seen, len(order) == len(drivers)


def ratio(ones, others):
    """The median of the ratios of figures taken one after the other.

    A single figure may be 0, as when rxe waits for its timers all the time.
    """
    if not ones or not others:
        return None
    median = statistics.median(one / other if other else math.inf
                               for one, other in zip(ones, others))
    return None if math.isinf(median) else round(median, 2)


def report(seen):
    """The table, printed and written."""
    rows = []
    print(f'{"":14}{"unit":>6}{"crnic":>10}{"mlx5":>10}{"rxe":>10}'
          f'{"crnic/rxe":>11}{"crnic/mlx5":>12}')
    for row in (*ROWS, IDLE):
        of = {driver: seen.get(driver, {}).get(row.name)
              for driver in ('crnic', 'mlx5', 'rxe')}
        values = {driver: round(statistics.median(taken), 2) if taken else None
                  for driver, taken in of.items()}
        rows.append({'row': row.name, 'unit': row.unit, **values,
                     'ratio': ratio(of['crnic'], of['rxe']),
                     'ratio_mlx5': ratio(of['crnic'], of['mlx5'])})
        cells = ''.join(f'{"-":>10}' if value is None else f'{value:10.2f}'
                        for value in values.values())
        print(f'{row.name:14}{row.unit:>6}{cells}'
              f'{rows[-1]["ratio"] or "-":>11}'
              f'{rows[-1]["ratio_mlx5"] or "-":>12}')
    path = BUILD / 'bench.json'
    path.write_text(json.dumps(rows, indent=1) + '\n')
    print(f'written to {path}')


def run(drivers):
    """Measure those drivers: the exit code."""
    lab = Lab('bench')
    lab.up(driver='none', bench=True, mtu=4200)
    try:
        loads = idle_loads(lab, drivers)
        seen, whole = figures(lab, drivers)
        for driver, load in loads.items():
            seen[driver][IDLE.name] = [load]
        report(seen)
    finally:
        lab.down()
    return 0 if whole else 1


def main():
    parser = argparse.ArgumentParser(prog='scripts/bench', description=__doc__)
    parser.add_argument('driver', nargs='*', help='rxe, mlx5 or crnic; all of '
                        'them if none is named')
    drivers = parser.parse_args().driver
    for driver in drivers:
        if driver not in DRIVERS:
            parser.error(f'no driver to measure: {driver}')
    return guard('bench', lambda: run(list(dict.fromkeys(drivers)) or
                                      list(DRIVERS)))
