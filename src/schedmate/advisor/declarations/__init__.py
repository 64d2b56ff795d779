"""How jobs declare their options: one file a library, its models and wrappers in `MODELS`."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.declarations.argparse_models import ARGPARSE
from schedmate.advisor.declarations.undeclared import undeclared
from schedmate.advisor.python.world import Model, Wrapper

MODELS: Mapping[str, Model] = {**ARGPARSE}
"""What library calls that declare or read options return, by dotted callee."""

WRAPPERS: Mapping[str, Wrapper] = {}
"""What decorated functions of the job do when they are called, by the decorator's dotted name."""

__all__ = ["MODELS", "WRAPPERS", "undeclared"]
