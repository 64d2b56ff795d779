"""What every answer of the API has: tags, HEAD, one shape of errors; and the ids of Slurm."""

from __future__ import annotations

import time

import pytest

from schedmate.model import JobState, Match, Request
from schedmate.service.views.board import seen_by
from schedmate.service.views.job_view import JobView
from schedmate.service.visibility import Viewer
from schedmate.store import KeptAdvice
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
)
from schedmate.web.progress_api import scheduled

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/jobs/1", "/api/v1/jobs/1/progress"])
def test_who_has_it_already_gets_304(queue, path):
    first = queue.get(path)
    tag = first.headers["etag"]
    assert "private" in first.headers["cache-control"]
    again = queue.get(path, **{"If-None-Match": f'"other", W/{tag}'})
    assert (again.status, again.text) == (304, "")
    assert again.headers["etag"] == tag
    assert queue.get(path, **{"If-None-Match": '"other"'}).status == 200
    queue.store.keep_progress("1", 0, a_progress(current=60.0), at=2.0)
    queue.site.refresh()
    assert queue.get(path, **{"If-None-Match": tag}).status == 200


@pytest.mark.parametrize("path", ["/", "/jobs/1", "/api/v1/jobs", "/metrics", "/healthz"])
def test_head_is_get_without_a_body(queue, path):
    answer = queue.ask("HEAD", path)
    assert (answer.status, answer.text) == (200, "")
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/api/v1/jobs", 405),
        ("DELETE", "/api/v1/jobs/1", 405),
        ("HEAD", "/api/v1/events", 405),
        ("GET", "/api/v1/advise", 405),
        ("GET", "/api/v1/jobs?state=SLEEPING", 422),
        ("GET", "/api/v1/predictions?state=x", 422),
        ("GET", "/api/v1/jobs/77/progress", 404),
        ("GET", "/api/v1/history/77", 404),
        ("GET", "/api/v1/advise/none", 404),
    ],
)
def test_every_error_is_a_problem(served, method, path, status):
    answer = served.ask(method, path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    if method != "HEAD":
        assert answer.json["status"] == status
    if status == 405:
        assert answer.headers["allow"]


def test_a_state_that_is_none_is_named(served):
    assert "'SLEEPING'" in served.get("/api/v1/jobs?state=RUNNING,SLEEPING").json["detail"]


def test_tasks_that_wait_together_are_shown_by_their_array(served):
    served.show(a_job(id="8", tasks=5), a_job(id="8_0", state=JobState.RUNNING), a_job(id="9"))
    assert served.get("/api/v1/jobs/8_2").json["job"]["id"] == "8"
    assert served.get("/api/v1/jobs/8_0").json["job"]["state"] == "RUNNING"
    assert served.get("/api/v1/jobs/9_2").status == 404
    parts = served.get("/api/v1/jobs/8").json["parts"]
    assert [(one["state"], one["tasks"]) for one in parts] == [("PENDING", 5), ("RUNNING", 1)]


def test_an_array_of_which_only_tasks_are_listed(served):
    served.show(*(a_job(id=f"8_{number}", state=JobState.RUNNING) for number in (1, 3)))
    found = served.get("/api/v1/jobs/8").json
    assert found["job"]["id"] == "8_1"
    assert found["parts"][0]["ids"] == ["8_1", "8_3"]


def test_a_part_of_a_heterogeneous_job(served):
    served.show(a_job(id="9", components=("9+0", "9+1")))
    assert served.get("/api/v1/jobs/9+1").json["job"]["id"] == "9"
    assert served.get("/api/v1/jobs/9%2B1").json["job"]["id"] == "9"
    assert served.get("/api/v1/jobs/9+7").status == 404


def test_a_scheduler_gets_what_it_plans_with(served):
    request = Request(gpus=4, partition="a100")
    now = time.time()
    served.store.keep_advice("1", KeptAdvice(an_advice(600.0), None))
    served.store.keep_advice("2", KeptAdvice(an_advice(60.0), None))
    served.store.keep_progress("1", 0, a_progress(), at=now)
    running = {"state": JobState.RUNNING, "start_time": now - 100}
    served.show(a_job(id="1", request=request, **running), a_job(id="2"), a_job(id="3"))
    found = served.get("/api/v1/predictions").json
    assert found["total"] == 3
    first, second, third = found["predictions"]
    assert (first["gpus"], first["partition"], first["progress"]) == (4, "a100", 0.5)
    assert first["remaining_from"] == "log"
    assert first["confidence"] == 0.9
    assert first["elapsed_s"] == pytest.approx(100, abs=30)
    assert set(first["remaining_s"]) == {"p10", "p50", "p90"}
    assert (second["remaining_s"], second["duration_s"]["p50"]) == (None, 60.0)
    assert (third["basis"], third["confidence"], third["duration_s"]) == ("none", 0.0, None)
    one = served.get("/api/v1/jobs/1/prediction").json
    assert one["duration_s"] == first["duration_s"]


def test_predictions_come_in_pages(served):
    served.show(*(a_job(id=str(number), submit_time=number) for number in range(5)))
    first = served.get("/api/v1/predictions?limit=3").json
    second = served.get(f"/api/v1/predictions{first['next']}").json
    ids = [one["job_id"] for one in (*first["predictions"], *second["predictions"])]
    assert ids == list("01234")
    assert second["next"] is None


def test_short_answers(queue):
    why = queue.get("/api/v1/jobs/3/why").json
    assert (why["reason"], "gpu_oom" in why["answer"]) == ("gpu_oom", True)
    eta = queue.get("/api/v1/jobs/1/eta").json
    assert eta["predicted_s"]["p50"] == 60.0
    assert eta["answer"].startswith("job 1")


def test_the_runs_behind_a_prediction(served):
    failed = a_job(id="7", name="before", state=JobState.FAILED)
    served.store.keep_run(a_past_run(job=failed))
    served.store.keep_diagnosis("7", 0, a_diagnosis("gpu_oom"))
    made = a_prediction(matches=(Match(job_id="7", similarity=0.9, duration_s=60.0),))
    served.store.keep_advice("1", KeptAdvice(an_advice(prediction=made), None))
    served.show(a_job(id="1"))
    found = served.get("/api/v1/jobs/1/similar").json
    assert found["explanation"] == "like job 812"
    [run] = found["runs"]
    assert (run["job_id"], run["state"], run["reason"]) == ("7", "FAILED", "gpu_oom")


def test_history_in_pages(served):
    runs = [
        a_past_run(job=a_job(id=str(number), state=JobState.COMPLETED, end_time=2000.0 + number))
        for number in range(5)
    ]
    served.store.keep_runs(runs)
    first = served.get("/api/v1/history?limit=3").json
    second = served.get(f"/api/v1/history{first['next']}").json
    assert [run["job"]["id"] for run in (*first["runs"], *second["runs"])] == list("43210")
    assert second["next"] is None
    assert served.get("/api/v1/history/3").json["schema"] == "schedmate.run/1"


def test_the_load_by_user_and_partition(queue):
    found = queue.get("/api/v1/summary").json
    assert found["states"] == {"RUNNING": 1, "PENDING": 1, "FAILED": 1}
    assert found["users"]["nobody"]["pending"] == 1
    assert found["failures"] == {"gpu_oom": 1}


def test_who_asks(served):
    assert served.get("/api/v1/me").json["operator"] is True


def test_steps_and_time_have_a_share_each(served):
    """Its limit ends the job at 90 % of its time, when a quarter of its steps is done."""
    now = time.time()
    counted = {"unit": "step", "current": 25.0, "total": 100.0, "ends_by": "limit"}
    seen = a_progress(fraction=0.9, fraction_of="time", **counted)
    served.store.keep_progress("1", 0, seen, at=now)
    served.show(a_job(id="1", state=JobState.RUNNING, start_time=now - 100))
    planned = served.get("/api/v1/jobs/1/prediction").json
    assert (planned["progress"], planned["time_progress"]) == (0.25, 0.9)
    shown = served.get("/api/v1/jobs/1/progress").json
    assert (shown["work_fraction"], shown["time_fraction"]) == (0.25, 0.9)
    assert "90 % of its time" in served.get("/jobs/1").text


def test_a_share_of_the_steps_is_none_of_the_time(served):
    served.store.keep_progress("1", 0, a_progress(), at=time.time())
    served.show(a_job(id="1", state=JobState.RUNNING, start_time=time.time() - 100))
    planned = served.get("/api/v1/jobs/1/prediction").json
    assert (planned["progress"], planned["time_progress"]) == (0.5, None)
    assert "of its time" not in served.get("/jobs/1").text


def test_a_prediction_has_nothing_that_a_stranger_may_not_see():
    """So that lists of them need no look at who asks."""
    view = JobView(
        job=a_job(state=JobState.RUNNING, start_time=1.0),
        advice=an_advice(600.0),
        progress=a_progress(),
        progress_at=2.0,
        diagnoses={},
    )
    hidden = seen_by(Viewer(user="eve", operator=False), view, lambda _: "")
    assert hidden != view
    assert scheduled(hidden, {}, 3.0) == scheduled(view, {}, 3.0)
