"""The remaining time of a job whose code makes its steps larger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.service.records.run_tracking import track_run
from service.place import Place

CODE = """
import torch

train_bs_schedule = (8, 16, 24)
for step in range(300):
    print(step)
"""
LINES = "".join(
    f"step:{step}/300 train_time:{step * 1000}ms loss:{3 - step / 200:.3f}\n"
    for step in range(1, 61)
)
LEFT_S = 540.0
"""Steps of 1, 2 and 3 seconds, a third of them each, after 60 of 300."""


@pytest.mark.processes
def test_a_schedule_in_the_code_is_part_of_the_remaining_time(tmp_path: Path):
    place = Place(tmp_path)
    (place.work / "train.py").write_text(CODE)
    job = place.job(place.submit("python3 train.py"))
    log = tmp_path / "train.log"
    log.write_text(LINES)
    with place.store() as store:
        job = replace(job, logs=(str(log),), start_time=None)
        eta = track_run(job, store).tracker.poll(log.stat().st_mtime).eta_s
        (place.work / "train.py").write_text("print('something else')")
        without = track_run(job, store).tracker.poll(log.stat().st_mtime).eta_s
    assert eta is not None
    assert without is not None
    assert eta.p50 == pytest.approx(LEFT_S, rel=0.25)
    assert without.p50 < 0.6 * LEFT_S
