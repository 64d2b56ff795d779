"""The live service: what a model answers for one job is a proposal for the next."""

import time
from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.handler import Handler
from schedmate.handler.learning import Teaching
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.llm import ScriptedAsker
from schedmate.testing.scheduler import FakeScheduler

STEPS = "".join(f"step {n} loss 0.5\n" for n in range(30))
SPOKEN = "[pump] valve 7 does not close, pressure 3.25 stays"


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as opened:
        yield opened


@pytest.fixture
def live(store):
    scheduler = FakeScheduler()
    daemon = Daemon(
        engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store, ScriptedAsker([{"line": SPOKEN, "reason": "data_error"}])),
        actions=Actions(scheduler, store, "act"),
    )
    yield scheduler, daemon
    daemon.close()


def put(scheduler, tmp_path, job_id, text):
    log = tmp_path / f"{job_id}.log"
    log.write_text(text)
    job = a_job(id=job_id, state=JobState.FAILED, workdir=str(tmp_path), exit_code=1)
    scheduler.put(replace(job, logs=(str(log),)))


def test_a_models_answer_is_used_for_the_next_job_once_accepted(live, store, tmp_path):
    scheduler, daemon = live
    put(scheduler, tmp_path, "1", f"{STEPS}{SPOKEN}\nbye\n")
    daemon.cycle(2000.0)
    assert store.diagnoses("1")[0].reason == "unknown"
    deadline = time.monotonic() + 60
    while store.diagnoses("1")[0].reason == "unknown" and time.monotonic() < deadline:
        time.sleep(0.02)
        daemon.cycle(2001.0)
    assert store.diagnoses("1")[0].source == "llm"

    (rule,) = store.learned_rules()
    assert not rule.asked
    Teaching(store).accept(rule, by="ada")
    put(scheduler, tmp_path, "2", f"{STEPS}{SPOKEN.replace('7', '12')}\nso long\nbye\n")
    daemon.cycle(2002.0)

    found = store.diagnoses("2")[0]
    assert (found.reason, found.source) == ("data_error", "rule")
    assert found.rule == store.learned_rules()[0].id
    assert store.learned_rules()[0].hits == 1
    assert scheduler.calls == []
