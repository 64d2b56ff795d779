import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import JobState
from schedmate.schedulers.slurm import values
from schedmate.schedulers.slurm.logs import LogNames, log_paths


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("PENDING", JobState.PENDING),
        ("CONFIGURING", JobState.PENDING),
        ("REQUEUE_HOLD", JobState.PENDING),
        ("COMPLETING", JobState.RUNNING),
        ("SUSPENDED", JobState.RUNNING),
        ("A_STATE_OF_THE_FUTURE", JobState.RUNNING),
        ("", JobState.RUNNING),
        ("CANCELLED by 0", JobState.CANCELLED),
        ("CANCELLED+", JobState.CANCELLED),
        ("OUT_OF_MEMORY", JobState.OUT_OF_MEMORY),
        ("NODE_FAIL", JobState.NODE_FAIL),
        ("BOOT_FAIL", JobState.NODE_FAIL),
        ("DEADLINE", JobState.TIMEOUT),
        ("PREEMPTED", JobState.PREEMPTED),
    ],
)
def test_states(word, state):
    assert values.state(word) is state


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30:00", 1800),
        ("1:00:00", 3600),
        ("1-02:03:04", 93784),
        ("1-02:03", 93780),
        ("2-12", 216000),
        ("0:30", 30),
        ("UNLIMITED", None),
        ("NOT_SET", None),
        ("Partition_Limit", None),
        ("", None),
    ],
)
def test_limits(text, seconds):
    assert values.limit_s(text) == seconds


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("0", (0, None)),
        ("768", (3, None)),
        ("9", (0, 9)),
        ("35072", (137, 9)),
        ("3:0", (3, None)),
        ("0:9", (0, 9)),
        ("N/A", (None, None)),
    ],
)
def test_wait_statuses(status, ending):
    assert values.ending(status) == ending


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("0:0", (0, None)),
        ("3:0", (3, None)),
        ("0:9", (0, 9)),
        ("139:0", (139, 11)),
        ("", (None,) * 2),
    ],
)
def test_accounted_exit_codes(text, ending):
    assert values.accounted_ending(text) == ending


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("cpu=1,gres/gpu=2", 2),
        ("gres/gpu:a100=2,gres/gpu:h100=1", 3),
        ("gres/gpu:a100=2,gres/gpu=2", 2),
        ("cpu=1", 0),
    ],
)
def test_allocated_gpus(text, count):
    assert values.gpus(values.tres(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("gres:gpu:2", 2),
        ("gres:gpu:a100:4", 4),
        ("gres/gpu:3", 3),
        ("gres:gpu", 1),
        ("gres:gpu:a100", 1),
        ("gres:gpu:a100:2,gres:gpu:h100:1", 3),
        ("gres:gpu:2(S:0)", 2),
        ("gres:license:2", 0),
        ("N/A", 0),
    ],
)
def test_requested_gpus(text, count):
    assert values.requested_gpus(text) == count


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cpu=1,gres/gpu:a100=2,gres/gpu=2", "a100"),
        ("gres/gpu:nvidia_h100_80gb_hbm3=8", "nvidia_h100_80gb_hbm3"),
        ("gres/gpu:a100=2,gres/gpu:h100=1", None),
        ("gres/gpu=2,gres/gpumem=3", None),
    ],
)
def test_what_gpus_were_allocated(text, name):
    assert values.gpu_type(values.tres(text)) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("gres:gpu:a100:4", "a100"),
        ("gres/gpu:a100=4", "a100"),
        ("gres:gpu:v100(S:0)", "v100"),
        ("gres:gpu:2", None),
        ("gres:gpu", None),
        ("gres:gpu:a100:2,gres:gpu:h100:1", None),
        ("N/A", None),
    ],
)
def test_what_gpus_were_asked_for(text, name):
    assert values.requested_gpu_type(text) == name


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [("100M", 100), ("4G", 4096), ("1.50G", 1536), ("2T", 2097152), ("", None)],
)
def test_memory(text, megabytes):
    assert values.megabytes(text) == megabytes


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", ()),
        ("node0", ("node0",)),
        ("gpu[01-03,7],login", ("gpu01", "gpu02", "gpu03", "gpu7", "login")),
        ("r[1-2]n[8-9].site", ("r1n8.site", "r1n9.site", "r2n8.site", "r2n9.site")),
        ("a[3-1]", ()),
    ],
)
def test_hostlists(text, hosts):
    assert values.expand(text) == hosts


@given(st.text(alphabet="ab[]-,01", max_size=20))
def test_no_hostlist_is_too_odd(text):
    assert all(values.expand(text))


def names(**parts):
    standard = {"raw_id": "12", "array_id": "10", "task_id": "3", "name": "train", "user": "eve"}
    return LogNames(**{**standard, "node": "n7", **parts})


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("%A_%a.out", "/w/10_3.out"),
        ("%x-%u-%N-%j.out", "/w/train-eve-n7-12.out"),
        ("/abs/%5j.out", "/abs/00012.out"),
        ("100%%.out", "/w/100%.out"),
        ("odd%z.out", "/w/odd%z.out"),
        ("\\%j.out", "/w/%j.out"),
        ("/w/slurm-12.out", "/w/slurm-10_3.out"),
    ],
)
def test_log_patterns(pattern, path):
    assert log_paths(pattern, pattern, "/w", names()) == (path,)


def test_no_log_is_no_path():
    assert log_paths("/dev/null", "err", "/w", names()) == ("/w/err",)
    assert log_paths("", "", "/w", names()) == ()
