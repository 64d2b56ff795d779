"""The examples that end well: they learn, their logs are understood, and so is their code."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.testing.history import MemoryHistory
from schedmate.tracker import JobTracker, track_file

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Example:
    script: str
    words: tuple[str, ...]
    falls: str
    """Finds the numbers that training makes smaller."""
    format: str
    unit: str | None
    units: float | None
    record: dict[str, float] = field(default_factory=dict)

    @property
    def name(self):
        return self.script.removesuffix(".py")


TRAINING = (
    Example(
        "mlp_digits.py",
        ("--epochs", "2", "--batch-size", "128"),
        falls=r"Epoch \d/2 loss=(\d\.\d+) acc=0\.\d\d\n",
        format="keyvalue",
        unit="epoch",
        units=2,
        record={"epochs": 2, "batch_size": 128, "learning_rate": 0.1},
    ),
    Example(
        "char_lm.py",
        ("--steps", "40", "--seq-len", "16"),
        falls=r"it\S*, loss=(\d\.\d+)\]",
        format="tqdm",
        unit="step",
        units=40,
        record={"max_steps": 40, "sequence_length": 16, "batch_size": 32, "learning_rate": 0.01},
    ),
    Example(
        "matrix_factorization.py",
        ("--num-train-epochs", "2", "--per-device-train-batch-size", "512"),
        falls=r"{'loss': (\d\.\d+), 'grad_norm'",
        format="transformers",
        unit="epoch",
        units=2,
        record={"epochs": 2, "batch_size": 512, "learning_rate": 0.05},
    ),
    Example(
        "conv_net.py",
        ("--epochs", "2", "--batch-size", "96"),
        falls=r"epoch \d/2 step \d+/10 \| loss (\d\.\d+) \| \d+ ms/step\n",
        format="keyvalue",
        unit="step",
        units=20,
        record={"epochs": 2, "batch_size": 96, "learning_rate": 0.5},
    ),
    Example(
        "policy_gradient.py",
        ("--max-steps", "12"),
        falls=r'"reward": -(\d\.\d+)}',
        format="jsonl",
        unit="step",
        units=12,
        record={"max_steps": 12, "learning_rate": 0.3},
    ),
    Example(
        "kmeans.py",
        ("--iterations", "2"),
        falls=r"(?:from|to) (\d+\.\d+)",
        format="none",
        unit=None,
        units=None,
        record={"max_steps": 2},
    ),
    Example(
        "resumable.py",
        ("--steps", "10", "--checkpoint-every", "4", "--checkpoint-dir", "saved"),
        falls=r"step=\d+/10 loss=(\d\.\d+)\n",
        format="keyvalue",
        unit="step",
        units=10,
        record={"max_steps": 10, "checkpoint_every": 4, "checkpoint_dir": "saved"},
    ),
)
each_training = pytest.mark.parametrize("example", TRAINING, ids=lambda example: example.name)


def workload_of(example):
    advisor = Advisor(MemoryHistory(), MemoryHistory())
    target = Target.from_command(EXAMPLES, ["python3", example.script, *example.words])
    return advisor.advise(target).advice.workload


@pytest.mark.processes
@each_training
def test_it_learns_and_its_log_is_understood(example, run):
    ran = run(example.script, *example.words)
    assert ran.exit_code == 0, ran.text
    losses = [float(loss) for loss in re.findall(example.falls, ran.text)]
    assert len(losses) > 1
    assert losses[-1] < 0.9 * losses[0]
    progress = track_file(ran.log)
    assert (progress.format, progress.unit) == (example.format, example.unit)
    assert progress.current == example.units
    informed = JobTracker([ran.log], workload=workload_of(example)).poll(time.time())
    assert informed.fraction == (example.units and 1)


@each_training
def test_its_arguments_are_understood(example):
    workload = workload_of(example)
    assert workload.entry_point.value == example.script
    found = {name: getattr(workload, name) for name in example.record}
    assert {name: finding and finding.value for name, finding in found.items()} == example.record


def test_every_script_is_tried_and_told_of():
    failing = {"wrong_shape.py", "hanging.py", "odd_failure.py"}
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == {example.script for example in TRAINING} | failing
    readme = (EXAMPLES / "README.md").read_text()
    assert scripts == set(re.findall(r"^\| `(\w+\.py)", readme, re.MULTILINE))
