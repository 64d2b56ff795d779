"""How jobs declare their options: one file a library, its models and wrappers in `MODELS`."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.interpret.python.context import CallModel, Wrapper
from schedmate.advisor.options.by_package import ByPackage
from schedmate.advisor.options.undeclared import undeclared
from schedmate.advisor.options.unread_configs import unread_configs

MODELS: Mapping[str, CallModel] = ByPackage(
    (
        ("absl_models", "ABSL", "absl gflags tensorflow"),
        (
            "argparse_models",
            "ARGPARSE",
            (
                "argparse argparse_dataclass colossalai composer configargparse deepspeed "
                "jsonargparse lightning pytorch_lightning rich_argparse simple_parsing "
                "transformers trl"
            ),
        ),
        (
            "called_back",
            "CALLED_BACK",
            (
                "accelerate detectron2 fastreid lightning optuna pytorch_lightning ray torch_xla "
                "transformers trl wandb"
            ),
        ),
        (
            "config_files",
            "CONFIG_FILES",
            (
                "addict attrdict attridict box commentjson dotmap easydict hjson json json5 munch "
                "orjson oyaml prodict ruamel ruamel_yaml toml tomli tomllib ujson yaml"
            ),
        ),
        ("configparser_models", "CONFIGPARSER", "configparser"),
        (
            "dataclass_parsers",
            "DATACLASS_PARSERS",
            "chanfig draccus lerobot pyrallis simple_parsing tyro",
        ),
        ("detectron2_models", "DETECTRON2", "detectron2"),
        ("docopt_models", "DOCOPT", "docopt"),
        ("fire_models", "FIRE", "fire"),
        ("gin_models", "GIN", "gin"),
        ("hf_parser", "HF_PARSER", "alignment transformers trl"),
        ("hydra_models", "HYDRA", "hydra"),
        ("lightning_cli", "LIGHTNING_CLI", "defopt jsonargparse lightning pytorch_lightning"),
        ("ml_collections_models", "ML_COLLECTIONS", "ml_collections"),
        ("mmengine_models", "MMENGINE", "mmcv mmengine"),
        (
            "omegaconf_models",
            "OMEGACONF",
            "detectron2 fastreid fvcore iopath mmcv mmengine omegaconf yacs",
        ),
        ("pydantic_models", "PYDANTIC", "pydantic pydantic_settings"),
        ("sacred_models", "SACRED", "sacred"),
        ("submitit_models", "SUBMITIT", "submitit"),
        ("typer_models", "TYPER", "typer"),
        ("yacs_models", "YACS", "detectron2 fastreid fvcore iopath yacs"),
    )
)
"""What library calls that declare or read options return, by dotted callee; `X.*` is what any
attribute of X is."""

WRAPPERS: Mapping[str, Wrapper] = ByPackage(
    (
        ("click_models", "CLICK_WRAPPERS", "asyncclick click rich_click"),
        ("dataclass_parsers", "DATACLASS_WRAPPERS", "draccus lerobot pyrallis"),
        ("hydra_models", "HYDRA_WRAPPERS", "hydra"),
    )
)
"""What decorated functions of the job do when they are called, by the decorator's dotted name."""

__all__ = ["MODELS", "WRAPPERS", "undeclared", "unread_configs"]
