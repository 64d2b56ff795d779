"""XTuner: `xtuner train config.py --deepspeed deepspeed_zero2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    last_part,
    renamed,
    saying,
    stated,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_at, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import remove, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "pretrained_model_name_or_path llm_name_or_path",
    "dataset": "data_path alpaca_en_path alpaca_zh_path dataset_path data_name",
    "sequence_length": "max_length",
    "batch_size": "batch_size",
    "gradient_accumulation": "accumulative_counts",
    "epochs": "max_epochs",
    "learning_rate": "lr",
    "checkpoint_every": "save_steps",
    "checkpoint_dir": "work_dir",
}
_STAGE = re.compile(r"deepspeed_zero([123])(?:_offload)?")


def xtuner(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments, switches=frozenset({"cfg_options"}))
    command = given.word(0)
    if command is None or command.text not in ("train", "dist_train"):
        return
    file = given.word(1)
    config = config_at(file.text if file is not None else None, context)
    config = with_options(config, remove(given.options, "cfg_options"), context)
    yield known_by(run, "framework", "mmengine")
    yield from told(config, _NAMES)
    yield from saying("optimizer", last_part(first(config, "optim_type")))
    stage = stated(select(given.options, "deepspeed"))
    match = _STAGE.fullmatch(str(stage.data)) if stage is not None else None
    if stage is not None and match is not None:
        yield Claim(field="parallelism", value=renamed(stage, f"zero{match[1]}"))
