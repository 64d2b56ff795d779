"""What only a branch states that an unset variable decides is held with less confidence."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

HEAD = "import os, torch\nmodel = torch.nn.Linear(2, 2)\n"
BRANCHES = "    opt = torch.optim.SGD(model.parameters(), lr=0.3)\nelse:\n"
BRANCHES += "    opt = torch.optim.Adam(model.parameters(), lr=0.4)\n"
DIRECT = f"{HEAD}if os.environ.get('MODE', 'big') == 'big':\n{BRANCHES}"
NAMED = f"{HEAD}mode = os.getenv('MODE', 'big')\nif mode == 'big':\n{BRANCHES}"


def workload(project, command, **files):
    for name, text in files.items():
        (project / name.replace("_", ".")).write_text(text)
    target = Target.from_command(project, command.split())
    return understand(resolve(target), target.files, Request())[0].workload


@pytest.mark.parametrize("code", [DIRECT, NAMED])
def test_code_behind_the_default_of_a_variable(tmp_path, code):
    found = workload(tmp_path, "python train.py", train_py=code)
    assert (found.learning_rate.value, found.learning_rate.confidence) == (0.3, 0.7)
    assert found.framework.confidence > 0.7


def test_code_behind_a_variable_that_the_job_sets(tmp_path):
    found = workload(tmp_path, "env MODE=small python train.py", train_py=DIRECT)
    assert (found.learning_rate.value, found.learning_rate.confidence) == (0.4, 0.95)


TRAIN = (
    "import argparse, torch\np = argparse.ArgumentParser()\n"
    "p.add_argument('--lr', type=float)\nargs = p.parse_args()\n"
    "opt = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=args.lr)\n"
)
SCRIPT = 'if [ -n "$FAST" ]; then\n  LR=0.5\nelse\n  LR=0.1\nfi\npython train.py --lr $LR\n'


def test_a_script_behind_a_variable_that_nothing_sets(tmp_path):
    found = workload(tmp_path, "bash run.sh", train_py=TRAIN, run_sh=SCRIPT)
    assert (found.learning_rate.value, found.learning_rate.confidence) == (0.1, 0.7)
    assert found.optimizer.confidence == 0.95


def test_a_script_behind_a_variable_that_it_sets(tmp_path):
    found = workload(tmp_path, "bash run.sh", train_py=TRAIN, run_sh=f"FAST=1\n{SCRIPT}")
    assert (found.learning_rate.value, found.learning_rate.confidence) == (0.5, 0.95)
