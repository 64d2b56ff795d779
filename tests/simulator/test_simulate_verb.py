"""`schedmate simulate`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedmate.cli import main

TRACE = """job_id,user,submit_time,duration,gpus
a,ada,0,100,1
b,bob,0,10,1
c,ada,0,1,1
"""
SUMMARY = {
    "avg_jct_s",
    "p50_jct_s",
    "p99_jct_s",
    "avg_queue_s",
    "makespan_s",
    "gpu_utilization",
    "preemptions",
    "wall_seconds",
}


@pytest.fixture
def call(capsys):
    """Run the verb; return exit code, data and talk."""

    def run(*args: str):
        with pytest.raises(SystemExit) as ended:
            main(["simulate", *args])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


@pytest.fixture
def trace(tmp_path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def test_json_is_the_public_object_and_nothing_else(call, trace):
    code, out, err = call(str(trace), "--policy", "fifo,sjf", "--gpus", "1", "--json")

    data = json.loads(out)
    assert (code, err) == (0, "")
    assert list(data) == ["schema", "trace", "jobs", "gpus", "assumptions", "policies"]
    assert (data["schema"], data["jobs"], data["gpus"]) == ("schedmate.simulation/1", 3, 1)
    assert list(data["policies"]) == ["fifo", "sjf"]
    assert set(data["policies"]["fifo"]) == SUMMARY
    assert data["policies"]["fifo"]["avg_jct_s"] == pytest.approx((100 + 110 + 111) / 3)
    assert data["policies"]["sjf"]["avg_jct_s"] == pytest.approx((1 + 11 + 111) / 3)


def test_the_table_compares_with_the_first_policy(call, trace):
    code, out, _ = call(str(trace), "--policy", "fifo,sjf", "--gpus", "1")

    assert code == 0
    assert "2.61x" in out
    assert "- sjf: knows every duration beforehand (oracle)" in out


def test_several_traces_are_one_object_each(call, trace):
    _, out, _ = call(str(trace), "synthetic", "--jobs", "5", "--json")

    assert [json.loads(line)["jobs"] for line in out.splitlines()] == [3, 5]


def test_a_synthetic_trace_needs_no_file_and_repeats_by_its_seed(call):
    def averages(seed: str) -> list[float]:
        _, out, _ = call("synthetic", "--jobs", "200", "--seed", seed, "--json")
        return [policy["avg_jct_s"] for policy in json.loads(out)["policies"].values()]

    assert averages("1") == averages("1") != averages("2")


def test_backfill_is_said_and_done(call):
    _, strict, _ = call("synthetic", "--jobs", "300", "--policy", "fifo", "--json")
    _, first_fit, _ = call("synthetic", "--jobs", "300", "--policy", "fifo", "--backfill", "--json")

    before, after = json.loads(strict), json.loads(first_fit)
    assert after["policies"]["fifo"]["avg_jct_s"] < before["policies"]["fifo"]["avg_jct_s"]
    assert "jobs start by first fit in queue order" in after["assumptions"]


def test_rows_left_out_are_talk_and_an_assumption(call, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE + "".join(f"bad{number},ada,0,x,1\n" for number in range(5)))

    code, out, err = call(str(path), "--json")

    assert code == 0
    assert err.startswith(f"{path}: left out 5 of 8 rows: line 5: duration is 'x', not a number")
    assert err.endswith("; …\n")
    assert "5 bad rows of the trace are left out" in json.loads(out)["assumptions"]


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["nowhere.csv"], 3, "there is no file nowhere.csv"),
        (
            ["synthetic", "--policy", "magic"],
            2,
            "no policy is called 'magic'; there are: fifo, sjf",
        ),
        (["synthetic", "--policy", ","], 2, "--policy needs a name"),
        (["synthetic", "--gpus", "0"], 2, "--gpus"),
        (["synthetic", "--jobs", "-1"], 2, "--jobs"),
        (["synthetic", "--report", "out.html"], 1, "--report is not there yet"),
        ([], 2, "TRACE"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(call, args, code, sentence):
    ended, out, err = call(*args)

    assert (ended, out) == (code, "")
    assert sentence in err
    assert "Traceback" not in err


def test_a_policy_is_checked_before_a_large_trace_is_read(call):
    code, _, err = call("nowhere.csv", "--policy", "magic")

    assert (code, "magic" in err) == (2, True)


def test_a_trace_without_a_usable_row_is_a_usage_error(call, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("job_id,user,submit_time,duration,gpus\n")

    assert call(str(path))[0] == 2
