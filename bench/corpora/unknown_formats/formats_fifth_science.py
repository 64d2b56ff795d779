# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats of the sciences and of finance, written by a hand that never saw the learner."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.formats_fifth import clock, fall
from bench.corpora.unknown_formats.labels import Line


def molecular_dynamics(r: Random) -> Iterator[Line]:
    yield "Reading topology ... 23558 atoms, 7023 waters"
    for i in range(5000, 1000001, 5000):
        yield (
            f"MD step {i:>9} / 1000000   t = {i * 0.002:10.3f} ps   T = {r.gauss(300, 2):7.2f} K   E = {r.gauss(-312500, 90):.1f} kJ/mol",
            (i, 1000000),
        )


def flow_solver(r: Random) -> Iterator[Line]:
    yield "mesh: 262144 cells, 4 blocks"
    yield "Running 4000 time steps with dt = 0.0005"
    for i in range(20, 4001, 20):
        yield (
            f"n = {i:5}  t = {i * 0.0005:.4f}  CFL = {r.uniform(0.4, 0.46):.3f}  res = {fall(r, i) * 1e-5:.3e}",
            (i, 4000),
            (round(i * 0.0005, 4), 2.0),
        )


def ising_sweeps(r: Random) -> Iterator[Line]:
    for i in range(100, 20001, 100):
        yield (
            f"sweep {i:8}  <E> = {r.gauss(-1.41, 0.01):.5f}  <|m|> = {r.uniform(0.6, 0.7):.5f}  acc = {r.uniform(0.28, 0.31):.3f}",
            (i, None),
        )


def geometry_cycles(r: Random) -> Iterator[Line]:
    for cycle in range(1, 61):
        yield f"*** Geometry cycle {cycle} (at most 100) ***", (cycle, 100)
        for i in range(1, r.randint(7, 12)):
            yield f"   scf {i:3}   E = {-382.3 - 0.1 * (1 - 0.4**i):.9f}   dE = {-(0.4**i):.2e}"
        yield f"   max force {0.1 / cycle:.6f}   rms displacement {r.uniform(0.001, 0.01):.6f}"


def r_draws(r: Random) -> Iterator[Line]:
    for i in range(50, 10001, 50):
        yield (
            f'[1] "draw {i} | of 10000 | accept {r.uniform(0.21, 0.26):.3f} | logpost {r.gauss(-1532, 4):.2f}"',
            (i, 10000),
        )


def matlab_solver(r: Random) -> Iterator[Line]:
    for i in range(1, 301):
        yield (
            f"Iter {i:4} of {300:4}:  fval = {1e3 * fall(r, i):.4e},  ||g|| = {fall(r, i):.3e}",
            (i, 300),
        )
        if r.random() < 0.05:
            yield f"Warning: Matrix is close to singular or badly scaled. RCOND = {r.uniform(1, 9):.6f}e-17."


def descent_table(r: Random) -> Iterator[Line]:
    for i in range(200):
        if i % 20 == 0:
            yield "   k          f(x)        step       ||g||"
        yield (
            f"{i:4}  {40 * fall(r, i):12.6f}  {r.choice([1.0, 0.5, 0.25]):10.4f}  {fall(r, i):10.3e}",
            (i, None),
            (i + 1, None),
        )


def sample_loop(r: Random) -> Iterator[Line]:
    for i in range(1, 97):
        yield f"== {i}/96 == sample_{i:04}_R1.fastq.gz", (i, 96)
        yield "+ bwa mem -t 16 ref/GRCh38.fa"
        yield f"[M::process] read {r.randint(700000, 710000)} sequences (80000000 bp)"
        yield f"real {r.randint(100, 160)}.{r.randint(10, 99)} user {r.randint(1500, 2000)}.{r.randint(10, 99)}"


def reads_aligned(r: Random) -> Iterator[Line]:
    yield f"[{clock(0):%c}] input holds 4200000 reads"
    for i in range(50000, 4200001, 50000):
        yield (
            f"[{clock(i / 9000):%c}] {i} reads aligned, {r.uniform(92.8, 93.6):.1f}% mapped, {r.uniform(11.8, 12.4):.1f} kreads/s",
            (i, 4200000),
        )


def tree_generations(r: Random) -> Iterator[Line]:
    yield "--- 1000000 generations, sampling every 5000 ---"
    yield "gen\tlnL\tprior\talpha\ttree_length"
    for i in range(0, 1000001, 5000):
        yield (
            f"{i}\t{r.gauss(-18233, 6):.3f}\t{r.gauss(-81, 2):.3f}\t{r.uniform(0.3, 0.5):.4f}\t{r.uniform(2, 2.4):.4f}",
            (i, 1000000),
        )


def docked_ligands(r: Random) -> Iterator[Line]:
    for i in range(1, 301):
        yield (
            f"ZINC{r.randint(10**7, 10**8):012} -> {r.gauss(-7.4, 0.8):.1f} kcal/mol  [{i}|750]",
            (i, 750),
        )
        if r.random() < 0.04:
            yield f"could not protonate ZINC{r.randint(10**7, 10**8):012}, left out"


def backtest_days(r: Random) -> Iterator[Line]:
    equity = 1e5
    for i in range(1, 521):
        equity *= 1 + r.gauss(0.0003, 0.006)
        yield (
            f"{clock(i * 86400):%Y-%m-%d}: day {i}/520 equity={equity:.2f} dd={-r.uniform(0, 6):.1f}% trades={r.randint(0, 9)}",
            (i, 520),
        )


def priced_paths(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        million = i / 5
        yield (
            f"paths {million:.1f}M/20.0M  price {r.gauss(10.45, 0.01):.4f} +- {0.03 / i**0.5:.4f}",
            (i * 200000, 20000000),
            (million, 20.0),
        )


def galaxy_boxes(r: Random) -> Iterator[Line]:
    for i in range(1, 251):
        a = 0.02 * 1.0157**i
        yield (
            f"a = {a:.4f}  z = {1 / a - 1:.3f}  step {i}  dt = {r.uniform(0.8, 1.2):.2f} Myr  ({i / 2.5:.1f}% complete)",
            (i / 2.5, 100),
            (i / 2.5, None),
            (i, None),
            (i, 250),
        )


def climate_years(r: Random) -> Iterator[Line]:
    for year in range(1, 31):
        for month in range(1, 13):
            yield (
                f">>> model date {1984 + year}-{month:02}-01, year {year} of 30, SST {r.gauss(18, 0.2):.2f} C, wallclock {clock(year * 4000 + month * 330):%H:%M:%S}",
                (year, 30),
            )


def share_of_one(r: Random) -> Iterator[Line]:
    for i in range(1, 201):
        yield (
            f"progress = {i / 200:.3f}   dofs = {r.randint(12000, 12600)}   newton its = {r.randint(3, 6)}   |r| = {r.uniform(1, 9):.2f}e-10",
            (round(i / 200, 3), 1),
            (round(i / 200, 3), None),
            (i / 2, 100),
        )


def events_left(r: Random) -> Iterator[Line]:
    for i in range(2000, 500001, 2000):
        yield f"Event {i} processed; {500000 - i} left; {r.uniform(210, 230):.1f} Hz", (i, 500000)
        if r.random() < 0.06:
            yield f"TTree::Fill: autosave at {r.randint(100, 900)} MB"


def evolution(r: Random) -> Iterator[Line]:
    for i in range(150):
        yield (
            f"gen {i:04} best={-40 * fall(r, i):.3f} mean={-50 * fall(r, i):.3f} std={r.uniform(1, 3):.3f} evals={(i + 1) * 48}",
            (i, None),
            (i + 1, None),
            ((i + 1) * 48, None),
        )


def copied_volume(r: Random) -> Iterator[Line]:
    for i in range(1, 161):
        yield (
            f"copied {i / 2:.1f} GiB of 80.0 GiB ({i / 1.6:.1f}%), {r.randint(300, 330)} MiB/s, {i * 3} files",
            (i / 2, 80),
            (i * 2**29, 80 * 2**30),
            (round(i / 1.6, 1), 100),
            (i * 3, 480),
        )


def fortran_steps(r: Random) -> Iterator[Line]:
    for i in range(100, 20001, 100):
        energy = f"{r.gauss(-0.1234, 0.0003):.6f}D+03"
        yield f" ISTEP={i:8} NSTEP={20000:8} TIME= {i / 20000:.4f}D-01 ENERGY= {energy}", (i, 20000)


FORMATS = (
    molecular_dynamics,
    flow_solver,
    ising_sweeps,
    geometry_cycles,
    r_draws,
    matlab_solver,
    descent_table,
    sample_loop,
    reads_aligned,
    tree_generations,
    docked_ligands,
    backtest_days,
    priced_paths,
    galaxy_boxes,
    climate_years,
    share_of_one,
    events_left,
    evolution,
    copied_volume,
    fortran_steps,
)
