"""litgpt: `litgpt finetune_lora --config x.yaml --train.epochs 1`."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import converted, last_part, of_program, resumption
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs.building import value_of

_WAYS_TO_TUNE = ("lora", "full", "adapter")


def _model(settings: Settings) -> Value | None:
    """Checkpoints lie in `checkpoints/` under the name that the hub has for them."""
    places = [word for word in settings.words[1:] if word.text not in _WAYS_TO_TUNE]
    named = value_of(places[0]) if places else None
    found = named or settings.first("model_name initial_checkpoint_dir checkpoint_dir")
    if found is None or not isinstance(found.data, str):
        return None
    return restated(found, found.data.rstrip("/").removeprefix("./").removeprefix("checkpoints/"))


FRAMEWORK = Framework(
    settings={
        "framework": of_program("lightning"),
        "task": of_program("language_modeling"),
        "model": _model,
        "dataset": converted(last_part, "data.class_path data"),
        "batch_size": "train.micro_batch_size",
        "epochs": "train.epochs",
        "max_steps": "train.max_steps",
        "sequence_length": "train.max_seq_length",
        "checkpoint_every": "train.save_interval",
        "checkpoint_dir": "out_dir",
        "optimizer": converted(last_part, "optimizer.class_path optimizer"),
        "learning_rate": "optimizer.init_args.lr optimizer.lr train.learning_rate",
        "precision": "precision",
        "resumes": resumption("resume"),
    },
    program=command_line(commands=("finetune", "pretrain"), config="config"),
    samples=(
        Sample(
            command="litgpt finetune_lora --config c.yaml --train.epochs 1",
            files={
                "c.yaml": "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\n"
                "out_dir: out/lora\nprecision: bf16-true\n"
                "data:\n  class_path: litgpt.data.Alpaca2k\n"
                "train:\n  save_interval: 200\n  micro_batch_size: 2\n  epochs: 4\n  max_steps:\n"
                "  max_seq_length: 512\noptimizer:\n  class_path: torch.optim.AdamW\n"
                "  init_args:\n    lr: 0.0002\n",
            },
            claims={
                "framework": "lightning",
                "task": "language_modeling",
                "model": "meta-llama/Llama-2-7b-hf",
                "dataset": "Alpaca2k",
                "batch_size": 2,
                "epochs": 1,
                "sequence_length": 512,
                "checkpoint_every": 200,
                "checkpoint_dir": "out/lora",
                "optimizer": "AdamW",
                "learning_rate": 0.0002,
                "precision": "bf16-true",
            },
        ),
        Sample(
            command="litgpt pretrain pythia-14m --data JSON --optimizer Adam",
            claims={
                "framework": "lightning",
                "task": "language_modeling",
                "model": "pythia-14m",
                "dataset": "JSON",
                "optimizer": "Adam",
            },
        ),
        Sample(command="litgpt chat x", claims={}),
    ),
)
