"""How long it takes to answer a failure from memory, among many that are remembered.

    python -m bench.speed.failure_memory                    # among 100,000
    python -m bench.speed.failure_memory --failures 10000   # among fewer

Prints the milliseconds of one diagnosis by memory of a log of a few hundred lines, in the process
and with its store open, the best and the worst of twenty.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.command import command_line
from schedmate.handler import Case, Handler, NamedLog
from schedmate.model.lessons import Origin, PastFailure
from schedmate.store.sqlite import SqliteStore

LOG = "".join(f"step {n} loss 0.5\n" for n in range(300)) + "{} does not close, pressure {} stays\n"


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--failures", type=int, default=100_000)
    wanted = parser.parse_args().failures
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteStore(Path(folder, "store.sqlite3"))) as store,
    ):
        _fill(store, wanted)
        took = sorted(_ask(store, number) for number in range(20))
    print(f"{wanted} failures remembered: {1000 * took[0]:.1f} to {1000 * took[-1]:.1f} ms")


def _fill(store: SqliteStore, wanted: int) -> None:
    with store.together():
        for number in range(wanted):
            store.remember_failure(
                PastFailure(
                    id=f"c{number}",
                    signatures=(f"{number:032x}", f"{number:031x}x"),
                    reason="data_error",
                    line=f"record {number} is cut short",
                    confidence=0.7,
                    origin=Origin(teacher="llm", by="bench", about="a.log", at=float(number)),
                )
            )
    origin = Origin(teacher="operator", by="bench", about="a.log", at=0.0)
    Handler(store).correct(_case("valve 7", 3), "gpu_hardware", origin, make_rule=False)


def _ask(store: SqliteStore, number: int) -> float:
    handler = Handler(store)
    begun = time.perf_counter()
    diagnosis = handler.diagnose(_case(f"valve {number}", number * 1.5))
    took = time.perf_counter() - begun
    if diagnosis.source != "memory":
        raise SystemExit(f"not answered from memory but by {diagnosis.source}")
    return took


def _case(*words: object) -> Case:
    return Case(logs=(NamedLog("a.log", LOG.format(*words).encode()),), exit_code=1)


if __name__ == "__main__":
    main()
