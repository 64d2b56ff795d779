"""Labelled failures and healthy runs: a directory each, with `case.toml` and the logs of a job.

reason = "gpu_oom"              # of the taxonomy; "not_failed" for a healthy run
accept = []                     # other reasons that are right as well
retry = "no"                    # the right decision
cause = ["CUDA out of memory"]  # one of these must stand in a line of the evidence
origin = "produced"             # by a program that really failed; "composed": after a public report
made_by = "produce/torch_errors.py: ..."
state, exit_code, nodes, hung   # optional: what the scheduler reports
ranks = [3]                     # optional: the ranks that must be named as the cause
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schedmate.handler import Case, NamedLog, parse_exit, parse_state
from schedmate.model import BadInput
from schedmate.model.failures import REASONS, Retry
from schedmate.model.wire import from_json

OWN = Path(__file__).parent / "failures" / "own"
REPORTS = Path(__file__).parent / "failures" / "reports"
HEALTHY = "not_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The contents of `case.toml`."""

    reason: str
    retry: Retry
    origin: Literal["produced", "composed"]
    made_by: str
    accept: tuple[str, ...] = ()
    cause: tuple[str, ...] = ()
    state: str | None = None
    exit_code: str | None = None
    nodes: tuple[str, ...] = ()
    hung: bool = False
    ranks: tuple[int, ...] = ()

    @property
    def healthy(self) -> bool:
        return self.reason == HEALTHY


@dataclass(frozen=True, slots=True)
class LabelledCase:
    name: str
    label: Label
    logs: tuple[Path, ...]

    def to_case(self, logs: tuple[Path | NamedLog, ...] | None = None) -> Case:
        label = self.label
        code, signal = parse_exit(label.exit_code) if label.exit_code is not None else (None, None)
        return Case(
            logs=self.logs if logs is None else logs,
            state=parse_state(label.state) if label.state is not None else None,
            exit_code=code,
            signal=signal,
            nodes=label.nodes,
            hung=label.hung,
        )

    def text(self) -> str:
        return "\n".join(log.read_text(errors="replace") for log in self.logs)


def read_case(directory: Path) -> LabelledCase:
    try:
        label = from_json(Label, tomllib.loads((directory / "case.toml").read_text()))
    except (BadInput, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{directory.name}: {error}") from error
    unknown = {label.reason, *label.accept} - REASONS.keys()
    if unknown:
        raise BadInput(f"{directory.name}: {', '.join(sorted(unknown))} is not in the taxonomy")
    files = (path for path in directory.rglob("*") if path.is_file())
    logs = sorted(path for path in files if path.name != "case.toml")
    return LabelledCase(directory.name, label, tuple(logs))


def read_cases(*directories: Path) -> Iterator[LabelledCase]:
    """Read every case below the directories; a directory may be a case itself."""
    for directory in directories:
        for toml in sorted(directory.rglob("case.toml")):
            yield read_case(toml.parent)
