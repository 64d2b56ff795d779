# ruff: noqa: E501, ARG001 - lines as they are printed, by functions of one form
"""As the eleventh, by the same hand, and kept unread until what that one shows was mended."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import falling
from bench.corpora.home_made_runs.run import Run, at


def cpp_lattice(r: Random) -> Iterator[str]:
    yield "lattice 32^3x64  beta 6.0"
    yield "trajectories requested: 600"
    for i in range(1, 601, 3):
        yield at(i / 600, f"TRAJ {i} plaq {0.59 + r.random() / 1000:.6f} acc 1")


def cpp_factor(r: Random) -> Iterator[str]:
    yield "sieving interval: 450 polynomials"
    for i in range(5, 451, 5):
        yield at(i / 450, f"polynomial {i}, relations {i * 37 + r.randrange(30)}")


def julia_ode(r: Random) -> Iterator[str]:
    yield "[ Info: tspan = (0.0, 80.0)"
    for i in range(1, 161):
        yield at(i / 160, f"[ Info: t = {i * 0.5:.1f}, |u| = {r.random():.4f}")


def r_stan_like(r: Random) -> Iterator[str]:
    yield "iter = 3000, warmup = 1000, thin = 1"
    for i in range(100, 3001, 100):
        yield at(i / 3000, f"Iteration {i} lp__ = {-900 + r.random():.2f}")


def r_trees(r: Random) -> Iterator[str]:
    yield "randomForest: ntree = 1500, mtry = 4"
    for i in range(50, 1501, 50):
        yield at(i / 1500, f"{i:6d}: {20 - i / 200:.2f}%  {18 - i / 200:.2f}%  {22 - i / 200:.2f}%")


def fortran_scf(r: Random) -> Iterator[str]:
    yield "  GEOMETRY OPTIMIZATION, AT MOST 120 CYCLES"
    for i in range(1, 121):
        yield at(i / 120, f"  CYCLE NO. {i}  ENERGY {-76.4 - i / 1e4:.8f}")


def fortran_columns(r: Random) -> Iterator[str]:
    yield "  nstep=20000 nout=100"
    yield "   istep      time        mass        energy"
    for i in range(100, 20001, 100):
        yield at(i / 20000, f"{i:8d} {i * 0.01:11.3f} {r.random():11.6f} {r.random():13.6f}")


def java_simulation(r: Random) -> Iterator[str]:
    yield "INFO Simulation horizon is 365 days"
    for i in range(1, 366):
        yield at(
            i / 365, f"INFO day {i}: {r.randrange(900)} arrivals, {r.randrange(900)} departures"
        )


def java_crawl(r: Random) -> Iterator[str]:
    yield "INFO Queue initialised with 4,800 urls"
    for i in range(40, 4801, 40):
        yield at(i / 4800, f"INFO {i:,} urls visited ({r.randrange(90)} errors)")


def shell_samples(r: Random) -> Iterator[str]:
    yield "Processing 36 samples from manifest.tsv"
    for i in range(1, 37):
        yield f"==> sample {i}"
        yield f"    aligning S{i:03d}_R1.fq.gz"
        yield at(i / 36, f"    done in {r.randrange(50, 90)} min")


def shell_wget(r: Random) -> Iterator[str]:
    yield "Length: 524288000 (500M) [application/zip]"
    for i in range(1, 101):
        yield at(
            i / 100,
            f" {i * 5120 - 5120:6d}K .......... .......... .......... .......... .......... {i:2d}% 12.1M {100 - i}s",
        )


def rust_train(r: Random) -> Iterator[str]:
    yield "config: TrainConfig { lr: 0.001, num_epochs: 25, batch: 64 }"
    for i in range(25):
        yield at(
            (i + 1) / 25, f"epoch={i} train_loss={falling(r, i):.4f} valid_loss={falling(r, i):.4f}"
        )


def french_calcul(r: Random) -> Iterator[str]:
    yield "Nombre de pas de temps : 900"
    for i in range(10, 901, 10):
        yield at(i / 900, f"pas {i}  résidu {1 / i:.3e}")


def python_jobs(r: Random) -> Iterator[str]:
    yield "submitting 240 tasks to 8 workers"
    for i in range(1, 241):
        yield at(i / 240, f"task {i} finished on worker {r.randrange(8)} in {r.uniform(3, 5):.2f}s")


def scala_walk(r: Random) -> Iterator[str]:
    yield "walkers=64 stepsPerWalker=2000"
    for i in range(20, 2001, 20):
        yield at(i / 2000, f"after {i} steps: mean displacement {r.random():.4f}")


RUNS = (
    Run(cpp_lattice, training=False),
    Run(cpp_factor, training=False),
    Run(julia_ode, training=False),
    Run(r_stan_like, training=False),
    Run(r_trees, training=False),
    Run(fortran_scf, training=False),
    Run(fortran_columns, training=False),
    Run(java_simulation, training=False),
    Run(java_crawl, training=False),
    Run(shell_samples, training=False),
    Run(shell_wget, training=False, timed=True),
    Run(rust_train),
    Run(french_calcul, training=False),
    Run(python_jobs, training=False),
    Run(scala_walk, training=False),
)
