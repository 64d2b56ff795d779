"""The table of levers, on a cluster that is made up."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from bench.proof import levers, predictions, settings
from bench.proof.levers import LEVERS, SHARES, Task, lever_of, measured
from bench.proof.settings import Window
from schedmate.simulator import columns_of
from schedmate.simulator.traces.synthetic import synthetic

SITE = "made up"


@pytest.fixture(autouse=True)
def one_cluster(monkeypatch, tmp_path):
    columns = columns_of(synthetic(400, gpus=16, load=1.2, seed=0).jobs)
    monkeypatch.setattr(settings, "_traces", lambda: {SITE: columns})
    monkeypatch.setattr(predictions, "KEPT", tmp_path)


def test_a_lever_uses_its_own_shares_alone():
    assumed = SHARES["assumed"]

    assert not lever_of("order", assumed)
    assert lever_of("all", assumed) == assumed
    requeue = lever_of("requeue", assumed)
    assert (requeue.resumable, requeue.shareable, requeue.doomed) == (0.6, 0.0, 0.0)


def test_every_lever_has_a_row_by_every_control_and_only_stops_are_blind():
    window = Window(site=SITE, seed=1, jobs=60, past=100)
    shares = replace(SHARES["assumed"], doomed=0.5)
    task = Task(window, tuple(LEVERS), ("las", "blind"), shares, 1.0)

    rows = measured(task)

    found = [(row["lever"], row["control"]) for row in rows if row["policy"] == "easy"]
    blind = [lever for lever, control in found if control == "blind"]
    assert [lever for lever, control in found if control == "las"] == list(LEVERS)
    assert blind == ["requeue", "all"]
    order = next(row for row in rows if (row["lever"], row["control"]) == ("order", "las"))
    assert order["gain"] == 1.0  # nothing is known, so nothing is moved
    stopping = next(row for row in rows if (row["lever"], row["control"]) == ("stopping", "las"))
    assert stopping["actions"]["cancel"] > 0
    assert stopping["gpu_time"] < 1.0


@pytest.mark.slow
def test_the_command_shows_a_table_and_keeps_its_rows(monkeypatch, capsys, tmp_path):
    kept = tmp_path / "rows.jsonl"
    words = ["levers", "--sites", SITE, "--seeds", "1", "--jobs", "60"]
    words += ["--levers", "order,all", "--controls", "las,oracle", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", [*words, "--rows", str(kept)])

    levers.main()
    first, lines = capsys.readouterr().out, kept.read_text().splitlines()
    levers.main()

    assert "easy: " in first
    assert "oracle" in first
    assert len(lines) == 2 * 2 * 2
    assert kept.read_text().splitlines() == lines


@pytest.mark.slow
def test_gain_over_load_is_drawn_with_published_clusters(monkeypatch, tmp_path):
    picture = tmp_path / "levers.svg"
    words = ["levers", "--sites", SITE, "--seeds", "1", "--jobs", "60", "--levers", "order,all"]
    words += ["--by-load", "--figure", str(picture), "--workers", "1"]
    monkeypatch.setattr(sys, "argv", words)

    levers.main()

    drawn = picture.read_text()
    assert "ThetaGPU 0.59" in drawn
    assert "1 + wait/run" in drawn
