"""The bank: training projects written for this purpose, each with how its run time follows.

One TOML file a project under `bank/`: what users vary and how they write it, what a step takes and
from where that is known, and the files themselves, as a user would have them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Unit = Literal["epochs", "steps"]
_OWN_LINES = 30
"""Lines that a user's copy of a project has of its own, about half of it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Project:
    name: str
    about: str
    script: str
    unit: Unit
    length: int
    """How many epochs or steps are usual."""
    batch: int | None = None
    """Of each GPU; None where there is none to speak of."""
    rate: float
    gpus: tuple[int, ...]
    """On how many it is usually run."""
    options: dict[str, str]
    startup_s: float
    step_s: float
    samples: int = 1
    batch_exponent: float
    gpu_exponent: float
    """Of throughput with GPUs; 0: it uses one, however many it is given."""
    origin: str
    measured: tuple[str, ...]
    memory_mb: float
    utilization: float
    checkpoint_s: float
    log_s: float
    gavel: str | None = None
    """What it is called among Gavel's measured job types."""
    files: dict[str, str]

    def unit_s(self, batch: float, gpus: int) -> float:
        """Seconds that one epoch or step takes; `batch` is of each GPU."""
        step = self.step_s * (batch / (self.batch or 1)) ** self.batch_exponent
        steps = 1.0 if self.unit == "steps" else max(1.0, self.samples / batch)
        return float(steps * step * gpus**-self.faster)

    @property
    def faster(self) -> float:
        """By how much (log) a unit is with every doubling (log) of the GPUs: a step is as much
        larger as there are more."""
        return self.gpu_exponent - (self.unit == "steps" and self.gpu_exponent > 0)

    def arguments(self, length: float, batch: float, rate: float) -> tuple[str, ...]:
        """As a user would write them behind the script."""
        values = {"length": f"{length:.0f}", "batch": f"{batch:.0f}", "rate": f"{rate:g}"}
        written = [option.format(values[what]) for what, option in self.options.items()]
        return tuple(word for words in written for word in words.split())

    def files_of(self, copy: int, version: int) -> dict[str, str]:
        """A user's copy, after so many edits; copy 0 before any edit is the bank's own."""
        if copy == version == 0:
            return self.files
        lines = [f"NOTE_{line} = {copy}" for line in range(_OWN_LINES if copy else 0)]
        lines += [f"REVISION = {version}"] if version else []
        main = self.main_file
        return self.files | {main: self.files[main] + "\n".join(lines) + "\n"}

    @property
    def main_file(self) -> str:
        return next(name for name, text in self.files.items() if name.endswith(".py") and text)


@cache
def bank() -> tuple[Project, ...]:
    """In the order of their names."""
    found = list(files(__package__).joinpath("bank").iterdir())
    return tuple(
        _project(each.name.removesuffix(".toml"), tomllib.loads(each.read_text(encoding="utf-8")))
        for each in sorted(found, key=lambda each: each.name)
        if each.name.endswith(".toml")
    )


def _project(name: str, table: dict[str, Any]) -> Project:
    time, use = table.pop("time"), table.pop("use")
    table |= {"gpus": tuple(table["gpus"]), "name": name}
    time["measured"] = tuple(time["measured"])
    return Project(**table, **time, **use)
