"""What an account without operator rights does to whose jobs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.model import Action, JobState
from schedmate.model.account import account_name
from schedmate.schedulers.base import Rights
from schedmate.service.account import Account
from schedmate.service.actions import Actions
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler

ORDINARY = Rights(everyone=False, role="ordinary user")
OPERATOR = Rights(everyone=True, role="operator")


class OfManyUsers(FakeScheduler):
    allowed = ORDINARY

    def rights(self):
        return self.allowed


@pytest.mark.parametrize(
    ("rights", "kind", "mine", "state"),
    [
        (ORDINARY, "cancel", True, "done"),
        (ORDINARY, "cancel", False, "observed"),
        (ORDINARY, "set_nice", True, "observed"),
        (ORDINARY, "set_nice", False, "observed"),
        (OPERATOR, "cancel", False, "done"),
        (OPERATOR, "set_nice", False, "done"),
    ],
)
def test_own_jobs_only_and_no_ordering_without_operator_rights(tmp_path, rights, kind, mine, state):
    scheduler = OfManyUsers()
    scheduler.allowed = rights
    user = account_name() if mine else "somebody-else"
    running = JobState.RUNNING if kind == "cancel" else JobState.PENDING
    scheduler.put(replace(a_job(state=running), user=user))
    action = Action(kind=kind, job_id="1", attempt=0, why="", value=7.0)

    with closing(SqliteStore(tmp_path / "store")) as store:
        actions = Actions(scheduler, store, "act")
        actions.carry_out(action, 1.0)
        actions.finish_interrupted(2.0)

        assert [record.state for record in store.actions()] == [state]


@pytest.mark.parametrize(
    ("mode", "root", "rights", "said"),
    [
        ("observe", True, OPERATOR, ()),
        ("assist", True, OPERATOR, ()),
        ("act", True, OPERATOR, ("mode act as root",)),
        ("act", True, None, ("mode act as root",)),
        ("act", False, OPERATOR, ()),
        ("observe", False, ORDINARY, ()),
        ("assist", False, ORDINARY, ("ordering is switched off",)),
        (
            "act",
            False,
            ORDINARY,
            ("ordering is switched off", "a job that is queued again loses its age"),
        ),
    ],
)
def test_who_is_warned_of_what(mode, root, rights, said):
    told = Account(user="ada", root=root, rights=rights).warnings(mode)

    assert tuple(one.partition(":")[0] for one in told) == said
