"""NeMo's command line: `nemo llm pretrain --factory llama3_8b trainer.max_steps=10`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.command_line import read_command_line
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.rules import by_program, of_program
from schedmate.advisor.interpret.python.values import Value

_COMMANDS = ("pretrain", "finetune", "train")


def _door(reading: Reading) -> Iterator[Settings]:
    given = read_command_line(reading.run.arguments, switches=frozenset({"yes", "y", "dryrun"}))
    if any(word.text in _COMMANDS for word in given.positional):
        yield Settings(given.options, reading, words=given.positional, started=True)


def _task(settings: Settings) -> Value | None:
    is_llm = any(word.text == "llm" for word in settings.words)
    return by_program(settings, "language_modeling") if is_llm else None


FRAMEWORK = Framework(
    settings={
        "framework": of_program("lightning"),
        "task": _task,
        "model": "factory f model",
        "max_steps": "trainer.max_steps",
        "epochs": "trainer.max_epochs",
        "batch_size": "data.micro_batch_size",
        "sequence_length": "data.seq_length",
        "gradient_accumulation": "trainer.accumulate_grad_batches",
        "learning_rate": "optim.config.lr",
        "optimizer": "optim.config.optimizer",
        "checkpoint_dir": "log.log_dir",
    },
    program=_door,
    samples=(
        Sample(
            command="nemo llm pretrain --factory llama3_8b trainer.max_steps=10 "
            "optim.config.lr=1e-4 -y",
            claims={
                "framework": "lightning",
                "task": "language_modeling",
                "model": "llama3_8b",
                "max_steps": 10,
                "learning_rate": 1e-4,
            },
        ),
    ),
)
