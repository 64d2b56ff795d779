"""The settings of the proof follow their rules, and its measurements can be interrupted."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bench.proof import measuring, nice_scale, predictions, settings, table
from bench.proof.frontier import knee
from bench.proof.measuring import Case, measure_all
from bench.proof.nice_scale import Scale
from bench.proof.predictions import KeptKnowledge
from bench.proof.settings import SHAKEN_S, Window, setting, shaken
from schedmate.core import FairnessLimits
from schedmate.model import Request
from schedmate.policies import ORDERINGS, Candidate, nice_of
from schedmate.policies.orderings.ssf import SsfOrdering
from schedmate.simulator import columns_of
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.traces.synthetic import synthetic
from schedmate.testing import builders

SITE = "made up"


@pytest.fixture(autouse=True)
def one_cluster(monkeypatch):
    columns = columns_of(synthetic(400, gpus=16, load=1.2, seed=0).jobs)
    monkeypatch.setattr(settings, "_traces", lambda: {SITE: columns})
    return columns


def window(**parts):
    return Window(**{"site": SITE, "seed": 1, "jobs": 60, "past": 100, **parts})


def test_a_past_has_ended_before_the_window_begins(one_cluster):
    here = setting(window())

    assert here.past is not None
    known = len(here.past.known_at)
    assert 0 < known <= 100
    assert len(here.past.columns) == known + 60
    assert (here.past.known_at < here.columns.submit[0]).all()
    assert list(here.past.columns.ids[known:]) == list(here.columns.ids)
    assert here.workload is not None
    assert here.past.workload is not None
    assert (here.past.workload.stated_s[known:] == here.workload.stated_s).all()


def test_windows_begin_at_even_distances_behind_half_of_the_jobs(one_cluster):
    begins = [one_cluster.ids.index(setting(window(seed=k)).columns.ids[0]) for k in range(5)]

    assert begins == [200, 235, 270, 305, 340]
    assert begins[1] == one_cluster.ids.index(setting(window(past=0)).columns.ids[0])


def test_jobs_ask_for_the_load_where_they_are():
    here = setting(window(load=1.25))

    asked = settings.demand_at_submissions(here.columns)
    assert here.gpus == max(here.columns.gpus.max(), np.ceil(asked / 1.25))


def test_shaken_input_keeps_its_order_and_its_jobs():
    here = setting(window())

    moved = shaken(here, 0).columns.submit - here.columns.submit

    assert ((moved >= 0) & (moved <= SHAKEN_S)).all()
    assert (np.diff(shaken(here, 0).columns.submit) >= 0).all()
    assert (shaken(here, 1).columns.submit != shaken(here, 0).columns.submit).any()


@pytest.mark.slow
def test_predictions_are_made_once(monkeypatch, tmp_path):
    monkeypatch.setattr(predictions, "KEPT", tmp_path)
    here = setting(window())
    made = KeptKnowledge(here, window()).of("semantic")
    monkeypatch.setattr(Knowledge, "_semantic", lambda _: pytest.fail("predicted twice"))

    kept = KeptKnowledge(here, window()).of("semantic")

    for one, other in ((made.p10, kept.p10), (made.p50, kept.p50), (made.p90, kept.p90)):
        np.testing.assert_array_equal(one, other)
    assert list(made.basis or ()) == list(kept.basis or ())


@pytest.mark.parametrize(
    "file",
    [
        "simulator/engine/engine.py",
        "simulator/kernels/backfill.py",
        "simulator/experiments/execute.py",
        "policies/backfill.py",
        "core/fairness.py",
        "advisor/predict/blend.py",
    ],
)
def test_what_decides_when_jobs_end_is_part_of_the_revision(file, monkeypatch, tmp_path):
    """Kept predictions were learnt from jobs that had ended by then."""
    (tmp_path / "advisor").mkdir()
    changed = tmp_path / file
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text("before")
    monkeypatch.setattr(predictions.advisor, "__file__", str(tmp_path / "advisor" / "__init__.py"))
    before = predictions.revision.__wrapped__()

    changed.write_text("after")

    assert predictions.revision.__wrapped__() != before


def test_an_interrupted_measurement_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(predictions, "KEPT", tmp_path)
    kept = tmp_path / "rows.jsonl"
    cases = [
        Case(window=window(seed=seed), policies=("fifo",), predictors=("oracle",))
        for seed in (0, 1)
    ]
    first = list(measure_all(cases[:1], workers=1, kept=kept))
    asked = []
    real = measuring.measured
    monkeypatch.setattr(measuring, "measured", lambda case: asked.append(case) or real(case))

    rows = list(measure_all(cases, workers=1, kept=kept))

    assert asked == cases[1:]
    assert [row["seed"] for row in rows] == [0, 0, 1, 1]
    assert [row["gain"] for row in rows[:2]] == [row["gain"] for row in first]
    assert len([json.loads(line) for line in kept.read_text().splitlines()]) == 4


@pytest.mark.parametrize("changed", ["revision", "jobs", "policies", "predictors", "past"])
def test_measurements_of_anything_else_are_made_again(changed, monkeypatch, tmp_path):
    monkeypatch.setattr(predictions, "KEPT", tmp_path)
    kept = tmp_path / "rows.jsonl"
    case = Case(window=window(), policies=("fifo",), predictors=("oracle",))
    older = {
        "revision": case,
        "jobs": replace(case, window=replace(case.window, jobs=90)),
        "policies": replace(case, policies=("easy",)),
        "predictors": replace(case, predictors=("constant",)),
        "past": replace(case, window=replace(case.window, past=0)),
    }[changed]
    with monkeypatch.context() as patch:
        if changed == "revision":
            patch.setattr(measuring, "revision", lambda: "older")
        list(measure_all([older], workers=1, kept=kept))
    before = kept.read_text()

    rows = list(measure_all([case], workers=1, kept=kept))

    assert len(rows) == 2
    assert {row["case"] for row in rows}.isdisjoint(
        json.loads(line)["case"] for line in before.splitlines()
    )


@pytest.mark.slow
def test_the_table_shows_the_newest_revision_alone(monkeypatch, tmp_path, capsys):
    """A file that several revisions and pasts were measured into has each setting once."""
    monkeypatch.setattr(predictions, "KEPT", tmp_path)
    kept = tmp_path / "rows.jsonl"
    case = Case(window=window(explained=0.5), policies=("fifo",), predictors=("semantic", "oracle"))
    newest = list(measure_all([case], workers=1))
    older = [
        {**row, "revision": name, "gain": 7.0}
        for name in ("older", "oldest")
        for row in newest
        if row["predictor"] != "alone"
    ]
    other_past = [{**row, "past": 0, "gain": 7.0} for row in newest]
    again = [{**newest[0], "case": "before", "gain": 7.0}]
    rows = [*older, *other_past, *again, *newest]
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))

    monkeypatch.setattr("sys.argv", ["table", "--rows", str(kept)])
    table.main()

    printed = capsys.readouterr()
    assert "fifo | semantic | 1 | " in printed.out
    assert "7.00" not in printed.out
    assert f"revision {newest[0]['revision']}; " in printed.out
    assert "8 of 11 rows left out: 2 other revisions" in printed.err


def test_the_table_of_an_empty_file_names_the_command_that_fills_it(tmp_path):
    (tmp_path / "rows.jsonl").touch()

    with pytest.raises(SystemExit, match=r"bench\.proof\.gain"):
        table.newest_rows(tmp_path / "rows.jsonl")


def test_the_knee_is_where_longer_bounds_gain_little_more():
    bounds = [FairnessLimits(late_hours=hours) for hours in (1, 6, 12, 24, 1e6)]

    assert knee(bounds, [1.0, 1.2, 1.4, 1.41, 1.42]) == 2


@pytest.mark.parametrize(("seconds", "gpus"), [(30.0, 1), (900.0, 3), (86_400.0, 8)])
def test_a_scale_with_the_ends_of_the_product_gives_its_numbers(seconds, gpus):
    job = builders.a_job(request=Request(gpus=gpus))
    candidate = Candidate(job, builders.a_prediction(seconds))
    same = Scale("same", 300.0, SsfOrdering.longest)
    wider = Scale("wider", 10.0, 100 * SsfOrdering.longest)

    assert nice_of(same, candidate, 10_000) == nice_of(SsfOrdering(), candidate, 10_000)
    assert nice_of(wider, candidate, 10_000) != nice_of(SsfOrdering(), candidate, 10_000)


def test_scales_are_measured_in_settings_in_which_jobs_wait():
    found = nice_scale.measured(window(jobs=40), ("easy",))

    assert [scale for _, _, scale, *_ in found] == [
        nice_scale.DEFAULT,
        *(each.name for each in nice_scale.SCALES),
        *nice_scale.WIDER,
    ]
    assert all(gain > 0.0 and tail > 0.0 for *_, gain, tail in found)
    assert not ORDERINGS.keys() & {each.name for each in nice_scale.SCALES}
