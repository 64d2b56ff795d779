"""Secrets in our values, where another than their owner looks."""

from __future__ import annotations

import pytest

from schedmate.model import Evidence, JobState
from schedmate.model.masking import masked
from schedmate.service.views.job_view import JobView, masked_for
from schedmate.service.visibility import Viewer
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run

KEY = "sk-abcdefghijklmnopqrstuvwxyz"


def a_view(**parts):
    evidence = (Evidence("train.log", 3, f"401 for {KEY}"),)
    found = a_diagnosis("auth_error", evidence=evidence, summary=f"refused {KEY}")
    job = a_job(id="1", user="ada", name=f"run {KEY}", state=JobState.FAILED, **parts)
    return JobView(job=job, diagnoses={0: found})


def test_every_text_of_a_view_is_masked():
    view = a_view(command=("python", "train.py", f"--key={KEY}"))
    clean = masked(view)
    assert KEY not in str(clean)
    assert clean.job.command[:2] == ("python", "train.py")
    assert clean.diagnoses[0].evidence[0].line == 3
    assert clean.job.state is JobState.FAILED


def test_the_value_of_an_option_is_a_word_of_its_own():
    job = a_job(command=("train.py", "--password", "hunter2hunter2", "--epochs", "3"))
    assert masked(job).command == ("train.py", "--password", "[redacted]", "--epochs", "3")


def test_what_holds_no_secret_stays_the_same_object():
    view = JobView(job=a_job(command=("python", "train.py", "--lr", "0.1")), diagnoses={})
    assert masked(view) is view


def test_names_of_files_are_what_they_were():
    job = a_job(workdir=f"/data/{KEY}", logs=(f"/data/{KEY}/train.log",))
    assert masked(job) == job


def test_the_owner_sees_it_and_an_operator_does_not():
    view = a_view()
    assert masked_for(Viewer(user="ada", operator=False), view) is view
    assert KEY not in str(masked_for(Viewer(user="root", operator=True), view))


def test_past_runs_too():
    run = a_past_run(job=a_job(id="9", user="ada", command=("x", f"--key={KEY}")))
    assert KEY in str(Viewer(user="ada", operator=False).run(run))
    assert KEY not in str(Viewer(user="root", operator=True).run(run))


PEM = ("-----BEGIN RSA PRIVATE KEY-----", "MIIEowIB", "short1sQ", "-----END RSA PRIVATE KEY-----")
LONG = "q2Vk" * 16
"""A line within a key."""


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("quoted", [PEM, PEM[:3], PEM[1:]])
def test_a_key_whose_lines_are_quoted_one_by_one_is_masked(quoted, order):
    around = (Evidence("train.log", 1, "before"), Evidence("train.log", 90, "after"))
    elsewhere = Evidence("other.log", 11, "short1sQ of another file")
    lines = [Evidence("train.log", 10 + place, text) for place, text in enumerate(quoted)]
    found = a_diagnosis(
        evidence=(*around, elsewhere, *lines)[::order], summary="ended after MIIEowIB"
    )
    clean = masked(found)
    assert [(one.file, one.line) for one in clean.evidence] == [
        (one.file, one.line) for one in found.evidence
    ]
    shown = {one.text for one in clean.evidence}
    assert not {"MIIEowIB", "short1sQ"} & shown
    assert "MIIEowIB" not in clean.summary
    assert elsewhere.text in shown
    if quoted != PEM[1:]:
        assert "before" in shown
    if quoted != PEM[:3]:
        assert "after" in shown


@pytest.mark.parametrize(
    ("line", "hidden"), [(LONG, True), (f"{LONG}==", True), ("ab12" * 16, False), ("A" * 64, False)]
)
def test_a_line_that_is_nothing_but_a_key_is_masked(line, hidden):
    found = a_diagnosis(evidence=(Evidence("train.log", 3, line),), summary=f"it printed {line}")
    assert (line not in str(masked(found))) is hidden
