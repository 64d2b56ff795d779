"""A line of one user's log is not sent to a model that reads another user's failure."""

from __future__ import annotations

from contextlib import closing

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_past_failure, an_origin
from schedmate.testing.llm import ScriptedAsker

STEPS = "".join(f"step {n} loss 0.5\n" for n in range(30))
THEIRS = "[pump] valve seven does not close, the zebrafish pressure stays high"
MINE = "[pump] valve seven does not close, pressure stays too high today"


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as opened:
        yield opened


def asked(store, line, user):
    """The prompt about a failure of this user, answered so that it is remembered."""
    case = Case(logs=(NamedLog("a.log", f"{STEPS}{line}\nbye\n".encode()),), exit_code=1, user=user)
    asker = ScriptedAsker([{"line": line, "reason": "data_error"}])
    handler = Handler(store, asker)
    handler.ask_model(case, handler.diagnose(case))
    return asker.asked[0].prompt


@pytest.mark.parametrize(("user", "shown"), [("bob", True), ("ada", False)])
def test_past_lines_are_shown_for_jobs_of_the_same_user_only(store, user, shown):
    by_bob = an_origin("operator", owner="bob")
    store.remember_failure(a_past_failure("f1", "another place", line=THEIRS, origin=by_bob))

    assert ("zebrafish" in asked(store, MINE, user)) is shown


def test_whose_line_it_is_is_remembered(store):
    asked(store, THEIRS, "bob")

    assert [past.origin.owner for past in store.past_failures()] == ["bob"]
    assert {rule.origin.owner for rule in store.learned_rules()} <= {"bob"}
