"""What a sweep found, as a table that other tools read: one row a setting and policy."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

from schedmate.model import BadInput
from schedmate.simulator.report.gains import ratio
from schedmate.simulator.sweeps.execution import SimulationResult

_ENDINGS = (".csv", ".jsonl")


def unusable(path: Path) -> str | None:
    """Why nothing can be saved there, before hours are spent on it."""
    if path.suffix not in _ENDINGS:
        return f"{path} ends in neither .csv nor .jsonl"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}"
    return None


def save(path: Path, results: Sequence[SimulationResult]) -> None:
    rows = list(_rows(results))
    text = _csv(rows) if path.suffix == ".csv" else "".join(f"{json.dumps(row)}\n" for row in rows)
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"cannot write {path}: {why}; name another file") from error


def _rows(results: Iterable[SimulationResult]) -> Iterator[dict[str, Any]]:
    for each in results:
        compared = each.compared
        first = next(iter(compared.policies.values()))
        for policy, summary in compared.policies.items():
            predictors = compared.controls.get(policy, {"": summary})
            for predictor, found in predictors.items():
                yield {
                    "trace": each.task.source,
                    **each.task.swept,
                    "jobs": compared.jobs,
                    "gpus": compared.gpus,
                    "asked_load": compared.load,
                    "policy": policy,
                    **({"predictor": predictor} if compared.controls else {}),
                    **({"code": compared.code.get(policy, "")} if compared.code else {}),
                    **asdict(found),
                    "times_better": ratio(first.avg_jct_s, found.avg_jct_s),
                }


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    written = StringIO()
    table = csv.DictWriter(written, fieldnames=list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()
