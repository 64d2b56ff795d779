"""The traits of a job's code, from what was seen when it was interpreted."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from schedmate.advisor.frameworks.index import SIGNS
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.python.values import Call
from schedmate.advisor.launch.launchers import MPI, SPAWNERS
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.sources.words import words
from schedmate.advisor.understand.understanding import Library, Traits

_SAVES = re.compile(
    r"(?:^|[._])(?:save|savez|savez_compressed|dump|save_\w{0,60}|\w{0,60}checkpoint\w{0,60}|export|"
    r"write_checkpoint|to_disk)$",
    re.IGNORECASE,
)
_SHARES = re.compile(
    r"(?:^|[._])(?:dataparallel|distributed\w{0,60}|\w{0,60}distributed|ddp|fsdp|fully_shard|"
    r"init_process_group|init_device_mesh|parallelize_module|pmap|pjit|shard_map|mesh|"
    r"device_count|mirroredstrategy|multiworkermirroredstrategy|spawn|set_device)\b",
    re.IGNORECASE,
)
_SAVES_BY_ITSELF = frozenset(name for signs in SIGNS if signs.saves for name in signs.imported_as)
_SHARES_BY_ITSELF = words(
    "horovod fairscale ray sglang bagua byteps alpa autogluon peft"
) | frozenset(name for signs in SIGNS if signs.shares for name in signs.imported_as)
_STARTS_MANY = SPAWNERS | MPI | {"horovodrun"}


def traits(run: PythonRun, trace: Trace) -> Traits:
    libraries = tuple(_libraries(trace))
    packages = {library.name for library in libraries}
    unsure = trace.exhausted
    return Traits(
        libraries=libraries,
        saves=unsure or any(_saves(call) for call in trace.calls),
        shares_gpus=unsure
        or bool(packages & _SHARES_BY_ITSELF)
        or bool(_STARTS_MANY.intersection(run.launchers))
        or any(_shares(call) for call in trace.calls),
    )


def _libraries(trace: Trace) -> Iterator[Library]:
    seen: set[str] = set()
    for imported in trace.imports:
        name = imported.name.partition(".")[0]
        if name not in seen and name not in sys.stdlib_module_names:
            seen.add(name)
            yield Library(name, imported.line, imported.optional)


def _saves(call: Call) -> bool:
    return bool(_SAVES.search(call.callee)) or not _SAVES_BY_ITSELF.isdisjoint(
        call.callee.split(".")
    )


def _shares(call: Call) -> bool:
    return bool(_SHARES.search(call.callee)) or "device_map" in call.keywords
