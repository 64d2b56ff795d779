"""Files that describe a job without being a script."""

from __future__ import annotations

from pathlib import Path

from schedmate.advisor.launch.manifests import describe
from schedmate.advisor.launch.recipes import tool_of
from schedmate.advisor.sources.files import Files
from schedmate.files import INVOKER
from schedmate.model.account import account_name

_NOTEBOOK = ".ipynb"


def is_job_file(path: Path) -> bool:
    """Of Kubernetes, Ray, Compose and the like, a recipe of a tool, or a notebook."""
    source = Files(path.parent, account_name(), by=INVOKER).read(path)
    if source is None:
        return False
    return path.suffix == _NOTEBOOK or bool(tool_of(source)) or describe(source) is not None
