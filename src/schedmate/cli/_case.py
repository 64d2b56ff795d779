"""The case that a command line describes: logs, and the state that the scheduler reports."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from schedmate.cli._logs import check_names, check_readable, find_logs, standard_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack

    from schedmate.handler import Case, NamedLog

F = TypeVar("F", bound="Callable[..., Any]")

_OPTIONS = (
    click.option("--state", help="The state that the scheduler reports for it."),
    click.option("--exit-code", metavar="CODE[:SIGNAL]", help="Its exit code, as sacct shows it."),
    click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NODE[=STATE[:WHY]]",
        help="Where it ran, and how that node is: up, drain or down (repeatable).",
    ),
    click.option(
        "--system-log",
        "system_logs",
        multiple=True,
        metavar="LOG",
        help="What its node's kernel wrote (dmesg, journalctl -k); no output of the job.",
    ),
)


def verdict_options(function: F) -> F:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def open_case(
    logs: Sequence[str],
    *,
    state: str | None,
    exit_code: str | None,
    nodes: tuple[str, ...],
    system_logs: tuple[str, ...] = (),
    stack: ExitStack,
) -> Case:
    from schedmate.handler import Case, parse_exit, parse_verdict
    from schedmate.handler.nodes import parse_node
    from schedmate.model.account import account_name

    code, signal = parse_exit(exit_code) if exit_code else (None, None)
    ended, verdict = parse_verdict(state) if state else (None, "")
    parsed = [parse_node(node) for node in nodes]
    return Case(
        logs=(*_open_logs(logs, stack), *_outside(_open_logs(system_logs, stack))),
        state=ended,
        verdict=verdict,
        exit_code=code,
        signal=signal,
        nodes=tuple(name for name, _ in parsed),
        node_states=tuple(state for _, state in parsed if state is not None),
        user=account_name(),
    )


def _open_logs(logs: Sequence[str], stack: ExitStack) -> list[Path | NamedLog]:
    """Find the logs, and make sure before all else that they can be read."""
    from schedmate.handler import NamedLog

    check_names(logs)
    found: list[Path | NamedLog] = []
    for log in logs:
        if log == "-":
            found.append(NamedLog("-", stack.enter_context(_spooled_stdin())))
        else:
            found += find_logs(log)
    check_readable(found)
    return found


def _outside(logs: Sequence[Path | NamedLog]) -> Iterator[NamedLog]:
    """Logs that the job cannot have written, which an operator vouches for."""
    from schedmate.handler import NamedLog

    for log in logs:
        named = NamedLog(str(log), log) if isinstance(log, Path) else log
        yield NamedLog(named.name, named.content, "outside")


@contextmanager
def _spooled_stdin() -> Iterator[Path]:
    """A pipe can be read once and be of any size: keep it on disk for the time being."""
    with tempfile.NamedTemporaryFile() as spool:
        shutil.copyfileobj(standard_input(), spool)
        spool.flush()
        yield Path(spool.name)
