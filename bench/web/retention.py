"""How long retention takes on a large store, and whether the store becomes smaller.

    python -m bench.web.retention
    python -m bench.web.retention --postgres --jobs 5000 --running 100

All that is older than a week is dropped, then the oldest until a third is left, in steps as small
as those that the daemon takes after each look. `longest step` is what one of them adds to a look.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command import command_line, machine
from bench.web.filled_store import default_cache, filled_store
from schedmate.service.records.event_log import STARTED
from schedmate.store import Keep
from schedmate.store.moving import move_to_postgres
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.postgres import private_postgres

if TYPE_CHECKING:
    from schedmate.store import Store

_DAYS = 7.0


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--running", type=int, default=2000)
    parser.add_argument("--waiting", type=int, default=1500)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--cache", type=Path, default=default_cache())
    options = parser.parse_args()
    print(machine(), flush=True)
    filled = filled_store(
        jobs=options.jobs, running=options.running, waiting=options.waiting, cache=options.cache
    )
    listed = {job.id for job in filled.listed}
    with ExitStack() as stack:
        state = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "state"
        filled.copied_to(state)
        file = state / "schedmate.sqlite3"
        store: Store = stack.enter_context(closing(SqliteStore(file, scheduler="slurm")))
        if options.postgres:
            from schedmate.store.postgres import PostgresStore  # noqa: PLC0415 - psycopg is extra

            url = stack.enter_context(private_postgres()).database("retention")
            move_to_postgres(file, url, lambda *_: None)
            store = stack.enter_context(closing(PostgresStore(url, scheduler="slurm")))
        before = store.used_bytes()
        _drop(store, Keep(days=_DAYS, bytes=float("inf")), listed, "older than a week")
        _drop(store, Keep(days=_DAYS, bytes=before / 3), listed, "beyond a third of it")
        if not options.postgres:
            print(f"file before compaction {file.stat().st_size / 1e6:.0f} MB", flush=True)
        begun = time.monotonic()
        store.compact()
        print(f"compacted in {time.monotonic() - begun:.1f} s: {store.used_bytes() / 1e6:.0f} MB")
        if not options.postgres:
            print(f"file {file.stat().st_size / 1e6:.0f} MB")


def _drop(store: Store, keep: Keep, listed: set[str], what: str) -> None:
    before, steps, cpu = store.used_bytes(), [], []
    more = True
    while more:
        begun, used = time.monotonic(), time.process_time()
        more = store.drop_old(keep, head=STARTED, listed=listed, now=time.time())
        steps.append(time.monotonic() - begun)
        cpu.append(time.process_time() - used)
    print(
        f"{what}: {before / 1e6:.0f} -> {store.used_bytes() / 1e6:.0f} MB in {len(steps)} steps, "
        f"longest step {max(steps):.2f} s ({max(cpu):.2f} s of the processor), "
        f"{sum(cpu) / len(cpu):.3f} s of the processor each",
        flush=True,
    )


if __name__ == "__main__":
    main()
