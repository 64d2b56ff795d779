"""What is particular about a format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedmate.model import BadInput, JobState
from schedmate.simulator import Trace, read_trace
from schedmate.simulator.traces import write_parquet
from schedmate.simulator.traces.openb import NodeRow, read_nodes
from schedmate.simulator.traces.swf import Swf
from schedmate.testing.builders import a_trace_job
from simulator.traces.samples import SAMPLES


def read(tmp_path: Path, text: str, name: str = "trace") -> Trace:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_trace(path)


def philly(tmp_path: Path, *jobs: dict[str, object]) -> Trace:
    good = json.loads(SAMPLES["Philly JSON"].text)[0]
    return read(tmp_path, json.dumps([good, *({**good, "jobid": "b", **job} for job in jobs)]))


@pytest.mark.parametrize(
    ("attempts", "reason"),
    [
        ([], "never ran"),
        ([{"start_time": None, "end_time": None, "detail": []}], "never ran"),
        (
            [{"start_time": "2017-10-07 01:12:00", "end_time": None, "detail": []}],
            "had not ended when the trace was taken",
        ),
    ],
)
def test_a_philly_job_without_a_run_that_ended_is_counted(tmp_path, attempts, reason):
    assert philly(tmp_path, {"attempts": attempts}).left_out == {reason: 1}


def test_broken_json_is_told_with_its_line(tmp_path):
    with pytest.raises(BadInput, match="is broken JSON from line 74 on"):
        read(tmp_path, SAMPLES["Philly JSON"].text[:-240])


def test_an_interval_that_is_no_number_costs_its_row_only(tmp_path):
    header, *rows = SAMPLES["DIR-LAB cut"].text.splitlines()
    odd = rows[1].replace(",94,", ",soon,").replace("1,1,", "7,1,", 1)

    trace = read(tmp_path, "\n".join([header, rows[0], odd, rows[1]]))

    assert [job.submit_time for job in trace.jobs] == [194]
    assert "interval is 'soon'" in trace.bad_rows[0].what


SACCT = "JobID|JobName|Submit|Start|ElapsedRaw|ReqTRES|State|TimelimitRaw"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("1|a|0|5|60|gres/gpu=2|TIMEOUT|90", {"time_limit": 5400, "status": JobState.TIMEOUT}),
        ("1|a|b|0|5|60|gres/gpu=2|COMPLETED|", {"name": "a|b"}),
        ("1|a|0|5|60|cpu=1,gres/gpu:h100=2|COMPLETED|", {"gpu_type": "h100"}),
        ("1|a|0|5|60|gpu:2|REQUEUED|", {"status": JobState.PREEMPTED}),
        ("1_7|a|0|5|60|gres/gpu:a=1,gres/gpu:b=1|COMPLETED|", {"job_id": "1_7"}),
    ],
)
def test_sacct_writes_in_many_ways(tmp_path, row, expected):
    values = {"user": "", "name": "a", "start_time": 5, "gpus": 2, **expected}

    assert read(tmp_path, f"{SACCT}\n{row}\n").jobs == (a_trace_job(**values),)


@pytest.mark.parametrize("delimiter", [";", "\t", "^"])
def test_sacct_is_read_with_other_delimiters(tmp_path, delimiter):
    text = f"{SACCT}\n1|a|0|5|60|gres/gpu=2|COMPLETED|\n".replace("|", delimiter)

    (job,) = read(tmp_path, text).jobs

    assert (job.job_id, job.gpus, job.duration) == ("1", 2, 60)


def test_what_sacct_prints_for_people_is_refused_with_what_to_type(tmp_path):
    aligned = """JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
812            train.sh        gpu     vision          8  COMPLETED      0:0
"""

    with pytest.raises(BadInput, match="sacct --parsable2 --allusers --format=JobID,"):
        read(tmp_path, aligned)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode|\n1|a|gpu|x|4|FAILED|1:0|\n",
            "is what sacct prints, without submit, elapsed, alloctres",
        ),
        ("1|ann|0|5|60|CANCELLED by 12|gres/gpu=2|a\n", "sacct prints without its header line"),
    ],
)
def test_what_sacct_printed_too_little_of_is_refused_with_what_to_type(tmp_path, text, reason):
    with pytest.raises(BadInput, match=reason) as refused:
        read(tmp_path, text)

    assert "take sacct --parsable2 --allusers --format=JobID," in str(refused.value)


def test_between_commas_resources_are_one_cell(tmp_path):
    text = (
        "JobID,Submit,Start,ElapsedRaw,AllocTRES,State,Partition,JobName\n"
        "1,0,5,60,billing=4,cpu=4,gres/gpu=2,node=1,COMPLETED,gpu,a\n"
        "2,0,5,60,gres/gpu=3,FAILED,gpu,b,c\n"
    )

    first, second = read(tmp_path, text).jobs

    assert (first.gpus, first.name, first.group) == (2, "a", "gpu")
    assert (second.gpus, second.name, second.status) == (3, "b,c", JobState.FAILED)


def test_sacct_shows_how_a_job_was_submitted(tmp_path):
    row = "1|a|0|5|60|gres/gpu=2|COMPLETED||sbatch --wrap python a.py | tee out"
    (job,) = read(tmp_path, f"{SACCT}|SubmitLine\n{row}\n").jobs
    assert (job.name, job.command) == ("a", "sbatch --wrap python a.py | tee out")


def test_sacct_rows_of_jobs_that_did_not_run_are_counted(tmp_path):
    rows = [
        "1|a|0|5|60|gres/gpu=2|COMPLETED|",
        "2|a|0|Unknown|0|gres/gpu=2|CANCELLED by 7|",
        "3|a|0|5|60|gres/gpu=2|RUNNING|",
        "4_[1-9]|a|0|Unknown|0|gres/gpu=2|PENDING|",
    ]

    assert read(tmp_path, "\n".join([SACCT, *rows])).left_out == {
        "never ran": 1,
        "had not ended when the trace was taken": 2,
    }


def test_a_requeued_job_has_a_job_a_run(tmp_path):
    rows = ["1|a|0|5|60|gres/gpu=2|NODE_FAIL|", "1|a|70|75|30|gres/gpu=2|COMPLETED|"]

    jobs = read(tmp_path, "\n".join([SACCT, *rows])).jobs

    assert [(job.job_id, job.submit_time) for job in jobs] == [("1", 0), ("1#2", 70)]


def test_a_trailing_bar_does_no_harm(tmp_path):
    assert read(tmp_path, f"{SACCT}|\n1|a|0|5|60|gres/gpu=2|COMPLETED||\n").jobs[0].gpus == 2


def test_swf_knows_the_size_of_its_machine_and_processors_can_be_put_together(tmp_path):
    path = tmp_path / "trace.swf"
    path.write_text(SAMPLES["SWF"].text, encoding="utf-8")

    trace = read_trace(path, readers=(Swf(processors_per_gpu=3),))

    assert (trace.gpus, trace.jobs[0].gpus) == (22, 2)
    assert read_trace(path).gpus == 64


def test_swf_parts_of_a_job_are_not_counted_twice(tmp_path):
    lines = SAMPLES["SWF"].text.splitlines()

    trace = read(tmp_path, "\n".join([lines[2], lines[2].replace(" 1  3", " 3  3")]))

    assert trace.left_out == {"are parts of a job that has a row of its own": 1}


def test_users_of_pai_stand_in_the_table_beside_it(tmp_path):
    jobs = "4f05,inst,u58,Terminated,40.0,205.0\n4f09,inst,u58,Waiting,soon,\nhalf a line\n"
    (tmp_path / "pai_job_table.csv").write_text(jobs, encoding="utf-8")

    [job] = read(tmp_path, SAMPLES["Alibaba PAI"].text, "pai_task_table.csv").jobs

    assert (job.user, job.submit_time, job.start_time) == ("u58", 40, 100)
    with pytest.raises(BadInput, match="has no GPUs: name pai_task_table"):
        read_trace(tmp_path / "pai_job_table.csv")


def test_a_pai_job_fails_with_one_of_its_tasks(tmp_path):
    rows = ["a,ps,1,Terminated,0,9,1,1,100,V100", "a,w,2,Failed,2,8,1,1,100,V100"]

    [job] = read(tmp_path, "\n".join(rows)).jobs

    assert (job.status, job.gpus, job.duration) == (JobState.FAILED, 3, 9)


def test_the_nodes_of_openb(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,2,P100\nn1,1,1,0,\n", "utf-8")

    assert read_nodes(path) == (NodeRow("n0", 2, "P100"),)
    path.write_text("sn,cpu_milli\n", "utf-8")
    with pytest.raises(BadInput, match="lacks gpu, model"):
        read_nodes(path)


def test_parquet_comes_back_as_it_was_written(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    jobs = (
        a_trace_job(name="bert", group="vc", status=JobState.FAILED, time_limit=9.5, nodes=2),
        a_trace_job(job_id="2", start_time=4.0, gpu_type="a100", script="x", workdir="/y"),
    )
    path = tmp_path / "trace"

    write_parquet(Trace(name="trace", jobs=jobs), path)

    assert read_trace(path).jobs == jobs
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(BadInput, match="broken Parquet file"):
        read_trace(path)
