"""What a job will really do where its options alone would mislead."""

import shlex
import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.reading import understand
from schedmate.advisor.resolve import resolve
from schedmate.model import Request


def record(project, files, command="python train.py"):
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(textwrap.dedent(text))
    target = Target.from_command(project, shlex.split(command))
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


def value(finding):
    return None if finding is None else finding.value


def test_options_that_the_code_fills_in_are_what_it_makes_of_them(tmp_path):
    code = """\
    import tyro
    from dataclasses import dataclass
    @dataclass
    class Args:
        num_envs: int = 4
        num_steps: int = 128
        num_minibatches: int = 4
        batch_size: int = 0
        minibatch_size: int = 0
    args = tyro.cli(Args)
    args.batch_size = args.num_envs * args.num_steps
    args.minibatch_size = args.batch_size // args.num_minibatches
    """
    found = record(tmp_path, {"train.py": code}, "python train.py --num-envs 8")
    assert found.batch_size.value == 256


STEPS_WIN = """\
import argparse, math
import torch
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--num_train_epochs", type=int, default=3)
parser.add_argument("--max_train_steps", type=int, default=None)
args = parser.parse_args()
train = DataLoader(load(), batch_size=4, shuffle=True)
per_epoch = math.ceil(len(train) / 2)
if args.max_train_steps is None:
    args.max_train_steps = args.num_train_epochs * per_epoch
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
done = 0
for epoch in range(math.ceil(args.max_train_steps / per_epoch)):
    for batch in train:
        opt.step()
        done += 1
        if done >= args.max_train_steps:
            break
"""


@pytest.mark.parametrize(
    ("words", "epochs", "steps"),
    [("--max_train_steps 500", None, 500), ("--num_train_epochs 7", 7, None)],
)
def test_epochs_are_no_length_where_the_code_lets_steps_win(tmp_path, words, epochs, steps):
    found = record(tmp_path, {"train.py": STEPS_WIN}, f"python train.py {words}")
    assert (value(found.epochs), value(found.max_steps)) == (epochs, steps)


@pytest.mark.parametrize(
    "parse",
    [
        "import yaml\ndef parsed(t): return yaml.safe_load(t)",
        "import json\ndef parsed(t): return json.loads(t)",
        "import tomllib\ndef parsed(t): return tomllib.loads(f'v = {t}')['v']",
    ],
)
def test_settings_on_the_command_line_that_the_code_parses_by_itself(tmp_path, parse):
    code = f"""\
import sys
import yaml
{parse}
config = yaml.safe_load(open("c.yaml"))
for word in sys.argv[1:]:
    key, _, text = word.partition("=")
    *above, last = key.split(".")
    node = config
    for name in above:
        node = node.setdefault(name, {{}})
    node[last] = parsed(text)
import torch
for epoch in range(config["train"]["epochs"]):
    torch.optim.SGD(p, lr=0.1).step()
"""
    files = {"train.py": code, "c.yaml": "train:\n  epochs: 3\n"}
    assert record(tmp_path, files, "python train.py train.epochs=6").epochs.value == 6
