"""Python that this version of Python cannot parse."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.sources.files import evidence
from schedmate.model import Remark


def syntax_errors(checked: Checked) -> Iterator[Remark]:
    for problem in checked.problems:
        lines = problem.source.lines()
        line = min(problem.line, len(lines))
        yield Remark(
            level="error" if problem.depth == 0 else "warning",
            text=f"{problem.source.name} line {line} is not valid Python: {problem.problem}",
            evidence=(evidence(problem.source.name, line, lines[line - 1]),),
        )
