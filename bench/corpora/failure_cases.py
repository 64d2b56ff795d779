"""The cases of an exam: a directory each, with `case.toml` and the logs of one job in it.

reason = "gpu_oom"              # of the taxonomy; "not_failed" for a healthy run
accept = []                     # other reasons that a careful person would let pass
retry = "no"                    # the right decision
cause = ["CUDA out of memory"]  # one of these must stand in a line of the evidence
origin = "produced"             # a program really failed so; "composed": after a public report
made_by = "produce/torch_errors.py: ..."
state, exit_code, nodes, hung   # optional: what the scheduler says
ranks = [3]                     # optional: who must be blamed
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
HEALTHY = "not_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What `case.toml` says."""

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
class ExamCase:
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


def read_case(directory: Path) -> ExamCase:
    try:
        label = from_json(Label, tomllib.loads((directory / "case.toml").read_text()))
    except (BadInput, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{directory.name}: {error}") from error
    unknown = {label.reason, *label.accept} - REASONS.keys()
    if unknown:
        raise BadInput(f"{directory.name}: {', '.join(sorted(unknown))} is not in the taxonomy")
    files = (path for path in directory.rglob("*") if path.is_file())
    logs = sorted(path for path in files if path.name != "case.toml")
    return ExamCase(directory.name, label, tuple(logs))


def read_cases(*directories: Path) -> Iterator[ExamCase]:
    """Read every case below the directories; a directory may be a case itself."""
    for directory in directories:
        for toml in sorted(directory.rglob("case.toml")):
            yield read_case(toml.parent)
