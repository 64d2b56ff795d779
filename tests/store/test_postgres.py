"""The store in PostgreSQL keeps the contract of all stores, and outlives its server's restart."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from schedmate.disk.database import Database
from schedmate.model import Action, BadInput, JobState, LeaseLost, PastRun, StoreUnavailable
from schedmate.store import KeptEvent, moving
from schedmate.store.lease import DatabaseLease
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.moving import copied_to_file, move_to_postgres
from schedmate.store.postgres import PostgresDatabase, PostgresStore
from schedmate.store.postgres_tables import POSTGRES_MIGRATIONS, without_password
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, a_progress
from schedmate.testing.store_contract import StoreContract

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.store import Store
    from schedmate.testing.postgres import PostgresServer

pytestmark = pytest.mark.processes


def url_for(server: PostgresServer, path: Path) -> str:
    return server.database("t" + hashlib.sha256(str(path).encode()).hexdigest()[:16])


def ended(job_id: str) -> PastRun:
    return a_past_run(job=a_job(id=job_id, state=JobState.COMPLETED, end_time=float(len(job_id))))


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def use(self, postgres: PostgresServer) -> None:
        self.server = postgres

    def open(self, path: Path, scheduler: str) -> Store:
        return PostgresStore(url_for(self.server, path), scheduler=scheduler)


def test_both_databases_have_the_same_tables(postgres: PostgresServer, tmp_path: Path):
    columns = (
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'schedmate' AND column_name <> 'rowid'"
    )
    with closing(PostgresDatabase(url_for(postgres, tmp_path))) as db:
        there = {row for row in db.rows(columns) if row[0] not in ("format", "leases")}
    with closing(Database(tmp_path / "store", MIGRATIONS)) as lite:
        here = set(
            lite.rows(
                "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c"
                " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"
            )
        )
    assert there == here


def test_a_server_that_goes_and_comes_back(postgres: PostgresServer, tmp_path: Path):
    with closing(PostgresStore(url_for(postgres, tmp_path))) as store:
        store.keep_run(a_past_run())
        postgres.stop("immediate")
        try:
            with pytest.raises(StoreUnavailable, match="the store postgresql://postgres@/t"):
                store.recent_runs()
            with pytest.raises(StoreUnavailable), store.together():
                store.keep_run(a_past_run())
        finally:
            postgres.start()
        assert len(store.recent_runs()) == 1


def test_one_of_a_newer_version_is_left_alone(postgres: PostgresServer, tmp_path: Path):
    url = url_for(postgres, tmp_path)
    PostgresDatabase(url, (*POSTGRES_MIGRATIONS, ())).close()
    with pytest.raises(BadInput, match="made by a newer SchedMate"):
        PostgresStore(url)


def test_no_server(tmp_path: Path):
    with pytest.raises(BadInput, match=r"postgresql://me@/db cannot be opened .*is the server up"):
        PostgresStore(f"postgresql://me:secret@/db?host={tmp_path}")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://host/db?password=secret", "postgresql://host/db"),
        ("postgresql:///db", "postgresql:///db"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str):
    assert without_password(url) == shown


class TestMoving:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "store"
        with closing(SqliteStore(path)) as store:
            store.keep_runs([ended(str(number)) for number in range(2500)])
            store.keep_progress("1", 0, a_progress(note="odd \0 text"), at=1.0)
            store.intend(Action(kind="requeue", job_id="1", attempt=0, why="x"), at=1.0)
            event = KeptEvent(at=1.0, kind="k", job_id="1", body="{}")
            store.keep_events([event], most=10)
            store.keep_events([event], most=10, handled=False)
        return path

    def test_there_and_back(self, postgres: PostgresServer, tmp_path: Path, file: Path):
        url = url_for(postgres, tmp_path)
        shown = []

        moved = move_to_postgres(file, url, lambda *one: shown.append(one))
        copied_to_file(url, tmp_path / "back")

        assert (moved.rows["runs"], moved.rows["events"]) == (2500, 2)
        assert ("runs", 2000, 2500) in shown
        with (
            closing(SqliteStore(file)) as first,
            closing(PostgresStore(url)) as there,
            closing(SqliteStore(tmp_path / "back")) as back,
        ):
            assert first.sizes() == there.sizes() == back.sizes()
            assert first.created_at() == there.created_at()
            assert first.actions() == there.actions() == back.actions()
            assert {run.job.id for run in there.recent_runs(limit=5000)} == {
                str(number) for number in range(2500)
            }
            assert len(there.unhandled_events()) == len(back.unhandled_events()) == 1
            assert sorted(first.newest_sketches(2500)) == sorted(there.newest_sketches(2500))
            assert there.intend(Action(kind="hold", job_id="2", attempt=0, why="x"), at=2.0)
            there.keep_run(ended("new"))

    def test_each_table_is_read_in_one_pass(
        self, postgres: PostgresServer, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """A statement for every thousand rows would sort the table as often."""
        seen: list[str] = []

        class Traced(Database):
            def __init__(self, *args: Any) -> None:
                super().__init__(*args)
                self._connection.set_trace_callback(seen.append)

        monkeypatch.setattr(moving, "SqliteDatabase", Traced)
        move_to_postgres(file, url_for(postgres, tmp_path), lambda *_: None)
        assert sum("FROM runs" in one for one in seen) == 3, "counted, copied and checked"

    def test_a_database_in_use_is_left_alone(
        self, postgres: PostgresServer, tmp_path: Path, file: Path
    ):
        url = url_for(postgres, tmp_path)
        with closing(PostgresStore(url)) as store:
            store.keep_run(ended("theirs"))
        with pytest.raises(BadInput, match="is in use already; name an empty database"):
            move_to_postgres(file, url, lambda *_: None)
        with closing(PostgresStore(url)) as store:
            assert [run.job.id for run in store.recent_runs()] == ["theirs"]


class TestLease:
    def test_one_holds_it_until_it_runs_out(self, postgres: PostgresServer, tmp_path: Path):
        url = url_for(postgres, tmp_path)
        first, second = (
            DatabaseLease(PostgresDatabase(url), "slurm", name) for name in ("one", "two")
        )
        other = DatabaseLease(PostgresDatabase(url), "local", "two")
        try:
            assert first.take()
            assert not second.take()
            assert other.take(), "each scheduler has its own"
            assert second.other_holder() == "one"
            with closing(PostgresDatabase(url)) as db:
                db.run("UPDATE leases SET until = clock_timestamp() - interval '1 second'")
            assert second.take()
            assert not first.take()
        finally:
            for lease in (first, second, other):
                lease.release()

    def test_who_lost_it_writes_down_nothing(self, postgres: PostgresServer, tmp_path: Path):
        url = url_for(postgres, tmp_path)
        action = Action(kind="requeue", job_id="1", attempt=0, why="x")
        one, two = (DatabaseLease(PostgresDatabase(url), "local", name) for name in ("one", "two"))
        with (
            closing(PostgresStore(url, holder="one")) as stale,
            closing(PostgresStore(url, holder="two")) as decides,
        ):
            assert one.take()
            one.release()
            assert two.take()
            with pytest.raises(LeaseLost):
                stale.intend(action, at=1.0)
            assert stale.actions() == []
            assert decides.intend(action, at=1.0)
            assert not decides.intend(action, at=2.0), "once"
            two.release()


def test_what_was_kept_with_a_nul_is_searched_again(postgres: PostgresServer, tmp_path: Path):
    url = url_for(postgres, tmp_path)
    with closing(PostgresStore(url)) as store:
        store.keep_run(replace(ended("1"), job=replace(ended("1").job, state=JobState.FAILED)))
        store.keep_diagnosis("1", 0, a_diagnosis("network", summary="a mark b"))
    with closing(PostgresDatabase(url)) as raw:
        raw.run("UPDATE diagnoses SET body = replace(body, 'mark', ?)", (r"\\u0000 \u0000\u0000",))
    with closing(PostgresStore(url)) as store:
        assert store.page_of_runs(user=None, reason="network", limit=5, offset=0)
