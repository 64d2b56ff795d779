"""Classes whose fields are options: HfArgumentParser, trl, tyro, simple-parsing, pydantic, …"""

from __future__ import annotations

from advisor.options.interpreting import job
from schedmate.advisor.interpret.shell import Word

HF = """
    from dataclasses import dataclass, field
    from typing import Optional
    from transformers import HfArgumentParser, Trainer, TrainingArguments

    @dataclass
    class ModelArguments:
        model_name_or_path: Optional[str] = field(default=None, metadata={"help": "x"})
        layers: list[int] = field(default_factory=lambda: [1])
        use_fast: bool = field(default=True)
        revision: Optional[str] = None

    @dataclass
    class DataArguments:
        block_size: int = 512

    parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    """
INTO = """
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
    Trainer(model=model_args.model_name_or_path, args=training_args, size=data_args.block_size)
    """


def hf(tmp_path, command, ending=INTO, **files):
    return job(tmp_path, command, {"train.py": HF + ending, **files})


def test_each_dataclass_gets_its_own_and_the_library_s_the_rest(tmp_path) -> None:
    run = hf(
        tmp_path,
        "train.py --model_name_or_path gpt2 --layers 3 4 --no_use_fast --revision 1234"
        " --learning_rate 3e-4 --fp16 --num_train_epochs 2 --report_to a b",
    )
    assert run.options["layers"] == [3, 4]
    assert run.options["use_fast"] is False
    assert run.options["revision"] == "1234"
    assert run.said("block_size") == (512, "code", "train.py:14")
    told = run.told("transformers.Trainer")
    assert told["model"] == "gpt2"
    assert told["args"] == {
        "learning_rate": 0.0003,
        "fp16": True,
        "num_train_epochs": 2,
        "report_to": ["a", "b"],
    }
    assert told["size"] == 512


def test_a_json_file_instead_of_a_command_line(tmp_path) -> None:
    ending = """
    import os, sys
    if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
        m, d, t = parser.parse_json_file(json_file=os.path.abspath(sys.argv[1]))
    else:
        m, d, t = parser.parse_args_into_dataclasses()
    Trainer(args=t)
    """
    run = hf(
        tmp_path,
        "train.py c.json",
        ending,
        **{"c.json": '{\n"block_size": 64,\n"max_steps": 7}'},
    )
    assert run.said("block_size") == (64, "config", "c.json:2")
    assert run.told("transformers.Trainer")["args"] == {"max_steps": 7}


def test_remaining_words_are_handed_back(tmp_path) -> None:
    ending = """
    m, d, t, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)
    Trainer(args=t, rest=rest)
    """
    run = hf(tmp_path, "train.py --block_size 3 --foo bar", ending)
    assert run.told("transformers.Trainer")["rest"] == ["--foo", "bar"]


def test_trl_s_config_lies_below_the_command_line(tmp_path) -> None:
    code = """
    from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser
    parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
    script_args, training_args, model_args = parser.parse_args_and_config()
    SFTTrainer(args=training_args)
    """
    run = job(
        tmp_path,
        "sft.py --config c.yaml --learning_rate 1e-5",
        {"sft.py": code, "c.yaml": "learning_rate: 2.0e-4\nmax_steps: 9\n"},
    )
    assert run.said("learning_rate")[:2] == (1e-5, "cli")
    assert run.said("max_steps") == (9, "config", "c.yaml:2")
    assert run.told("trl.SFTTrainer")["args"]["max_steps"] == 9


TYRO = """
    from dataclasses import dataclass, field
    import tyro

    @dataclass
    class Optim:
        lr: float = 0.1
        nesterov: bool = True

    @dataclass
    class Config:
        name: str
        optim: Optim = field(default_factory=Optim)
        steps: int = 10

    config = tyro.cli(Config)
    library(lr=config.optim.lr, nesterov=config.optim.nesterov, steps=config.steps)
    """


def test_tyro_reaches_nested_fields(tmp_path) -> None:
    code = TYRO.replace("import tyro", "import tyro\n    from lib import library")
    run = job(tmp_path, "t.py --name x --optim.lr 0.5 --optim.no-nesterov", {"t.py": code})
    assert run.told("lib.library") == {"lr": 0.5, "nesterov": False, "steps": 10}
    assert run.said("optim.lr")[:2] == (0.5, "cli")
    assert run.said("steps") == (10, "code", "t.py:14")


def test_simple_parsing_names_nested_fields_by_their_last_name(tmp_path) -> None:
    code = """
    from dataclasses import dataclass
    from simple_parsing import ArgumentParser
    from lib import library

    @dataclass
    class Options:
        lr: float = 0.1
        steps: int = 10

    parser = ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_arguments(Options, dest="options")
    args = parser.parse_args()
    library(lr=args.options.lr, steps=args.options.steps, seed=args.seed)
    """
    run = job(tmp_path, "t.py --lr 3 --seed 2", {"t.py": code})
    assert run.told("lib.library") == {"lr": 3, "steps": 10, "seed": 2}


def test_draccus_wraps_the_main_function(tmp_path) -> None:
    code = """
    from dataclasses import dataclass
    import draccus
    from lib import library

    @dataclass
    class TrainConfig:
        lr: float = 0.1
        steps: int = 10
        batch_size: int = 8

    @draccus.wrap()
    def main(cfg: TrainConfig):
        library(lr=cfg.lr, steps=cfg.steps, batch_size=cfg.batch_size)

    if __name__ == "__main__":
        main()
    """
    files = {"t.py": code, "c.yaml": "lr: 0.2\nsteps: 20\n"}
    run = job(tmp_path, "t.py --config_path c.yaml --steps=30", files)
    assert run.told("lib.library") == {"lr": 0.2, "steps": 30, "batch_size": 8}


def test_pydantic_settings_listen_to_the_environment(tmp_path) -> None:
    code = """
    from pydantic_settings import BaseSettings, SettingsConfigDict
    from lib import library

    class Settings(BaseSettings):
        model_config = SettingsConfigDict(env_prefix="TRAIN_", cli_parse_args=True)
        lr: float = 0.1
        epochs: int = 3
        batch_size: int = 8

    settings = Settings()
    library(lr=settings.lr, epochs=settings.epochs, batch_size=settings.batch_size)
    """
    run = job(tmp_path, "t.py --lr 0.7", {"t.py": code}, environment={"TRAIN_EPOCHS": Word("5")})
    assert run.told("lib.library") == {"lr": 0.7, "epochs": 5, "batch_size": 8}
    assert run.options["batch_size"] == 8


def test_a_job_s_own_training_arguments_get_the_library_s_options_too(tmp_path) -> None:
    code = """
    from dataclasses import dataclass, field
    import transformers

    @dataclass
    class ModelArguments:
        model: str = "x"

    @dataclass
    class TrainingArguments(transformers.TrainingArguments):
        model_max_length: int = field(default=512)

    parser = transformers.HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()
    transformers.Trainer(args=training_args)
    """
    run = job(tmp_path, "t.py --model gpt2 --learning_rate 2e-5 --bf16 True", {"t.py": code})
    told = run.told("transformers.Trainer")["args"]
    assert told == {"model_max_length": 512, "learning_rate": 2e-5, "bf16": True}
    assert run.options["model"] == "gpt2"
