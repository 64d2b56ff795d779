"""How jobs declare their options: one file a library, its models and wrappers in `MODELS`."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.interpret.python.context import CallModel, Wrapper
from schedmate.advisor.options.absl_models import ABSL
from schedmate.advisor.options.argparse_models import ARGPARSE
from schedmate.advisor.options.click_models import CLICK_WRAPPERS
from schedmate.advisor.options.config_files import CONFIG_FILES
from schedmate.advisor.options.dataclass_parsers import DATACLASS_PARSERS, DATACLASS_WRAPPERS
from schedmate.advisor.options.detectron2_models import DETECTRON2
from schedmate.advisor.options.docopt_models import DOCOPT
from schedmate.advisor.options.fire_models import FIRE
from schedmate.advisor.options.gin_models import GIN
from schedmate.advisor.options.hf_parser import HF_PARSER
from schedmate.advisor.options.hydra_models import HYDRA, HYDRA_WRAPPERS
from schedmate.advisor.options.lightning_cli import LIGHTNING_CLI
from schedmate.advisor.options.ml_collections_models import ML_COLLECTIONS
from schedmate.advisor.options.mmengine_models import MMENGINE
from schedmate.advisor.options.omegaconf_models import OMEGACONF
from schedmate.advisor.options.pydantic_models import PYDANTIC
from schedmate.advisor.options.sacred_models import SACRED
from schedmate.advisor.options.typer_models import TYPER
from schedmate.advisor.options.undeclared import undeclared
from schedmate.advisor.options.yacs_models import YACS

MODELS: Mapping[str, CallModel] = {
    **ABSL,
    **ARGPARSE,
    **CONFIG_FILES,
    **DATACLASS_PARSERS,
    **DETECTRON2,
    **DOCOPT,
    **FIRE,
    **GIN,
    **HF_PARSER,
    **HYDRA,
    **LIGHTNING_CLI,
    **ML_COLLECTIONS,
    **MMENGINE,
    **OMEGACONF,
    **PYDANTIC,
    **SACRED,
    **TYPER,
    **YACS,
}
"""What library calls that declare or read options return, by dotted callee."""

WRAPPERS: Mapping[str, Wrapper] = {**CLICK_WRAPPERS, **DATACLASS_WRAPPERS, **HYDRA_WRAPPERS}
"""What decorated functions of the job do when they are called, by the decorator's dotted name."""

__all__ = ["MODELS", "WRAPPERS", "undeclared"]
