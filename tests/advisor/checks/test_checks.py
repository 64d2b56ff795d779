"""What is wrong with a job before it waits for nothing."""

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.checks import CHECKS
from schedmate.model import Request
from schedmate.model.account import account_name
from schedmate.model.redaction import MARK
from schedmate.testing.history import MemoryHistory, past_run


@pytest.fixture
def memory():
    return MemoryHistory()


def advised(memory, directory, text, *, request=None, **files):
    for name, content in files.items():
        (directory / f"{name}.py").write_text(content)
    target = Target(
        workdir=directory,
        command=("job.sh",),
        script_text=text,
        script_name="job.sh",
        request=request or Request(),
        user=account_name(),
        name="job",
    )
    return Advisor(memory, memory).advise(target)


def remarks(*arguments, **settings):
    advice = advised(*arguments, **settings).advice
    return [(each.level, each.text, each.evidence[0]) for each in advice.advice]


def test_nothing_is_said_of_a_sound_job(memory, tmp_path):
    assert remarks(memory, tmp_path, "python train.py\n", train="x = 1\n") == []


def test_entry_point_missing(memory, tmp_path):
    [(level, text, line)] = remarks(memory, tmp_path, "cd .\nsrun python tarin.py\n")
    assert (level, line.file, line.line) == ("error", "job.sh", 2)
    assert text == "tarin.py is not there, so the job will fail at once"


def test_missing_behind_a_condition_or_in_an_unknown_place_is_not_an_error(memory, tmp_path):
    [(level, _, _)] = remarks(memory, tmp_path, "if x; then python a.py; fi\n")
    assert level == "warning"
    assert remarks(memory, tmp_path, "cd $ELSEWHERE\npython $FILE\n") == []


def test_script_missing(memory, tmp_path):
    [(level, text, _)] = remarks(memory, tmp_path, "bash inner.sh\n")
    assert level == "error"
    assert "inner.sh is not there" in text


def certain(*arguments, **settings):
    return [each.certain for each in advised(*arguments, **settings).advice.advice]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py\n",
        (
            "#!/bin/bash\n#SBATCH -t 10\nset -e\nmodule load cuda\nexport A=1\n"
            "source venv/bin/activate\ncd .\nsrun python train.py \\\n  --lr $LR > log 2>&1\n"
        ),
        "bash inner.sh\n",
    ],
)
def test_a_job_that_starts_nothing_but_what_is_missing_certainly_fails(memory, tmp_path, text):
    assert certain(memory, tmp_path, text) == [True]


@pytest.mark.parametrize(
    "text",
    [
        "git clone x .\npython train.py\n",
        "./prepare && python train.py\n",
        "eval $PREPARE\npython train.py\n",
        "date > train.py\npython train.py\n",
        "echo 'print()' > train.py\npython train.py\n",
        "A=$(make train.py)\npython train.py\n",
        "source setup.sh\npython train.py\n",
        "python train.py || true\n",
        "python train.py &\nwait\n",
        "python train.py | tee log\n",
        "python train.py\npython evaluate.py\n",
        "if test -e train.py; then python train.py; fi\n",
        "bash inner.sh\nbash other.sh\n",
    ],
)
def test_what_the_script_may_create_or_survive_is_not_certain(memory, tmp_path, text):
    assert not any(certain(memory, tmp_path, text))


def test_what_a_shell_is_given_as_text_counts_as_a_script(memory, tmp_path):
    def certainly(text):
        target = Target.from_command(tmp_path, ("bash", "-c", text))
        return [each.certain for each in Advisor(memory, memory).advise(target).advice.advice]

    assert certainly("python train.py") == [True]
    assert certainly("make train.py; python train.py") == [False]
    assert certainly("make train.py\npython train.py") == [False]


def test_syntax_error_with_its_line(memory, tmp_path):
    [(level, text, line)] = remarks(
        memory, tmp_path, "python train.py\n", train="x = 1\nfor y in x\n    pass\n"
    )
    assert (level, line.file, line.line) == ("error", "train.py", 2)
    assert text.startswith("train.py line 2 is not valid Python: expected ':'")


def test_time_limit_below_the_prediction(memory, tmp_path):
    script = "#SBATCH --time=0:30\npython train.py\n"
    first = advised(memory, tmp_path, script, train="x = 1\n")
    memory.add(past_run("1", 600, fingerprint=first.fingerprint))
    [(level, text, line)] = remarks(memory, tmp_path, script)
    assert (level, line.line) == ("warning", 1)
    assert text == "the time limit of 30 seconds is below the 10.0 minutes it will take"
    [(level, _, _)] = remarks(memory, tmp_path, script.replace("0:30", "10:30"))
    assert level == "hint"
    assert remarks(memory, tmp_path, script.replace("0:30", "2:00:00")) == []


def test_gpus_that_nothing_mentions(memory, tmp_path):
    script = "#SBATCH --gpus=2\npython train.py\n"
    [(level, text, line)] = remarks(memory, tmp_path, script, train="import numpy\n")
    assert (level, line.line) == ("hint", 1)
    assert "asks for 2 GPUs, but nothing in train.py" in text
    one = script.replace("2", "1")
    assert remarks(memory, tmp_path, one, train="import helper\n", helper="import torch\n") == []


@pytest.mark.parametrize(
    ("code", "warned"),
    [
        ("model.cuda()\n", True),
        ("x = x.to('cuda:0')\n", True),
        ("model.cuda() if torch.cuda.is_available() else model\n", False),
        ("device = 'cuda' if use else 'cpu'\nmodel.to(device)\n", False),
        ("import torch\n", False),
    ],
)
def test_code_that_needs_a_gpu_and_asks_for_none(memory, tmp_path, code, warned):
    script = "#SBATCH --gpus=0\npython train.py\n"
    found = remarks(memory, tmp_path, script, train=code)
    assert [(level, line.line) for level, _, line in found] == ([("warning", 1)] if warned else [])
    assert remarks(memory, tmp_path, "python train.py\n", train=code) == [], "nothing is said"
    told = remarks(memory, tmp_path, "python train.py\n", request=Request(no_gpus=True))
    assert [text.partition(",")[0] for _, text, _ in told] == ["asks for no GPU"] * warned


@pytest.mark.parametrize(
    "line",
    [
        "export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
        "huggingface-cli login --token hf_abcdefghijklmnopqrstuvwxyzABCDEF",
        'export DB_PASSWORD="correcthorse"',
    ],
)
def test_secrets_are_reported_and_never_repeated(memory, tmp_path, line):
    advice = advised(memory, tmp_path, f"{line}\n{line} python train.py\n", train="").advice
    [remark] = advice.advice
    assert remark.level == "warning"
    secret = line.replace('"', "").replace("=", " ").split()[-1]
    assert secret not in str(advice)
    assert MARK in remark.evidence[0].text


@pytest.mark.parametrize(
    "line", ["export HF_TOKEN=$TOKEN", "TOKEN_FILE=/home/ann/.token", "export MAX_TOKENS=12345678"]
)
def test_what_only_looks_like_a_secret(memory, tmp_path, line):
    assert remarks(memory, tmp_path, f"{line}\n") == []


def test_every_check_is_registered_once():
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


_TRAIN_EPOCHS = """\
import argparse, torch
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=5)
args = p.parse_args()
opt = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
for epoch in range(args.epochs):
    opt.step()
"""


@pytest.mark.parametrize("words", ["--epochs 0", "--epochs=0"])
def test_a_training_of_no_length(memory, tmp_path, words):
    script = f"python train.py {words}\n"
    [(level, text, line)] = remarks(memory, tmp_path, script, train=_TRAIN_EPOCHS)
    assert (level, line.line) == ("warning", 1)
    assert text == "--epochs is 0, so the job will probably train nothing"


def test_a_training_with_a_length(memory, tmp_path):
    script = "python train.py --epochs 10 --warmup_steps 0\n"
    assert remarks(memory, tmp_path, script, train=_TRAIN_EPOCHS) == []


def test_a_branch_that_is_not_taken_is_named(memory, tmp_path):
    script = "case $1 in\n a) python train.py ;;\nesac\n"
    [(level, text, line)] = remarks(memory, tmp_path, script, train=_TRAIN_EPOCHS)
    assert (level, line.line) == ("warning", 2)
    assert "train.py was read from a branch that is not taken" in text
