"""The plain trace table: what is read, and what is said about what is not."""

from __future__ import annotations

import gzip
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import BadInput, JobState, NotFound
from schedmate.simulator import Trace, TraceJob, from_job, read_trace
from schedmate.testing.builders import a_job, a_trace_job

HEADER = "job_id,user,submit_time,duration,gpus"


def read(tmp_path: Path, text: str | bytes, name: str = "trace.csv") -> Trace:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_trace(path)


def with_status(word: str) -> str:
    return f"{HEADER},status\n1,ada,0,60,1,{word}\n"


def test_the_required_columns_are_enough(tmp_path):
    trace = read(tmp_path, f"{HEADER}\n7,ada,12.5,60,4\n")

    assert trace.jobs == (a_trace_job(job_id="7", submit_time=12.5, gpus=4),)
    assert (trace.name, trace.bad_rows) == ("trace.csv", ())


def test_every_column_of_the_table_is_used(tmp_path):
    columns = "status,name,group,nodes,time_limit,script,workdir,start_time,gpu_type,whatever"
    row = "FAILED,bert,vc1,2,3600,run.sh,/home/ada,20,a100,ignored"

    [job] = read(tmp_path, f"{HEADER},{columns}\n7,ada,10,60,16,{row}\n").jobs

    assert job == TraceJob(
        job_id="7",
        user="ada",
        submit_time=10,
        duration=60,
        gpus=16,
        status=JobState.FAILED,
        name="bert",
        group="vc1",
        nodes=2,
        time_limit=3600,
        script="run.sh",
        workdir="/home/ada",
        start_time=20,
        gpu_type="a100",
    )


def test_columns_that_are_there_but_empty_say_nothing(tmp_path):
    columns = "status,name,group,nodes,time_limit,script,workdir,start_time,gpu_type"

    assert read(tmp_path, f"{HEADER},{columns}\n1,ada,0,60,1{',' * 9}\n").jobs == (a_trace_job(),)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("0", 0),
        ("1507532515.5", 1507532515.5),
        ("2017-10-09T07:01:55Z", 1507532515),
        ("2017-10-09T09:01:55+02:00", 1507532515),
        ("2017-10-09 07:01:55", 1507532515),
        ("2017-10-09", 1507507200),
    ],
)
def test_times_are_seconds_or_iso_8601(tmp_path, written, seconds):
    assert read(tmp_path, f"{HEADER}\n1,ada,{written},60,1\n").jobs[0].submit_time == seconds


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("", JobState.COMPLETED),
        ("completed", JobState.COMPLETED),
        ("CANCELLED by 1000", JobState.CANCELLED),
        ("CANCELLED+", JobState.CANCELLED),
        ("NODE_FAIL", JobState.NODE_FAIL),
        ("BOOT_FAIL", JobState.NODE_FAIL),
        ("OUT_OF_MEMORY", JobState.OUT_OF_MEMORY),
    ],
)
def test_a_status_is_one_of_slurms_words(tmp_path, word, state):
    assert read(tmp_path, with_status(word)).jobs[0].status is state


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (",ada,0,60,1", "the job id is empty"),
        ("2,ada,yesterday,60,1", "submit_time is 'yesterday', neither seconds nor ISO 8601"),
        ("2,ada,nan,60,1", "submit_time is 'nan', neither seconds nor ISO 8601"),
        ("2,ada,0,long,1", "duration is 'long', not a number of seconds"),
        ("2,ada,0,,1", "duration is empty, not a number of seconds"),
        ("2,ada,0,-5,1", "the duration is -5"),
        ("2,ada,0,nan,1", "duration is 'nan'"),
        ("2,ada,0,inf,1", "duration is 'inf'"),
        ("2,ada,0,60,-1", "asks for -1 GPUs"),
        ("2,ada,0,1e300,1", "the duration is 1e+300"),
        ("2,ada,1e300,1,1", "the submit time is 1e+300"),
        ("2,ada,0,60,1e9", "asks for 1000000000 GPUs"),
        ("2,ada,0,60,0.5", "gpus is '0.5', not a whole number"),
        ("2,ada,0,60,inf", "gpus is 'inf', not a whole number"),
        ("2,ada,0,60", "has 4 columns, the header has 5"),
        ("2,ada,0,60,1,1", "has 6 columns, the header has 5"),
        ("1,bob,9,9,1", "job id '1' is there twice"),
        ("2,ada,0," + "9" * 5000 + "x,1", f"duration is '{'9' * 40}…', not a number of seconds"),
    ],
)
def test_a_bad_row_is_left_out_and_said_to_be(tmp_path, row, what):
    trace = read(tmp_path, f"{HEADER}\n1,ada,0,60,1\n{row}\n3,ada,0,60,1\n")

    assert [job.job_id for job in trace.jobs] == ["1", "3"]
    assert [str(bad) for bad in trace.bad_rows] == [f"line 3: {what}"]


@pytest.mark.parametrize(
    ("word", "what"),
    [("RUNNING", "has not ended: RUNNING"), ("Pass", "status is 'Pass', no state that we know")],
)
def test_a_status_that_is_no_end_is_a_bad_row(tmp_path, word, what):
    with pytest.raises(BadInput, match=what):
        read(tmp_path, with_status(word))


def test_a_field_of_a_megabyte_spoils_its_own_row_only(tmp_path):
    trace = read(tmp_path, f"{HEADER}\n1,{'a' * 1_000_000},0,60,1\n2,ada,0,60,1\n")

    assert [job.job_id for job in trace.jobs] == ["2"]
    assert "is no CSV" in trace.bad_rows[0].what


def test_gzip_is_known_by_its_content(tmp_path):
    packed = gzip.compress(f"{HEADER}\n1,ada,0,60,1\n".encode())

    assert read(tmp_path, packed, "trace.csv.gz") == read(tmp_path, packed, "trace.csv.gz")
    assert read(tmp_path, packed, "no_ending").jobs == (a_trace_job(),)


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{HEADER}\r\n1,ada,0,60,1\r\n",
        " Job_ID , User,Submit_Time,DURATION,gpus\n1,ada,0,60,1\n",
        f"{HEADER}\n\n1,ada,0,60,1\n\n",
        'gpus,duration,submit_time,user,job_id\n1,60,0,"ada",1\n',
        f"{HEADER}\n1,ada,0,60,1",
    ],
    ids=["bom-crlf", "spaces-case", "blank-lines", "other-order", "no-last-newline"],
)
def test_the_habits_of_other_programs_do_no_harm(tmp_path, text):
    assert read(tmp_path, text).jobs == (a_trace_job(),)


def test_a_name_in_an_old_encoding_does_no_harm(tmp_path):
    [job] = read(tmp_path, f"{HEADER}\n1,Ren\xe9,0,60,1\n".encode("latin-1")).jobs

    assert job.user == "Ren\ufffd"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is no trace that we can read; it is empty"),
        (b"\n\n", "is no trace that we can read"),
        (bytes(range(256)) * 400, "is no trace that we can read; it is a binary file"),
        (b"job_id,user,duration\n1,ada,60\n", "needs a header line with the columns job_id, user"),
        (b"x" * 3_000_000, "is no trace that we can read"),
        (b"\x1f\x8b not really", "is a broken gzip file"),
        (gzip.compress(HEADER.encode())[:20], "is a broken gzip file"),
        (gzip.compress(b""), "it is empty"),
        (gzip.compress(b"nothing"), "is no trace that we can read"),
        (HEADER.encode(), "there is nothing below the header"),
        (f"{HEADER}\n1,a,0,x,1\n2,a,0,y,1\n".encode(), "2 bad rows, the first one line 2: dura"),
    ],
    ids=[
        *("empty", "blank", "binary", "columns", "huge-line", "no-gzip", "half-gzip"),
        *("gzip-empty", "gzip-of-nothing", "header-only", "bad-rows"),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_in_a_sentence(tmp_path, content, sentence):
    with pytest.raises(BadInput, match=sentence):
        read(tmp_path, content)


def test_half_a_gzip_file_is_not_taken_for_the_whole(tmp_path):
    rows = "\n".join(f"{number},ada,{number},60,1" for number in range(20_000))
    packed = gzip.compress(f"{HEADER}\n{rows}\n".encode())

    with pytest.raises(BadInput, match="broken gzip file"):
        read(tmp_path, packed[: len(packed) // 2])


def test_a_job_that_ran_is_a_job_of_a_trace():
    job = a_job(state=JobState.FAILED, start_time=1010.0, end_time=1042.5)

    traced = from_job(job)

    assert (traced.submit_time, traced.start_time, traced.duration) == (1000, 1010, 32.5)
    assert (traced.status, traced.gpus) == (JobState.FAILED, 1)


@pytest.mark.parametrize(
    "job",
    [a_job(), a_job(state=JobState.RUNNING), a_job(state=JobState.CANCELLED, start_time=None)],
    ids=["pending", "running", "never-ran"],
)
def test_a_job_without_a_duration_is_no_job_of_a_trace(job):
    with pytest.raises(BadInput, match="job 1 has not run to an end"):
        from_job(job)


def test_a_missing_file_and_a_directory_are_told_apart(tmp_path):
    with pytest.raises(NotFound, match="there is no file"):
        read_trace(tmp_path / "nowhere.csv")
    with pytest.raises(BadInput, match="is a directory"):
        read_trace(tmp_path)


def test_parquet_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(
        BadInput, match=r"takes pyarrow, .* pip install .* or give the table as CSV"
    ):
        read(tmp_path, b"PAR1\x00\x00PAR1", "trace.parquet")


def test_jobs_without_gpus_are_counted_and_not_called_bad(tmp_path):
    trace = read(tmp_path, f"{HEADER}\n1,ada,0,60,1\n2,ada,0,60,0\n3,ada,0,60,0\n")

    assert [job.job_id for job in trace.jobs] == ["1"]
    assert (dict(trace.left_out), trace.bad_rows) == ({"ask for no GPU": 2}, ())
    with pytest.raises(BadInput, match="no usable job: 1 ask for no GPU"):
        read(tmp_path, f"{HEADER}\n2,ada,0,60,0\n")


def test_parquet_is_the_same_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "trace.parquet"
    columns = {
        "job_id": [1],
        "user": ["ada"],
        "submit_time": [datetime(1970, 1, 1, tzinfo=UTC)],
        "duration": [60],
        "gpus": [1],
    }
    parquet.write_table(pyarrow.table(columns), path)

    assert read_trace(path).jobs == (a_trace_job(),)


@settings(deadline=None)
@given(content=st.text(alphabet='0123456789.,-:T"\n\r naif', max_size=200))
def test_no_table_however_odd_ends_in_anything_but_jobs_or_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    path.write_text(f"{HEADER}\n{content}", encoding="utf-8", newline="")

    with suppress(BadInput):
        assert read_trace(path).jobs
