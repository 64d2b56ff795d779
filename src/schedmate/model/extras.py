"""Packages that not every installation has, and the extra of SchedMate that brings each."""

from __future__ import annotations

import importlib.util
from typing import Final

EXTRA_OF: Final = {
    "httpx2": "llm",
    "xllamacpp": "embedded",
    "psycopg": "postgres",
    "lightgbm": "sim",
    "numba": "sim",
    "pyarrow": "sim",
    "scipy": "sim",
    "tqdm": "demo",
}
"""By package; all others come with SchedMate itself."""


def is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def needs(what: str, package: str) -> str:
    """The sentence for someone who asked for what a package is missing for."""
    extra = EXTRA_OF[package]
    return f"{what} {package}, of the extra {extra}: pip install '.[{extra}]' in SchedMate's clone"
