"""Public logs that are no part of the project; see the docs for where they come from."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from schedmate.tracker import track_stream

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SCHEDMATE_DATA") or ROOT.parent / "shared" / "data") / "logs"


def logs_of(archive: str, every: int) -> list[tuple[str, bytes]]:
    path = DATA / archive
    if not path.exists():
        pytest.skip(f"{archive} is not here: set SCHEDMATE_DATA to the folder with the real logs")
    with tarfile.open(path) as tar:
        members = [member for member in tar.getmembers() if member.isfile()][::every]
        return [(member.name, tar.extractfile(member).read()) for member in members]  # type: ignore[union-attr]


def test_runs_with_a_line_a_step_are_read_right_to_the_end():
    for name, text in logs_of("modded_nanogpt_sample_logs.tar.gz", every=12):
        seen = track_stream(io.BytesIO(text), name=name)
        assert (seen.unit, seen.format) == ("step", "nanogpt"), name
        assert seen.fraction is not None, name
        assert 0 < seen.fraction <= 1, name


def test_half_of_a_run_tells_its_rest_within_a_third():
    """First version: a step that grows by a schedule is only followed, not foreseen."""
    checked = 0
    for name, text in logs_of("modded_nanogpt_sample_logs.tar.gz", every=25):
        whole = track_stream(io.BytesIO(text), name=name)
        half = track_stream(io.BytesIO(text[: len(text) // 2]), name=name)
        if None in (whole.elapsed_s, half.elapsed_s, half.eta_s):
            continue
        rest = whole.elapsed_s - half.elapsed_s  # type: ignore[operator]
        assert half.eta_s.p50 == pytest.approx(rest, rel=0.34), name  # type: ignore[union-attr]
        checked += 1
    assert checked > 0


def test_slurm_outputs_of_megatron_runs():
    phases = set()
    for name, text in logs_of("bigscience_megatron_logs.tar.gz", every=1):
        seen = track_stream(io.BytesIO(text), name=name)
        phases.add(seen.phase)
        assert seen.current is not None, name
        assert seen.fraction is None or 0 <= seen.fraction <= 1, name
        if "slurmstepd: error: ***" in text.decode("utf-8", "replace"):
            assert seen.phase == "failed", name
    assert "failed" in phases
