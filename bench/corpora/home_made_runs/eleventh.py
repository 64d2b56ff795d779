# ruff: noqa: E501, ARG001 - lines as they are printed, by functions of one form
"""Programs of many languages that state their total once, far above, in other words than the count."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import falling
from bench.corpora.home_made_runs.run import Run, at


def cpp_solver(r: Random) -> Iterator[str]:
    yield "Solver::init  grid 512x512  tolerance 1e-08"
    yield "Solver::init  will perform 4000 outer iterations"
    yield "Solver::init  threads 16"
    for i in range(20, 4001, 20):
        yield at(i / 4000, f"[solver] outer it. {i}  |r| = {1 / i:.6e}")


def cpp_particles(r: Random) -> Iterator[str]:
    yield "N = 1048576 bodies, dt = 0.001, tend = 2.5"
    for i in range(1, 126):
        yield at(
            i / 125, f"t = {i * 0.02:.4f}   E = {-0.25 + r.random() / 1e6:.8f}   dE/E = 1.2e-07"
        )


def cpp_raytracer(r: Random) -> Iterator[str]:
    yield "Rendering 1920x1080, 256 spp"
    for line in range(1079, -1, -9):
        yield at((1080 - line) / 1080, f"Scanlines remaining: {line}")


def julia_mcmc(r: Random) -> Iterator[str]:
    yield "[ Info: Found initial step size"
    yield "[ Info: nsamples = 5000, nadapts = 500"
    for i in range(50, 5001, 50):
        yield at(i / 5000, f"[ Info: draw {i}  logp = {-1200 + r.random():.3f}  eps = 0.0125")


def julia_flux(r: Random) -> Iterator[str]:
    yield "[ Info: Training for 40 passes over the data"
    for i in range(1, 41):
        yield at(i / 40, f"[ Info: pass {i}: loss = {falling(r, i):.5f}, acc = {0.5 + i / 100:.3f}")


def julia_progress_meter(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield at(
            i / 100,
            f"Progress: {i:3d}%|{'█' * (i // 4):25}|  ETA: 0:{(100 - i) // 10:02d}:{(100 - i) % 60:02d}",
        )


def r_bootstrap(r: Random) -> Iterator[str]:
    yield "R version 4.3.1 (2023-06-16)"
    yield '[1] "Bootstrap with B = 2000 resamples"'
    for i in range(25, 2001, 25):
        yield at(i / 2000, f'[1] "resample {i}"')


def r_gam(r: Random) -> Iterator[str]:
    yield "> nspecies <- 84"
    yield "Fitting models for 84 species"
    for i in range(1, 85):
        yield at(i / 84, f"  fitted species {i} (AIC {r.uniform(900, 2000):.1f})")


def r_bar(r: Random) -> Iterator[str]:
    for i in range(2, 101, 2):
        yield at(i / 100, f"  |{'=' * (i // 2):50}| {i:3d}%")


def fortran_md(r: Random) -> Iterator[str]:
    yield " ***  MOLECULAR DYNAMICS  ***"
    yield " NUMBER OF TIME STEPS .........    50000"
    yield " TIME STEP (FS) ...............     0.50"
    for i in range(500, 50001, 500):
        yield at(
            i / 50000,
            f" {i:8d}   {i * 0.0005:10.4f}   {300 + r.random():10.4f}   {-4521 + r.random():12.5f}",
        )


def fortran_ocean(r: Random) -> Iterator[str]:
    yield " ocean model: nitend = 8760   rdt = 3600.0"
    for i in range(24, 8761, 24):
        yield at(i / 8760, f" kt = {i:6d}  max |U| = {r.random():.4f}  min S = 33.1")


def fortran_years(r: Random) -> Iterator[str]:
    yield " integrating from year 1850 to year 1950"
    for i in range(1850, 1950):
        yield at((i - 1850) / 100, f" year {i} month  1 global mean temp {286 + r.random():.3f}")


def java_batch(r: Random) -> Iterator[str]:
    yield "12:00:00.001 [main] INFO  c.a.etl.Loader - Found 250000 records to migrate"
    for i in range(2500, 250001, 2500):
        yield at(
            i / 250000,
            f"12:{i // 15000:02d}:00.001 [main] INFO  c.a.etl.Loader - migrated {i} records so far",
        )


def java_genetic(r: Random) -> Iterator[str]:
    yield "Population size: 200"
    yield "Evolution limit: 300 generations"
    for i in range(1, 301):
        yield at(i / 300, f"Gen #{i} fittest: {r.random():.5f}")


def java_spark(r: Random) -> Iterator[str]:
    for i in range(4, 401, 4):
        yield at(i / 400, f"[Stage 3:{'=' * (i // 20):>20}>  ({i} + 16) / 400]")


def shell_loop(r: Random) -> Iterator[str]:
    yield "+ ./convert_all.sh"
    yield "64 scenes in queue"
    for i in range(1, 65):
        yield at(i / 64, f"scene {i}: rendered in {r.uniform(20, 30):.1f}s")


def shell_dd(r: Random) -> Iterator[str]:
    yield "copying 40 GiB image to /dev/sdb"
    for i in range(1, 81):
        yield at(
            i / 80,
            f"{i * 536870912} bytes ({i * 0.54:.1f} GB, {i * 0.5:.1f} GiB) copied, {i * 4} s, 134 MB/s",
        )


def shell_rsync(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield at(
            i / 100,
            f"    {i * 32768000:>14,} {i:3d}%   31.25MB/s    0:{(100 - i) // 60:02d}:{(100 - i) % 60:02d}",
        )


def rust_search(r: Random) -> Iterator[str]:
    yield "INFO search: budget = 1_000_000 nodes"
    for i in range(10, 1001, 10):
        yield at(i / 1000, f"INFO search: visited {i}_000 nodes, best = {r.randrange(900)}")


def go_import(r: Random) -> Iterator[str]:
    yield "2026/01/05 12:00:00 importing: totalShards=96 workers=8"
    for i in range(1, 97):
        yield at(
            i / 96,
            f"2026/01/05 12:{i // 2:02d}:{i % 2 * 30:02d} shard done idx={i} rows={r.randrange(9000)}",
        )


def matlab_sweep(r: Random) -> Iterator[str]:
    yield "Sweeping 121 parameter values"
    for i in range(1, 122):
        yield at(i / 121, f"value {i:3d}: objective = {r.random():.6g}")


def perl_blast(r: Random) -> Iterator[str]:
    yield "# 3600 query sequences loaded"
    for i in range(40, 3601, 40):
        yield at(i / 3600, f"... {i} queries searched")


def german_lab(r: Random) -> Iterator[str]:
    yield "Anzahl der Durchläufe: 180"
    for i in range(1, 181):
        yield at(i / 180, f"Durchlauf {i}: Fehler {falling(r, i):.4f}")


def spanish_training(r: Random) -> Iterator[str]:
    yield "Entrenando durante 75 épocas"
    for i in range(1, 76):
        yield at(i / 75, f"época {i} - pérdida {falling(r, i):.4f} - exactitud {0.5 + i / 200:.3f}")


def octave_annealing(r: Random) -> Iterator[str]:
    yield "temperature ladder with 90 levels"
    for i in range(1, 91):
        yield at(i / 90, f"level {i}: T = {100 * 0.95**i:.4f}, accepted {r.randrange(1000)}")


RUNS = (
    Run(cpp_solver, training=False),
    Run(cpp_particles, training=False),
    Run(cpp_raytracer, training=False),
    Run(julia_mcmc, training=False),
    Run(julia_flux),
    Run(julia_progress_meter, training=False, timed=True),
    Run(r_bootstrap, training=False),
    Run(r_gam, training=False),
    Run(r_bar, training=False),
    Run(fortran_md, training=False),
    Run(fortran_ocean, training=False),
    Run(fortran_years, training=False),
    Run(java_batch, training=False),
    Run(java_genetic, training=False),
    Run(java_spark, training=False),
    Run(shell_loop, training=False),
    Run(shell_dd, training=False),
    Run(shell_rsync, training=False, timed=True),
    Run(rust_search, training=False),
    Run(go_import, training=False),
    Run(matlab_sweep, training=False),
    Run(perl_blast, training=False),
    Run(german_lab, training=False),
    Run(spanish_training),
    Run(octave_annealing, training=False),
)
