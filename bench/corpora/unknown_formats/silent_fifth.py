# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Logs without progress, and counts beside numbers that are no total, by the same other hand."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.formats_fifth import clock, fall
from bench.corpora.unknown_formats.labels import Line


def batch_beside_the_step(r: Random) -> Iterator[Line]:
    for i in range(10, 2001, 10):
        yield (
            f"step {i} | bs 512 | seq 2048 | loss {fall(r, i // 10):.4f} | {r.uniform(0.4, 0.5):.3f} s",
            (i, None),
        )


def gpus_beside_the_step(r: Random) -> Iterator[Line]:
    for i in range(5, 801, 5):
        yield (
            f"iter={i} gpus=8 lr=3.0e-04 tokens={i * 16384} nll={fall(r, i // 5):.4f}",
            (i, None),
            (i * 16384, None),
        )


def window_of_the_mean(r: Random) -> Iterator[Line]:
    for i in range(1, 301):
        yield (
            f"episode {i}: return {r.gauss(i / 3, 12):.1f}, mean of the last 500: {i / 5 + r.gauss(0, 1):.2f}",
            (i, None),
        )


def rank_of_ranks(r: Random) -> Iterator[Line]:
    for i in range(1, 120):
        for rank in range(4):
            yield (
                f"rank {rank}/4: step {i} loss {fall(r, i):.4f} ({r.uniform(0.9, 1.1):.2f} s)",
                (i, None),
            )


def lattice_of_a_run(r: Random) -> Iterator[Line]:
    for i in range(200, 40001, 200):
        yield (
            f"L=64 beta=0.4407 seed=20240 sweep={i} mag={r.uniform(0.5, 0.7):.5f} chi={r.uniform(11, 14):.3f}",
            (i, None),
        )


def portfolio_days(r: Random) -> Iterator[Line]:
    for i in range(1, 251):
        yield (
            f"day {i}: 500 names, gross 1000000, pnl {r.gauss(120, 900):+.2f}, turnover {r.uniform(0.02, 0.08):.3f}",
            (i, None),
        )


def patience_of_ten(r: Random) -> Iterator[Line]:
    waited, best = 0, 9.0
    for i in range(1, 141):
        value = fall(r, i) + abs(r.gauss(0, 0.05))
        waited, best = (0, value) if value < best else (min(9, waited + 1), best)
        yield f"epoch {i}  val_loss {value:.4f}  best {best:.4f}  patience {waited}/10", (i, None)


def memory_beside_the_step(r: Random) -> Iterator[Line]:
    for i in range(50, 10001, 50):
        yield (
            f"[{clock(i / 3):%m/%d %H:%M:%S}] step {i} loss {fall(r, i // 50):.4f} mem {r.uniform(61, 64):.1f}/80.0 GB util {r.randint(90, 99)}%",
            (i, None),
        )


def power_and_memory(r: Random) -> Iterator[Line]:
    for i in range(60):
        for gpu in range(4):
            yield f"{clock(i * 30):%Y/%m/%d %H:%M:%S} gpu {gpu}: {r.randint(58, 71)}C {r.randint(290, 390)}W / 400W, {r.randint(40100, 40300)}MiB / 81920MiB, {r.randint(80, 100)} %"


def web_requests(r: Random) -> Iterator[Line]:
    for i in range(160):
        yield f'10.3.{r.randint(0, 9)}.{r.randint(1, 254)} - - [{clock(i * 3.1):%d/%b/%Y:%H:%M:%S} +0000] "GET /api/v1/items?page={r.randint(1, 40)} HTTP/1.1" 200 {r.randint(400, 9000)}'


def environment_dump(r: Random) -> Iterator[Line]:
    yield "SLURM_JOB_ID=4821193"
    yield "SLURM_NNODES=4"
    yield "SLURM_NTASKS=32"
    yield "OMP_NUM_THREADS=16"
    for name in ("numpy", "scipy", "torch", "pandas", "h5py", "mpi4py", "numba", "tqdm", "xarray"):
        yield f"{name}=={r.randint(0, 3)}.{r.randint(0, 30)}.{r.randint(0, 9)}"
    for name in ("libgomp.so.1", "libmpi.so.40", "libcudart.so.12", "libz.so.1", "libm.so.6"):
        yield f"    {name} => /usr/lib64/{name} (0x{r.randrange(16**12):016x})"
    yield "Thread binding: 0-15 on node 0, 16-31 on node 1"
    yield "model has 7 layers, 124439808 parameters"
    yield "reading /scratch/input/part-00012-of-00064.parquet"


def alive(_: Random) -> Iterator[Line]:
    for i in range(1, 121):
        yield f"{clock(i * 60):%b %d %H:%M:%S} node14 keepalive[2211]: still alive, up {i * 60} s, interval 60 s"


def notebook_server(r: Random) -> Iterator[Line]:
    for i in range(100):
        word = r.choice(
            [
                "Saving file at",
                "Kernel restarted:",
                "Connecting to kernel",
                "Adapting to protocol v5.1 for kernel",
            ]
        )
        yield f"[I {clock(i * 77):%Y-%m-%d %H:%M:%S}.{r.randint(0, 999):03} ServerApp] {word} {r.randrange(16**8):08x}"


def compiler_warnings(r: Random) -> Iterator[Line]:
    line = 20
    for _ in range(90):
        line += r.randint(1, 30)
        yield f"src/solver/assemble.cpp:{line}:{r.randint(3, 40)}: warning: unused variable '{r.choice(['nq', 'jac', 'tmp', 'ierr'])}' [-Wunused-variable]"


def gene_table(r: Random) -> Iterator[Line]:
    yield "gene             baseMean  log2FC    stat      padj"
    for _ in range(150):
        yield f"ENSG{r.randint(0, 10**6):011}  {r.uniform(5, 4000):9.2f}  {r.gauss(0, 1.4):+6.3f}  {r.gauss(0, 3):+7.3f}  {r.random():.2e}"


SILENT = (
    batch_beside_the_step,
    gpus_beside_the_step,
    window_of_the_mean,
    rank_of_ranks,
    lattice_of_a_run,
    portfolio_days,
    patience_of_ten,
    memory_beside_the_step,
    power_and_memory,
    web_requests,
    environment_dump,
    alive,
    notebook_server,
    compiler_warnings,
    gene_table,
)
