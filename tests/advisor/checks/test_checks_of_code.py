"""Checks that look into the code, its environment and its past."""

import time
from dataclasses import replace

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.model import Finding, JobState, Request, Workload
from schedmate.model.account import account_name
from schedmate.testing.history import MemoryHistory, past_run

LOOP = """
import torch
model = torch.nn.Linear(3, 3).cuda()
for epoch in range(3):
    pass
"""


@pytest.fixture
def memory():
    return MemoryHistory()


def advised(memory, directory, script, code=LOOP):
    (directory / "train.py").write_text(code)
    target = Target(
        workdir=directory,
        command=("job.sh",),
        script_text=script,
        script_name="job.sh",
        request=Request(),
        user=account_name(),
        name="job",
    )
    return Advisor(memory, memory).advise(target)


def texts(*arguments):
    return [remark.text for remark in advised(*arguments).advice.advice]


def test_several_gpus_for_code_that_uses_one(memory, tmp_path):
    script = "#SBATCH --gpus=8\npython train.py\n"
    [text] = texts(memory, tmp_path, script)
    assert text == (
        "asks for 8 GPUs, but nothing in train.py and its imports would use more than one"
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("#SBATCH --gpus=8\ntorchrun --nproc_per_node 8 train.py\n", LOOP),
        ("#SBATCH --gpus=8\npython train.py\n", LOOP + "m = torch.nn.DataParallel(model)\n"),
        ("#SBATCH --gpus=8\npython train.py\n", "from transformers import Trainer\n" + LOOP),
        ("#SBATCH --gpus=8\nfor i in 1 2; do python train.py & done; python train.py\n", LOOP),
        ("#SBATCH --gpus=1\npython train.py\n", LOOP),
    ],
)
def test_several_gpus_that_may_be_used(memory, tmp_path, script, code):
    assert texts(memory, tmp_path, script, code) == []


def test_a_long_job_that_saves_nothing(memory, tmp_path):
    script = "#SBATCH --time=2-00:00:00\npython train.py\n"
    [text] = texts(memory, tmp_path, script)
    assert "saves a checkpoint" in text
    assert "2.0 days" in text
    saving = LOOP + "torch.save(model.state_dict(), 'm.pt')\n"
    assert texts(memory, tmp_path, script, saving) == []
    assert texts(memory, tmp_path, script.replace("2-00", "0-01")) == []


def test_a_config_that_is_not_there(memory, tmp_path):
    [text] = texts(memory, tmp_path, "python train.py --config conf.yaml\n")
    assert text == "conf.yaml is not there, so the job will probably fail at once"
    (tmp_path / "conf.yaml").write_text("a: 1\n")
    assert texts(memory, tmp_path, "python train.py --config=conf.yaml\n") == []
    assert texts(memory, tmp_path, "python train.py --config=/elsewhere/conf.yaml\n") == []
    assert texts(memory, tmp_path, "python train.py --config=$X/conf.yaml\n") == []


@pytest.fixture
def environment(tmp_path):
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name in ("torch", "numpy", "tqdm", "yaml", "PIL"):
        (packages / name).mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    return packages


@pytest.mark.parametrize(
    "script", ["source env/bin/activate\npython train.py\n", "env/bin/python train.py\n"]
)
def test_a_package_that_the_environment_does_not_have(memory, tmp_path, environment, script):
    code = LOOP + "import PIL\nimport einops\nimport json\n"
    [text] = texts(memory, tmp_path, script, code)
    assert text.startswith("einops is imported, but ")
    assert texts(memory, tmp_path, f"pip install einops\n{script}", code) == []
    (environment / "einops.py").write_text("")
    assert texts(memory, tmp_path, script, code) == []


def test_nothing_is_said_of_packages_where_no_environment_is_in_sight(memory, tmp_path):
    assert texts(memory, tmp_path, "python train.py\n", LOOP + "import einops\n") == []


def ended(first, job_id, state, *, ago=600.0, batch_size=None):
    sizes = None if batch_size is None else Finding(value=batch_size, source="cli")
    return past_run(
        job_id,
        60,
        state=state,
        user=account_name(),
        ended_at=time.time() - ago,
        fingerprint=first.fingerprint,
        workload=Workload(batch_size=sizes),
    )


def test_the_same_code_failed_just_now(memory, tmp_path):
    first = advised(memory, tmp_path, "python train.py\n")
    memory.add(ended(first, "7", JobState.FAILED))
    memory.reasons["7"] = "key_error"
    [text] = texts(memory, tmp_path, "python train.py\n")
    assert text.startswith("the same code with the same arguments failed 10.0 minutes ago")
    assert text.endswith("of key_error (job 7)")


@pytest.mark.parametrize(
    ("codes", "parts", "count"),
    [
        ([1, 1, 1], {}, 3),
        ([1, 1, 2], {}, 2),
        ([1, 0, 1], {}, 1),
        ([1, 1, 1], {"reasons": {"1": "gpu_ecc"}}, 1),
        ([1, 1, 1], {"reasons": {"0": "key_error", "1": "import_error"}}, 3),
        ([1, 1, 1], {"users": {"1": "mallory", "2": "mallory"}}, 1),
    ],
)
def test_failures_in_a_row_are_counted_by_the_schedulers_word(
    memory, tmp_path, codes, parts, count
):
    """The newest first; a diagnosis can only end the row."""
    first = advised(memory, tmp_path, "python train.py\n")
    for number, code in enumerate(codes):
        state = JobState.FAILED if code else JobState.COMPLETED
        run = ended(first, str(number), state, ago=600.0 * (number + 1))
        user = parts.get("users", {}).get(str(number), run.job.user)
        memory.add(replace(run, job=replace(run.job, exit_code=code, user=user)))
    memory.reasons.update(parts.get("reasons", {}))

    [remark] = advised(memory, tmp_path, "python train.py\n").advice.advice

    assert remark.failures == count


@pytest.mark.parametrize("reason", ["gpu_ecc", "preempted"])
def test_a_fault_of_the_cluster_is_not_held_against_it(memory, tmp_path, reason):
    first = advised(memory, tmp_path, "python train.py\n")
    memory.add(ended(first, "7", JobState.FAILED))
    memory.reasons["7"] = reason
    assert texts(memory, tmp_path, "python train.py\n") == []


def test_a_later_success_or_a_failure_of_last_week_is_forgotten(memory, tmp_path):
    first = advised(memory, tmp_path, "python train.py\n")
    memory.add(ended(first, "7", JobState.FAILED, ago=900), ended(first, "8", JobState.COMPLETED))
    assert texts(memory, tmp_path, "python train.py\n") == []
    memory.runs.clear()
    memory.add(ended(first, "7", JobState.FAILED, ago=7 * 86400))
    assert texts(memory, tmp_path, "python train.py\n") == []


def test_a_batch_that_did_not_fit(memory, tmp_path):
    code = LOOP + "batch_size = 64\n"
    first = advised(memory, tmp_path, "python train.py\n", code)
    memory.add(ended(first, "7", JobState.FAILED, ago=2 * 86400, batch_size=32))
    memory.reasons["7"] = "gpu_oom"
    [text] = texts(memory, tmp_path, "python train.py\n", code)
    assert text == "a batch of 64 may not fit: job 7 ran out of GPU memory with 32"
    memory.add(ended(first, "9", JobState.COMPLETED, batch_size=64))
    assert texts(memory, tmp_path, "python train.py\n", code) == []


def test_what_is_predicted_knows_how_many_gpus_the_code_uses(memory, tmp_path):
    script = "#SBATCH --gpus=8\n"
    assert advised(memory, tmp_path, script + "python train.py\n").fingerprint.one_gpu
    shared = script + "torchrun --nproc_per_node 8 train.py\n"
    assert not advised(memory, tmp_path, shared).fingerprint.one_gpu
