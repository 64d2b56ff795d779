"""What sacct tells of a job's GPUs, in the words in which it does."""

import pytest

from schedmate.schedulers.slurm import gpu_use, parsing

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
