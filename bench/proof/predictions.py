"""Predictions kept on disk, so that every command of the proof makes them once.

They do not depend on the policy that they are used by. A file is for one setting, one predictor and
one revision of the code that is run, in `build/proof` below the current directory.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from bench.proof import settings
from bench.proof.settings import Window
from schedmate import advisor
from schedmate.model.advice import Basis
from schedmate.simulator import Setting
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge

KEPT = Path("build/proof")
_SLOW = ("qssf", "site_model", SEMANTIC)
_RUN_BY = ("advisor", "core", "model", "policies", "simulator")


@cache
def revision() -> str:
    """Of all source code that a run depends on; predictions do as well, since they are learnt from
    jobs that have ended, and a run decides when."""
    package = Path(advisor.__file__).parent.parent
    files = [file for each in _RUN_BY for file in (package / each).rglob("*")]
    sources = sorted(file for file in files if file.suffix in (".py", ".toml"))
    here = Path(settings.__file__).parent
    digest = hashlib.sha256()
    for file in (*(here / f"{name}.py" for name in ("measuring", "settings", "tuning")), *sources):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


class KeptKnowledge(Knowledge):
    """Of a setting of the proof; slow predictors are asked once for all commands."""

    def __init__(self, setting: Setting, window: Window) -> None:
        super().__init__(setting)
        self._window = window

    def _ask(self, name: str) -> Estimates:
        if name not in _SLOW:
            return super()._ask(name)
        path = KEPT / revision() / f"{self._window.name} {name}.npz"
        if path.exists():
            return _read(path)
        made = super()._ask(name)
        _write(path, made)
        return made


def _write(path: Path, made: Estimates) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_suffix(".begun.npz")
    spread = np.array([made.p10, made.p50, made.p90, made.cost_s])
    np.savez(begun, spread=spread, source=made.source, basis=np.array(made.basis or [], str))
    begun.rename(path)


def _read(path: Path) -> Estimates:
    with np.load(path) as kept:
        basis: list[Basis] = kept["basis"].tolist()
        low, middle, high, cost = kept["spread"]
        return Estimates(low, middle, high, cost, str(kept["source"]), basis or None)
