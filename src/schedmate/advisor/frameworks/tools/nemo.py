"""NeMo's command line: `nemo llm pretrain --factory llama3_8b trainer.max_steps=100`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import first, known_by, saying, told
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "max_steps": "trainer.max_steps",
    "epochs": "trainer.max_epochs",
    "batch_size": "data.micro_batch_size",
    "sequence_length": "data.seq_length",
    "gradient_accumulation": "trainer.accumulate_grad_batches",
    "learning_rate": "optim.config.lr",
    "optimizer": "optim.config.optimizer",
    "checkpoint_dir": "log.log_dir",
}
_COMMANDS = ("pretrain", "finetune", "train")


def nemo(run: PythonRun, context: Context) -> Iterator[Claim]:
    del context
    given = read_command_line(run.arguments, switches=frozenset({"yes", "y", "dryrun"}))
    words = [word.text for word in given.positional]
    if not any(word in _COMMANDS for word in words):
        return
    yield known_by(run, "framework", "lightning")
    if "llm" in words:
        yield known_by(run, "task", "language_modeling")
    yield from told(given.options, _NAMES)
    yield from saying("model", first(given.options, "factory f model"))
