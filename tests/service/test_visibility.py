"""What a stranger sees of each record: the fields that are listed, and no other one."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from schedmate.model import (
    Advice,
    Checkpoint,
    EarlyWarning,
    Finding,
    Fingerprint,
    Job,
    Match,
    PastRun,
    Prediction,
    Progress,
    Request,
    Workload,
)
from schedmate.model.profile import RunProfile
from schedmate.model.wire import to_json
from schedmate.service.views.board import seen_by
from schedmate.service.views.job_view import JobView
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
)

EVE = Viewer(user="eve", operator=False)
PRIVATE = "zebra"
SHOWN = {
    Job: "id user state request nodes cluster submit_time start_time end_time eligible_time "
    "restarts nice most_nice nice_an_hour soft_limit priority held tasks components",
    Request: "gpus gpu_type nodes cpus memory_mb time_limit_s time_min_s partition exclude_nodes "
    "required_nodes features reservation account qos",
    Progress: "schema phase unit current total fraction fraction_of epoch ends_by rate_per_s "
    "elapsed_s eta_s slowdown silence confidence cost",
    Prediction: "basis duration_s outcome gpu_memory_mb gpu_utilization",
    Advice: "schema prediction cost",
    PastRun: "job steps_done steps_unit startup_s gpu_memory_mb gpu_utilization",
}
"""What docs/reference/files.md states, by the field."""
JOB = a_job(user="ada")
VALUES: dict[str, Any] = {
    "command": (PRIVATE,),
    "logs": (PRIVATE,),
    "earlier_logs": (PRIVATE,),
    "exit_code": 77,
    "signal": 77,
    "metrics": {PRIVATE: 1.0},
    "checkpoint": Checkpoint(path=PRIVATE),
    "warnings": (EarlyWarning(reason="disk_full", text=PRIVATE),),
    "links": (PRIVATE,),
    "matches": (Match(job_id=PRIVATE, similarity=1.0, duration_s=1.0),),
    "advice": (PRIVATE,),
    "fingerprint": Fingerprint(code=PRIVATE, arguments=""),
    "profile": RunProfile(unit="step", curve=()),
    "checkpoint_step": 77,
    "workload": Workload(batch_size=Finding(value=64, source="cli")),
}
"""Of hidden fields that are no texts."""


def seen(kind, **private):
    """The record of this kind with these fields, as a stranger sees it."""
    if kind is Job:
        return EVE.job(replace(JOB, **private))
    if kind is Request:
        return EVE.job(replace(JOB, request=replace(JOB.request, **private))).request
    if kind is Progress:
        return EVE.progress(replace(a_progress(), **private), "ada")
    if kind is PastRun:
        return EVE.run(a_past_run(job=JOB, **private))
    made = replace(a_prediction(), **private) if kind is Prediction else a_prediction()
    advice = an_advice(prediction=made, **(private if kind is Advice else {}))
    found = EVE.advice(advice, "ada", lambda _: "ada")
    return found if kind is Advice else found.prediction


HIDDEN = [
    (kind, one.name)
    for kind, names in SHOWN.items()
    for one in fields(kind)
    if one.name not in names.split()
]


@pytest.mark.parametrize(("kind", "name"), HIDDEN)
def test_a_field_that_is_not_listed_is_hidden(kind, name):
    value = VALUES.get(name, PRIVATE)
    found = getattr(seen(kind, **{name: value}), name)
    assert found != value
    assert found in ("", None, (), {}, "none", Workload())


@pytest.mark.parametrize("kind", SHOWN)
def test_the_listed_ones_are_there(kind):
    assert set(SHOWN[kind].split()) <= {one.name for one in fields(kind)}
    job = replace(JOB, held=True, restarts=3, nodes=("n1",), request=Request(gpus=4, qos="long"))
    assert (EVE.job(job).held, EVE.job(job).restarts, EVE.job(job).nodes) == (True, 3, ("n1",))
    assert EVE.job(job).request == job.request


def test_of_a_view_only_what_is_listed():
    progress = a_progress(counted=PRIVATE, note=f"/home/ada/{PRIVATE}.out cannot be read")
    view = JobView(
        job=replace(JOB, comment=PRIVATE, dependency=f"afterok:{PRIVATE}"),
        progress=progress,
        diagnoses={0: a_diagnosis(summary=PRIVATE)},
    )
    assert PRIVATE not in str(to_json(seen_by(EVE, view, lambda _: "ada")))


@pytest.mark.parametrize(
    "viewer", [Viewer(user="ada", operator=False), Viewer(user="root", operator=True)]
)
def test_a_secret_in_a_comment_is_masked_for_who_may_read_it(viewer):
    job = replace(JOB, comment="for ada password=hunter22")
    assert viewer.job(job).comment == "for ada password=[redacted]"
    assert viewer.run(a_past_run(job=job)).job.comment == "for ada password=[redacted]"
