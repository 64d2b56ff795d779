"""A job that has counted to its total and is silent, while the scheduler reports that it runs."""

from __future__ import annotations

from pathlib import Path

from schedmate.core.hangs import is_suspect
from schedmate.tracker import JobTracker

STEPS, EVERY_S, HANG_S = 100, 10.0, 600.0


def suspected_after_s(log: Path, total: int) -> tuple[float, set[str]]:
    """Seconds of silence until the job is a suspect, and the phases shown until then."""
    tracker, phases, now = JobTracker([log], started_at=0.0), set(), 0.0
    with log.open("w") as out:
        for step in range(1, STEPS + 1):
            now = step * EVERY_S
            out.write(f"step {step}/{total} loss {9 / step:.4f}\n")
            out.flush()
            progress = tracker.poll(now, writing=True)
    silent_s = 0.0
    while not is_suspect(progress, HANG_S) and silent_s < 100 * HANG_S:
        silent_s += EVERY_S
        progress = tracker.poll(now + silent_s, writing=True)
        phases.add(progress.phase)
    return silent_s, phases


def test_it_is_a_suspect_as_late_as_any_other_silent_job(tmp_path: Path):
    at_end, phases = suspected_after_s(tmp_path / "at_end.log", STEPS)
    half_way, others = suspected_after_s(tmp_path / "half_way.log", 2 * STEPS)

    assert at_end == half_way >= HANG_S
    assert "finished" not in phases | others
