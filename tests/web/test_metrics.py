"""`/metrics`, and the dashboard and alert rules that are made of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from schedmate.config import Settings
from schedmate.model import Action, JobState, PastRun, Request, Spread
from schedmate.service.usecases.pausing import pause
from schedmate.service.usecases.persons_decisions import correct_diagnosis
from schedmate.service.wiring import open_store
from schedmate.store import KeptAdvice
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
)
from schedmate.web.metrics import Metrics
from schedmate.web.site import Site

pytestmark = pytest.mark.processes
PACKAGING = Path(__file__).parents[2] / "packaging"
RULES = PACKAGING / "prometheus" / "schedmate-rules.yml"
DASHBOARD = PACKAGING / "grafana" / "schedmate.json"
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)


def samples(served):
    text = served.get("/metrics").text
    return {
        (one.name, *sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def promtool(*words, **options):
    return subprocess.run(
        ["promtool", *words], capture_output=True, text=True, check=False, **options
    )


def test_the_board_is_shown_by_state(queue):
    found = samples(queue)
    assert found["schedmate_jobs", "RUNNING"] == 1
    assert found["schedmate_jobs", "PENDING"] == 1
    assert found["schedmate_jobs", "TIMEOUT"] == 0
    assert found["schedmate_store_up",] == 1


def test_what_was_there_before_is_not_counted_and_what_comes_is(tmp_path):
    settings = Settings(state_dir=tmp_path)
    with closing(open_store(settings)) as store:
        store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom"))
        store.keep_listed([a_job(id="1", state=JobState.FAILED)])
        site = Site.of(settings, store)
        registry = Metrics(site).registry
        site.refresh()
        store.keep_diagnosis("2", 0, a_diagnosis("gpu_ecc"))
        for comment in ("", "changed"):
            store.keep_listed([a_job(id="2", state=JobState.FAILED, comment=comment)])
            site.refresh()

        def counted(reason):
            return registry.get_sample_value("schedmate_diagnoses_total", {"reason": reason})

        assert counted("gpu_oom") is None
        assert counted("gpu_ecc") == 1


def test_a_correction_is_no_diagnosis_that_was_made(served):
    failed = a_job(id="1", state=JobState.FAILED)
    served.store.keep_diagnosis("1", 0, a_diagnosis("gpu_ecc"))
    served.show(failed)
    correct_diagnosis(served.store, failed, "network", by="ada", at=time.time(), for_all=False)
    served.show(a_job(id="1", state=JobState.FAILED, comment="changed"))
    assert served.site.board.view("1").diagnoses[0].reason == "network"
    found = samples(served)
    assert found["schedmate_diagnoses_total", "gpu_ecc"] == 1
    assert ("schedmate_diagnoses_total", "network") not in found


def test_who_is_no_operator_gets_the_number_of_diagnoses_alone(served):
    for number, reason in enumerate(("gpu_ecc", "network", "network")):
        served.store.keep_diagnosis(str(number), 0, a_diagnosis(reason))
        served.show(a_job(id=str(number), state=JobState.FAILED))
    served.taken_for("eve")
    counted = {name: value for name, value in samples(served).items() if "diagnoses" in name[0]}
    assert counted == {("schedmate_diagnoses_total", "any"): 3}


WIDE = a_prediction(duration_s=Spread(1.0, 60.0, 1e6))


@pytest.mark.parametrize(
    ("state", "took_s", "made", "counted"),
    [
        (JobState.COMPLETED, 60.0, a_prediction(60.0), 1),
        (JobState.FAILED, 60.0, a_prediction(60.0), 1),
        (JobState.COMPLETED, 0.5, a_prediction(60.0), 0),
        (JobState.CANCELLED, 60.0, a_prediction(60.0), 0),
        (JobState.COMPLETED, 60.0, WIDE, 0),
    ],
)
def test_the_page_of_accuracy_counts_the_same_runs(served, state, took_s, made, counted):
    begin = time.time() - 600
    served.store.keep_advice("1", KeptAdvice(an_advice(prediction=made), None))
    served.show(a_job(id="1", state=JobState.RUNNING, start_time=begin))
    ended = a_job(id="1", state=state, start_time=begin, end_time=begin + took_s)
    served.store.keep_run(a_past_run(job=ended))
    served.show(ended)
    totals = [n for name, n in samples(served).items() if name[0] == "schedmate_predictions_total"]
    page = served.get("/api/v1/accuracy").json["predictions"][0]
    assert (sum(totals), page["cases"]) == (counted, counted)


@pytest.mark.parametrize(
    ("took_s", "outcome", "off"), [(10, "below", 6), (60, "within", 1), (600, "above", 9.9)]
)
def test_predictions_are_compared_with_reality(served, took_s, outcome, off):
    served.store.keep_advice("1", KeptAdvice(an_advice(60.0), None))
    served.show(a_job(id="1", state=JobState.RUNNING, start_time=1000.0))
    ended = a_job(id="1", state=JobState.COMPLETED, start_time=1000.0, end_time=1000.0 + took_s)
    served.show(ended)
    found = samples(served)
    assert found["schedmate_predictions_total", outcome] == 1
    assert found["schedmate_prediction_error_ratio_sum",] == pytest.approx(off, rel=0.1)


def test_the_first_eta_is_compared_with_the_end(served):
    now = time.time()
    running = a_job(id="1", state=JobState.RUNNING, start_time=now - 100)
    for eta in (Spread(90, 100, 110), Spread(1, 1, 1)):
        served.store.keep_progress("1", 0, a_progress(eta_s=eta), at=now)
        served.show(running)
    served.show(a_job(id="1", state=JobState.COMPLETED, start_time=now - 100, end_time=now + 100))
    found = samples(served)
    assert found["schedmate_etas_total", "within"] == 1
    assert found["schedmate_eta_error_ratio_sum",] == pytest.approx(0, abs=0.01)


def test_jobs_and_strangers_paths_make_no_series(queue):
    def ask_about(numbers):
        for number in numbers:
            queue.get(f"/api/v1/jobs/{number}")
            queue.get(f"/nothing/{number}")
        return samples(queue)

    ask_about([1, 77])
    before = ask_about([1, 77])
    after = ask_about(range(30))
    assert set(after) == set(before)
    assert ("schedmate_http_requests_total", "/api/v1/jobs/{job_id}", "200", "GET") in after
    assert not any("resnet" in part for name in after for part in name)


def test_openmetrics_for_who_asks_for_it(served):
    answer = served.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


@needs_promtool
def test_promtool_finds_no_fault_with_the_metrics(queue):
    found = promtool("check", "metrics", input=queue.get("/metrics").text)
    assert (found.returncode, found.stdout + found.stderr) == (0, "")


@needs_promtool
def test_promtool_accepts_the_rules():
    assert promtool("check", "rules", str(RULES)).returncode == 0
    tested = promtool("test", "rules", str(RULES.with_suffix(".test.yml")))
    assert tested.returncode == 0, tested.stdout + tested.stderr


@needs_promtool
def test_promtool_accepts_the_example_configuration():
    found = promtool("check", "config", str(RULES.with_name("prometheus.yml")))
    assert found.returncode == 0, found.stderr


@needs_promtool
def test_promtool_accepts_every_query_of_the_dashboard(tmp_path):
    rules = [
        {"record": f"query:{number}", "expr": expression.replace("$instance", ".*")}
        for number, expression in enumerate(queries())
    ]
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    found = promtool("check", "rules", str(file))
    assert found.returncode == 0, found.stderr


def test_dashboard_and_rules_name_only_metrics_that_are_there(served):
    there = {family.name for family in text_string_to_metric_families(served.get("/metrics").text)}
    served.site.looked(time.time())
    there |= {family.name for family in text_string_to_metric_families(served.get("/metrics").text)}
    recorded = [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]
    text = "\n".join([*queries(), *(rule["expr"] for rule in recorded)])
    named = set(re.findall(r"\bschedmate_[a-z0-9_]+", text))
    bare = {re.sub("_(total|bucket|sum|count)$", "", name) for name in named}
    assert len(bare) > 10
    assert bare - there == set()


def queries():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_a_pause_and_what_came_of_actions_are_gauges(served):
    action = Action(kind="requeue", job_id="1", attempt=0, why="")
    served.store.intend(action, at=time.time())
    served.store.settle(action, "done", at=time.time())
    ended = time.time() - 60
    job = a_job(
        state=JobState.COMPLETED,
        restarts=1,
        start_time=ended - 7200,
        end_time=ended,
        request=Request(gpus=4),
    )
    served.store.keep_run(PastRun(job=job))
    pause(served.store, user="root")
    found = samples(served)
    assert found["schedmate_paused",] == 1
    assert found["schedmate_retries", "succeeded"] == 1
    assert found["schedmate_retries", "open"] == 0
    assert found["schedmate_rerun_gpu_seconds",] == pytest.approx(8 * 3600)
    assert found["schedmate_waiting_lost_seconds",] == 0
