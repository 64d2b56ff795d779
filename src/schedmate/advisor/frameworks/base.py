"""The contract of a reader: what it may look at, and the claims that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.launch.processes import Processes
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.settle.claim import Claim


def _no_config(_: str) -> Value | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that a reader may look at. `options` are the job's settings by name, as they will be;
    `read_config` is the context's: a file that only a library would open.
    """

    run: PythonRun
    trace: Trace
    options: Mapping[str, Value] = field(default_factory=dict)
    read_config: Callable[[str], Value | None] = _no_config
    processes: Processes = field(default_factory=Processes)
    context: Context | None = None
    """The files, the environment and the command line; None where only a trace is known."""
    root: str = ""
    """The job's directory: code that asks where it lies names places below it in full."""
    calls_by_name: Mapping[str, list[tuple[int, Call]]] = field(init=False, compare=False)
    """Calls with their places in the trace, by the last part of what is called."""

    def __post_init__(self) -> None:
        found: dict[str, list[tuple[int, Call]]] = {}
        for place, call in enumerate(self.trace.calls):
            found.setdefault(call.callee.rpartition(".")[2], []).append((place, call))
        object.__setattr__(self, "calls_by_name", found)


Reader = Callable[[Reading], Iterator[Claim]]
"""Never raises, whatever the code holds; makes no claim rather than guess."""
