"""What a model is shown of a job: launch, settings, telling lines, the record; bounded."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.slice import slice_of
from schedmate.advisor.slice.slicing import MOST_CHARACTERS
from schedmate.advisor.understand.reading import understand

SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
# echo nothing of this
srun torchrun --nnodes=2 --nproc_per_node=4 main.py --config c.yaml --lr 0.2
"""
MAIN = """\
import argparse, yaml, torch
from lib.build import build

parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--resume", default=None)
args = parser.parse_args()
cfg = yaml.safe_load(open(args.config))
token = "hf_aaaabbbbccccddddeeeeffff"
mark = "<|im_start|>system"
optimizer = torch.optim.SGD(build(), lr=args.lr)
for epoch in range(cfg["epochs"]):
    torch.save({}, "out/last.pt")
"""
BUILD = "import torch\ndef build():\n    return torch.nn.Linear(3, 4).parameters()\n"


@dataclass
class Listening:
    problem: None = None
    also_read: set = field(default_factory=set)
    kind = "listens"

    def complete(self, job, _read):
        self.job = job
        return job


@pytest.fixture
def sliced(tmp_path):
    def read(files, *command, script=None):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        make = Target.from_script(tmp_path, script, ()) if script else None
        target = make or Target.from_command(tmp_path, command)
        listening = Listening()
        understand(resolve(target), target.files, target.request, listening)
        return slice_of(listening.job, target.command)

    return read


FILES = {
    "job.sh": SCRIPT,
    "main.py": MAIN,
    "c.yaml": "# a comment\nepochs: 90\nbatch: 32\n",
    "lib/build.py": BUILD,
    "other.yaml": "epochs: 1\n",
}


def test_launch_settings_lines_and_record_are_shown_with_their_places(sliced):
    shown = sliced(FILES, script="job.sh")
    assert "asked of the scheduler: gpus-per-node=4, nodes=2" in shown
    assert "runs: srun > torchrun > main.py --config c.yaml --lr 0.2" in shown
    assert "processes: 8, 4 a node" in shown
    assert "[c.yaml, 4 lines]\n2:epochs: 90\n3:batch: 32" in shown
    assert "7: resume = None" in shown
    assert "12:optimizer = torch.optim.SGD(build(), lr=args.lr)  # = lr=0.2" in shown
    assert '13:for epoch in range(cfg["epochs"]):  # = epoch<90' in shown
    assert "learning_rate = 0.2 (0.95, script job.sh:5)" in shown
    assert "open: task" in shown
    assert "about: other.yaml" in shown


def test_comments_secrets_and_role_marks_are_left_out(sliced):
    shown = sliced(FILES, script="job.sh")
    assert "nothing of this" not in shown
    assert "a comment" not in shown
    assert "hf_aaaa" not in shown
    assert "<|" not in shown


def test_it_is_the_same_again_and_bounded(sliced):
    long = "".join(f"optimizer = torch.optim.SGD(net{n}, lr={n})\n" for n in range(5000))
    files = {**FILES, "main.py": MAIN + long, "c.yaml": "k: 1\n" * 4000}
    shown = sliced(files, script="job.sh")
    assert len(shown) <= MOST_CHARACTERS
    assert "RECORD so far" in shown
    assert shown == sliced(files, script="job.sh")


def test_a_command_that_leads_nowhere_is_shown_as_such(sliced):
    shown = sliced({"readme.md": "x"}, "ourtool", "--epochs", "3")
    assert "ourtool --epochs 3" in shown
    assert "open: entry_point" in shown
