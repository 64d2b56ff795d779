"""xtuner: `xtuner train CONFIG --deepspeed deepspeed_zero2`, on mmengine's configs."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.command_line import config_at, read_command_line
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.rules import chosen, converted, last_part, of_program

_STAGES = {
    f"deepspeed_zero{stage}{ending}": f"zero{stage}"
    for stage in (1, 2, 3)
    for ending in ("", "_offload")
}


def _door(reading: Reading) -> Iterator[Settings]:
    given = read_command_line(reading.run.arguments, switches=frozenset({"cfg_options"}))
    command, file = given.word(0), given.word(1)
    if command is None or command.text not in ("train", "dist_train") or reading.context is None:
        return
    tree = config_at(file.text if file is not None else None, reading.context)
    yield settings_of(reading, given, tree)


FRAMEWORK = Framework(
    settings={
        "framework": of_program("mmengine"),
        "model": "pretrained_model_name_or_path llm_name_or_path",
        "dataset": "data_path alpaca_en_path alpaca_zh_path dataset_path data_name",
        "sequence_length": "max_length",
        "batch_size": "batch_size",
        "gradient_accumulation": "accumulative_counts",
        "epochs": "max_epochs",
        "optimizer": converted(last_part, "optim_type"),
        "learning_rate": "lr",
        "checkpoint_every": "save_steps",
        "checkpoint_dir": "work_dir",
        "parallelism": chosen("deepspeed", _STAGES),
    },
    program=_door,
    samples=(
        Sample(
            command="xtuner train llama_qlora_alpaca_e3 --deepspeed deepspeed_zero2",
            claims={"framework": "mmengine", "parallelism": "zero2"},
        ),
        Sample(command="xtuner chat x", claims={}),
    ),
)
