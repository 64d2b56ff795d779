"""How jobs declare their options: one file a library, its models and wrappers in `MODELS`."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.declarations.absl_models import ABSL
from schedmate.advisor.declarations.argparse_models import ARGPARSE
from schedmate.advisor.declarations.click_models import CLICK_WRAPPERS
from schedmate.advisor.declarations.config_files import CONFIG_FILES
from schedmate.advisor.declarations.dataclass_parsers import DATACLASS_PARSERS, DATACLASS_WRAPPERS
from schedmate.advisor.declarations.detectron2_models import DETECTRON2
from schedmate.advisor.declarations.docopt_models import DOCOPT
from schedmate.advisor.declarations.fire_models import FIRE
from schedmate.advisor.declarations.gin_models import GIN
from schedmate.advisor.declarations.hf_parser import HF_PARSER
from schedmate.advisor.declarations.hydra_models import HYDRA, HYDRA_WRAPPERS
from schedmate.advisor.declarations.lightning_cli import LIGHTNING_CLI
from schedmate.advisor.declarations.ml_collections_models import ML_COLLECTIONS
from schedmate.advisor.declarations.mmengine_models import MMENGINE
from schedmate.advisor.declarations.omegaconf_models import OMEGACONF
from schedmate.advisor.declarations.pydantic_models import PYDANTIC
from schedmate.advisor.declarations.sacred_models import SACRED
from schedmate.advisor.declarations.typer_models import TYPER
from schedmate.advisor.declarations.undeclared import undeclared
from schedmate.advisor.declarations.yacs_models import YACS
from schedmate.advisor.python.world import Model, Wrapper

MODELS: Mapping[str, Model] = {
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
