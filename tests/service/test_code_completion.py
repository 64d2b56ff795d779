"""A model's answer about a job's code comes beside the loop, and makes the record better later."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import pytest

from schedmate.cli import main
from schedmate.config import LlmSettings
from schedmate.model import JobState
from schedmate.service.daemon.assembling import assemble
from schedmate.testing.llm import refuses, says, serving
from schedulers.local_site import wait_for
from service.place import Place

pytestmark = pytest.mark.processes

CODE = """\
from elsewhere import net, run
import torch, time

train_batch_amount = 48
run(net, train_batch_amount)
"""
NOTHING_MORE = {"step": "answer", "answers": []}


@dataclass
class Asking(Place):
    base_url: str = ""
    advice: bool = True

    @property
    def settings(self):
        llm = LlmSettings(base_url=self.base_url, advice=self.advice)
        return replace(super().settings, llm=llm)


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    made = []

    def make(**parts):
        made.append(Asking(tmp_path, **parts))
        (made[-1].work / "train.py").write_text(CODE)
        return made[-1]

    yield make
    for place in made:
        place.leave()


def waiting(place):
    """A job that waits behind two that keep both slots."""
    first = [place.submit("sleep 600") for _ in range(2)]
    started = JobState.RUNNING
    wait_for(lambda: all(place.job(one).state is started for one in first), "both to run")
    job_id = place.submit("python3 train.py")
    assert place.job(job_id).state is JobState.PENDING
    return job_id


def record(place, job_id):
    with place.store() as store:
        return store.advice(job_id).advice.workload


def test_the_record_of_a_waiting_job_gets_better(asking):
    with serving(says({"batch_size": "48"}), says(NOTHING_MORE)) as model:
        place = asking(base_url=model.base_url)
        job_id = waiting(place)
        assert record(place, job_id).batch_size is None
        with assemble(place.settings) as daemon:

            def answered():
                daemon.cycle(time.time())
                return record(place, job_id).batch_size is not None

            wait_for(answered, "the answer about the code")
            asked = len(model.requests)
            for _ in range(3):
                daemon.cycle(time.time())
        assert record(place, job_id).batch_size.source == "llm"
        assert len(model.requests) == asked, "a job is asked about once"
        with place.store() as store:
            causes = [row.body for row in store.events() if row.kind == "JobAdvised"]
        assert any('"refined"' in body for body in causes)


def test_a_model_that_fails_leaves_the_record_as_it_was(asking):
    with serving(*[refuses(500)] * 20) as model:
        place = asking(base_url=model.base_url)
        job_id = waiting(place)
        before = record(place, job_id)
        with assemble(place.settings) as daemon:

            def asked():
                daemon.cycle(time.time())
                return bool(model.requests)

            wait_for(asked, "a question")
            daemon.cycle(time.time())
        assert record(place, job_id) == before


def test_by_default_no_model_is_asked_about_code(asking):
    assert LlmSettings().advice is False
    with serving() as model:
        place = asking(base_url=model.base_url, advice=False)
        waiting(place)
        for _ in range(3):
            place.one_look()
        assert model.requests == []


def test_serve_takes_no_llm(asking, monkeypatch):
    with serving() as model:
        place = asking(base_url=model.base_url)
        waiting(place)
        monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(place.settings.state_dir))
        monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", model.base_url)
        monkeypatch.setenv("SCHEDMATE_LLM__ADVICE", "true")
        with pytest.raises(SystemExit) as ended:
            main(["serve", "--once", "--no-llm"])
        assert ended.value.code == 0
        assert model.requests == []
