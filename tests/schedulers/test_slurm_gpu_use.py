"""What sacct tells of a job's GPUs, in the words in which it does."""

import pytest

from schedmate.model import JobState, Request
from schedmate.schedulers.slurm import gpu_use, parsing
from schedmate.testing.builders import a_job

IN_MAX = "cpu=00:14:05,energy=0,fs/disk=2126813,gres/gpumem={memory},gres/gpuutil=99,mem=9048K"
IN_AVE = "cpu=00:14:05,energy=0,fs/disk=2126813,gres/gpumem=1G,gres/gpuutil={used},mem=9048K"


def told(*steps: tuple[str, ...]) -> str:
    return "\n".join("".join(f"{cell}|" for cell in step) for step in steps)


def read(text: str, gpus: int):
    return gpu_use.gpu_use(parsing.records(text, gpu_use.FIELDS, "|"), gpus)


def step(name: str, tasks: str, seconds: str, *, memory: str, used: str) -> tuple[str, ...]:
    return name, tasks, seconds, IN_MAX.format(memory=memory), IN_AVE.format(used=used)


def test_the_most_that_a_gpu_held_and_how_busy_they_were_over_time():
    text = told(
        ("7", "", "400", "", ""),
        step("7.batch", "1", "400", memory="0", used="0"),
        step("7.0", "2", "100", memory="20480M", used="20"),
        step("7.1", "2", "300", memory="40G", used="80"),
    )
    use = read(text, gpus=2)
    assert use.memory_mb == 40 * 1024
    assert use.utilization == pytest.approx((100 * 0.2 + 300 * 0.8) / 400)


def test_one_task_with_several_gpus_tells_their_sum():
    use = read(told(step("7.0", "1", "60", memory="160G", used="320")), gpus=4)
    assert use.memory_mb == 40 * 1024
    assert use.utilization == pytest.approx(0.8)


def test_gpus_that_nobody_used_were_idle():
    use = read(told(step("7.batch", "1", "60", memory="0", used="0")), gpus=4)
    assert (use.memory_mb, use.utilization) == (None, 0)


def test_more_than_all_of_a_gpu_is_all_of_it():
    assert read(told(step("7.0", "1", "60", memory="1G", used="140")), gpus=1).utilization == 1


@pytest.mark.parametrize("usage", ["", "cpu=00:00:01,mem=9048K", "gres/gpumem=0,gres/gpuutil=x"])
def test_where_nothing_was_measured_nothing_is_said(usage):
    assert read(told(("7", "", "5", "", ""), ("7.0", "1", "5", usage, usage)), gpus=1) is None


class Sacct:
    """Measured each job at its number of gigabytes."""

    def __init__(self):
        self.asked = []

    def __call__(self, *words):
        asked = words[words.index("-j") + 1].split(",")
        self.asked.append(asked)
        separator = next(word for word in words if "delimiter" in word).partition("=")[2]
        rows = [
            gpu_use.FIELDS,
            *(step(f"{job}.0", "1", "9", memory=f"{job}G", used="5") for job in asked),
        ]
        return "\n".join("".join(f"{cell}{separator}" for cell in row) for row in rows)


def test_runs_that_have_ended_are_asked_for_together_and_once():
    sacct, runs = Sacct(), gpu_use.MeasuredRuns()
    ended = [a_job(id=str(n), request=Request(gpus=1), state=JobState.COMPLETED) for n in (3, 4, 5)]
    others = [
        a_job(id="6", request=Request(gpus=1), state=JobState.RUNNING),
        a_job(id="7", state=JobState.FAILED),
        a_job(id="8_[1-3]", request=Request(gpus=1), state=JobState.CANCELLED),
    ]
    runs.list([*ended, *others])
    assert [runs.of(job, sacct).memory_mb / 1024 for job in ended] == [3, 4, 5]
    new = a_job(id="6", request=Request(gpus=1), state=JobState.COMPLETED)
    runs.list([*ended, new])
    assert runs.of(new, sacct).memory_mb == 6 * 1024
    assert runs.of(new, sacct) is not None  # its last step may have come in by now
    again = a_job(id="3", request=Request(gpus=1), state=JobState.FAILED, restarts=1)
    runs.list([again, new])
    assert runs.of(again, sacct) is not None

    assert sacct.asked == [["3", "4", "5"], ["6"], ["6"], ["3"]]
