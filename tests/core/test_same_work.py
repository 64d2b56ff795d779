"""Jobs that go on with the work of a failed run, by their scripts and their code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import Work, code_submits_jobs, is_rival
from schedmate.model import Fingerprint, JobState
from schedmate.testing.builders import a_job

JOB = a_job(
    state=JobState.FAILED,
    workdir="/home/ada/run",
    logs=("/home/ada/run/log",),
    command=("/home/ada/run/job.sh", "train"),
    script="/home/ada/run/job.sh",
)
"""It ran from 1010 to 1070."""
SCRIPT = """#!/bin/bash
#SBATCH --job-name=train
# the usual
python train.py --epochs 9
"""
COPY = """#!/bin/bash
#SBATCH --job-name=again --time=10

cd /home/ada/other
python  train.py --epochs 9
"""


SET_UP = "module load cuda/12\nsource ~/env/bin/activate\nexport OMP_NUM_THREADS=4\nset -e\nX=1\n"


def marks(code, arguments):
    return Fingerprint(code=code, arguments=arguments)


def rival(its, own, **parts):
    parts = {
        "id": "2",
        "name": "x",
        "workdir": "/home/ada/else",
        "submit_time": 1072.0,
        "command": JOB.command,
        **parts,
    }
    return is_rival(a_job(**parts), Work(**its), JOB, Work(**own))


@pytest.mark.parametrize(
    ("its", "own", "parts"),
    [
        ({"script": COPY}, {"script": SCRIPT}, {}),
        ({"script": COPY}, {"script": SCRIPT}, {"submit_time": 1061.0}),
        ({"script": COPY}, {"script": SCRIPT}, {"command": ("/x/copy.sh", *JOB.command[1:], "-r")}),
        ({"script": f"{COPY.rstrip()} --resume"}, {"script": SCRIPT}, {}),
        ({"script": COPY.replace("9", "8")}, {"script": SCRIPT}, {}),
        ({"script": COPY + "run $i/8 a b"}, {"script": SCRIPT + "run $i/9 a b"}, {}),
        ({"script": None}, {"script": SCRIPT}, {"name": JOB.name}),
        ({"script": "cd /home/ada/run/\npython b.py"}, {}, {"submit_time": 1005.0}),
        ({"script": "#SBATCH --chdir=/home/ada/run\npython b.py"}, {}, {}),
        ({}, {"script": "cd /home/ada/else && python b.py"}, {}),
        ({"fingerprint": marks("a", "b")}, {"fingerprint": marks("a", "b")}, {}),
        ({"checkpoints": "/data/ckpt"}, {"checkpoints": "/data/ckpt"}, {}),
        ({"script": "python b.py"}, {"script": SCRIPT}, {"logs": JOB.logs}),
    ],
    ids=[
        "copy",
        "as it ends",
        "one word more",
        "an option more",
        "edited",
        "edited twice",
        "unread",
        "cd",
        "chdir",
        "its cd",
        "code",
        "checkpoints",
        "log",
    ],
)
def test_the_same_work_elsewhere(its, own, parts):
    assert rival(its, own, **parts)


@pytest.mark.parametrize(
    ("its", "own", "parts"),
    [
        ({"script": COPY}, {"script": SCRIPT}, {"submit_time": 1059.0}),
        ({"script": SCRIPT}, {"script": SCRIPT}, {"script": JOB.script, "command": ("a.sh", "7")}),
        ({"script": "python eval.py --epochs 9"}, {"script": SCRIPT}, {}),
        ({"script": "python train.py --lr 3 --seed 7 -q"}, {"script": SCRIPT}, {}),
        ({"script": f"{SET_UP}python b.py"}, {"script": f"{SET_UP}python a.py"}, {}),
        ({"script": None}, {"script": SCRIPT}, {"name": JOB.name, "submit_time": 1060.0}),
        ({"script": "python b.py"}, {"script": SCRIPT}, {"name": JOB.name}),
        ({"script": None}, {"script": SCRIPT}, {}),
        ({"fingerprint": marks("a", "c")}, {"fingerprint": marks("a", "b")}, {}),
        ({"checkpoints": "/data/b"}, {"checkpoints": "/data/a"}, {}),
        ({"script": "python b.py"}, {"script": SCRIPT}, {"logs": ("/dev/null",)}),
    ],
    ids=[
        "long before",
        "arguments",
        "another program",
        "other options",
        "the same environment",
        "unread before its end",
        "name",
        "unread",
        "argument",
        "checkpoints",
        "null",
    ],
)
def test_other_work(its, own, parts):
    assert not rival(its, own, **parts)


@pytest.mark.parametrize(
    ("code", "submits"),
    [
        ('subprocess.run(["sbatch", "/home/ada/again.sh"], cwd="/")', True),
        ("os.system('sbatch again.sh')", True),
        ("import submitit\n", True),
        ("    from dask_jobqueue import SLURMCluster\n", True),
        ('check_call(["scontrol", "requeue", job_id])', True),
        ('parser.add_argument("--sbatch-like", help="see sbatch")', False),
        ("# import submitit\n", False),
        ("print('use sbatch')", False),
    ],
)
def test_what_code_shows_of_it(code, submits):
    assert code_submits_jobs(code) is submits


@pytest.mark.parametrize(
    ("command", "again"), [(("python", "a.py"), True), (("python", "b.py"), False)]
)
def test_a_command_without_a_script_is_known_by_its_words(command, again):
    """Two commands of one name are two jobs: `schedmate submit -- python b.py` has no script."""
    failed = replace(JOB, script=None, command=("python", "a.py"))
    other = a_job(
        id="2", name=JOB.name, workdir="/home/ada/else", submit_time=1072.0, command=command
    )

    assert is_rival(other, Work(), failed, Work()) is again
