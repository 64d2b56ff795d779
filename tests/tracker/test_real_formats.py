"""What the exact formats read in public logs is what a plain look at the text finds there."""

from __future__ import annotations

import io
import re
from functools import cache

import pytest

from schedmate.tracker import track_stream
from schedmate.tracker.formats.megatron import Megatron
from schedmate.tracker.formats.mlperf import MlPerf
from tracker.test_real_data import logs_of

pytestmark = pytest.mark.slow

MEGATRON = "bigscience_megatron_logs.tar.gz"
MLPERF = "mlperf_sample_logs.tar.gz"
ITERATION = re.compile(r"^ iteration +(\d+)/ +(\d+) \|", re.MULTILINE)
BAR = re.compile(r"(\d+)/(\d+) \[\d+:\d+<")
COUNT = re.compile(
    r'"key": "(epoch_st\w+|block_start|block_stop(?!.*first_epoch)|eval_accuracy)", .*'
    r'"(?:epoch_num|first_epoch_num|samples_count)": ([\d.]+)'
)
STATUS = re.compile(r'"key": "run_stop", .*"status": "(\w+)"')


@cache
def texts(archive: str) -> list[tuple[str, str]]:
    return [(name, raw.decode("utf-8", "replace")) for name, raw in logs_of(archive, every=1)]


def tracked(name: str, text: str):
    return track_stream(io.BytesIO(text.encode()), name=name)


def test_every_iteration_that_megatron_prints_is_read():
    checked = 0
    for name, text in texts(MEGATRON):
        printed = [(float(done), float(total)) for done, total in ITERATION.findall(text)]
        sightings = [seen for line in text.split("\n") if (seen := Megatron().read(line.strip()))]
        counts = [(seen.current, seen.total) for seen in sightings if seen.current is not None]
        assert counts == printed, name
        assert all(seen.rate_per_s for seen in sightings if seen.current is not None), name
        checked += len(printed)
    assert checked > 0


def test_megatron_runs_stand_at_their_last_iteration():
    for name, text in texts(MEGATRON):
        printed = ITERATION.findall(text)
        if printed:
            seen = tracked(name, text)
            assert seen.format == "megatron", name
            assert (seen.unit, seen.current, seen.total) == ("step", *map(float, printed[-1])), name


def test_trainer_runs_on_deepspeed_are_the_trainers():
    for name, text in texts(MEGATRON):
        if ITERATION.search(text) is None:
            seen = tracked(name, text)
            assert (seen.format, seen.phase) == ("transformers", "finished"), name
            bars = BAR.findall(text)
            if bars:
                assert (seen.current, seen.total) == tuple(map(float, bars[-1])), name


def test_every_count_in_an_mlperf_log_is_read():
    checked = 0
    for name, text in texts(MLPERF):
        printed = [float(count) for _, count in COUNT.findall(text)]
        sightings = [MlPerf().read(line.strip()) for line in text.split("\n")]
        counts = [seen.current for seen in sightings if seen and seen.current is not None]
        assert counts == pytest.approx(printed), name
        assert all(seen.at for seen in sightings if seen and seen.current is not None), name
        checked += len(printed)
    assert checked > 0


def test_the_last_word_of_an_mlperf_run_is_read():
    for name, text in texts(MLPERF):
        sightings = [seen for line in text.split("\n") if (seen := MlPerf().read(line.strip()))]
        phases = [seen.phase for seen in sightings if seen.phase in ("finished", "failed")]
        stopped = ["finished" if word == "success" else "failed" for word in STATUS.findall(text)]
        assert phases == stopped, name


def test_mlperf_runs_stand_where_the_log_ends():
    """Some print finer counts of their own, in steps; an epoch that has begun is not yet done."""
    units = set()
    for name, text in texts(MLPERF):
        seen = tracked(name, text)
        units.add(seen.unit)
        assert seen.format == "mlperf", name
        if seen.unit != "step":
            stated = [float(count) for count in dict(COUNT.findall(text)).values()]
            assert seen.current in {*stated, *(count - 1 for count in stated)}, name
    assert {"epoch", "sample", "token"} <= units
