"""A verb loads what it needs: counted by modules, since time depends on the machine."""

from __future__ import annotations

import pytest

from bench.speed import startup

pytestmark = pytest.mark.processes

NOT_FOR_A_LOOK = {
    "numpy",
    "pydantic",
    "asyncio",
    "schedmate.advisor.advisor",
    "schedmate.handler.handler",
    "schedmate.handler.rules",
    "schedmate.policies.registry",
    "schedmate.simulator",
    "schedmate.tracker.formats",
}
"""What looking at the queue needs nothing of, where the daemon has read logs and diagnosed."""


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    with startup.two_jobs(tmp_path_factory.mktemp("startup")) as env:
        yield env


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["jobs"], "COMPLETED"),
        (["jobs", "--json"], "COMPLETED"),
        (["eta", "1"], "has ended"),
        (["why", "1"], "COMPLETED"),
        (["why", "2"], "import_error"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_look_at_the_queue_loads_nothing_heavy(queue, words, said):
    seen = startup.call(words, queue)

    assert said.lower() in seen.printed.lower()
    assert seen.modules & NOT_FOR_A_LOOK == set()
    assert "schedmate.service.views.job_view" in seen.modules


def test_a_log_is_tracked_without_what_only_asking_a_model_needs(queue, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {step}/9 loss 1.0\n" for step in range(1, 7)))

    seen = startup.call(["track", str(log)], queue)

    assert "6/9" in seen.printed
    assert seen.modules & {"numpy", "pydantic", "schedmate.advisor", "schedmate.handler"} == set()
    assert "schedmate.tracker.formats" in seen.modules


def test_a_job_that_was_read_before_is_advised_without_an_interpreter(queue, tmp_path):
    (tmp_path / "train.py").write_text("for step in range(9):\n    print(step)\n")
    words = ["advise", "--dir", str(tmp_path), "--no-llm", "--", "python", "train.py"]

    first, second = (startup.call(words, queue).modules for _ in range(2))

    heavy = {"schedmate.advisor.frameworks", "schedmate.advisor.options"}
    assert heavy <= first
    assert second & {*heavy, "schedmate.advisor.agent", "pydantic"} == set()


def test_a_first_job_is_advised_without_what_weighs_past_runs(tmp_path):
    (tmp_path / "train.py").write_text("for step in range(9):\n    print(step)\n")
    words = ["advise", "--dir", str(tmp_path), "--", "python", "train.py"]

    seen = startup.call(words, startup.environment(tmp_path))

    assert "no past run resembles it" in seen.printed
    assert seen.modules & {"numpy", "pydantic", "schedmate.advisor.predict.neighbours"} == set()
