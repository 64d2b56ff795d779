"""From what a job starts to what it is: its files are read, never run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.claims import claims
from schedmate.advisor.frameworks.index import SIGNS, needs_no_code, started_by
from schedmate.advisor.frameworks.runtime import RUNTIME
from schedmate.advisor.interpret.python.context import CallModel, Wrapper
from schedmate.advisor.interpret.python.imports import with_local_imports
from schedmate.advisor.interpret.python.interpretation import interpret
from schedmate.advisor.interpret.python.parsed import Unparsable
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.launch.certainty import at_most, presumed
from schedmate.advisor.launch.purpose import TRAINING, purpose_of
from schedmate.advisor.launch.run import Launch, PythonRun
from schedmate.advisor.options import MODELS, WRAPPERS, undeclared, unread_configs
from schedmate.advisor.options.configs import read as read_config
from schedmate.advisor.options.unused_keys import unused_keys
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.record import record_of
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.advisor.understand.read_job import Completer, ReadJob
from schedmate.advisor.understand.signature import signature
from schedmate.advisor.understand.traits import traits
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import Evidence, Request, Workload

_USES_GPU = re.compile(
    r"cuda|gpu|nvidia|nccl|rocm|\b(?:cupy|numba|cudf|cuml|pycuda|triton|onnxruntime|"
    + "|".join(name for signs in SIGNS for name in signs.imported_as if name != "sklearn")
    + r")\b",
    re.IGNORECASE,
)

_NEEDS_GPU = re.compile(
    r"\.cuda\(|(?:\.to\(|\bdevice\s?=|\btorch\.device\()\s?[\"']cuda|\bcuda\.set_device\(", re.ASCII
)
_DOES_WITHOUT = re.compile(r"\bis_available\b|\bdevice_count\b|[\"']cpu[\"']", re.ASCII)


def understand(
    launch: Launch, files: Files, request: Request, completer: Completer | None = None
) -> tuple[Understanding, tuple[Unparsable, ...]]:
    """What the files tell, and those of them that are no Python."""
    files = replace(files, written=launch.written, seen=files.seen)

    def read(launch: Launch) -> ReadJob:
        found = read_code(launch, files)
        if found is None:
            record = record_of(launch, None, request, Trace(), ())
            return ReadJob(launch, record, files)
        reading, unparsable = found
        record = settled_record(launch, reading, request, claims(reading))
        workload = at_most(record, launch.certainty)
        return ReadJob(
            launch, workload, files, reading.run, reading.trace, unparsable, reading.processes
        )

    job = read(launch)
    if completer is not None:
        job = completer.complete(job, read)
    if job.run is None:
        said = Understanding(workload=job.workload, summary=job.summary, remarks=job.remarks)
        return said, ()
    code = _code(job.launch, job.run, files)
    understood = Understanding(
        workload=job.workload,
        code=tuple(sorted({source.digest for source in code})),
        configs=tuple(sorted(_configs(files))),
        mentions_gpu=any(_USES_GPU.search(source.text) for source in code),
        needs_gpu=_needs_gpu([source.text for source in code]),
        signature=signature([source.text for source in code]),
        traits=traits(job.run, job.trace),
        summary=job.summary,
        remarks=job.remarks,
    )
    return understood, job.problems


def _needs_gpu(texts: Iterable[str]) -> bool:
    """Code that asks whether there is a GPU, or names the CPU, may do without."""
    whole = "\n".join(texts)
    return _NEEDS_GPU.search(whole) is not None and _DOES_WITHOUT.search(whole) is None


def read_code(
    launch: Launch,
    files: Files,
    *,
    models: Mapping[str, CallModel] = MODELS,
    wrappers: Mapping[str, Wrapper] = WRAPPERS,
) -> tuple[Reading, tuple[Unparsable, ...]] | None:
    """What readers may look at; None where the job starts nothing that can be understood."""
    run = _read(launch.main)
    if run is None:
        return None
    interpreted = interpret(
        _to_interpret(run),
        files,
        models=models,
        wrappers=wrappers,
        libraries=RUNTIME,
        read_config=read_config,
    )
    trace = interpreted.trace
    if interpreted.configs and run.entry.source is not None:
        code = [source for source, _ in with_local_imports(run.entry, files)]
        trace.unused |= unused_keys(trace, interpreted.configs, code)
    if not needs_no_code(run):
        unread = unread_configs(
            run.arguments,
            interpreted.context,
            interpreted.configs,
            elsewhere=run.entry.source is None,
        )
        trace.options[:0] = list(unread)
    trace.options += undeclared(run.arguments, {option.name for option in trace.options})
    reading = Reading(
        run=run,
        trace=trace,
        options={option.name: option.value for option in trace.options},
        read_config=interpreted.context.read_config,
        processes=interpreted.processes,
        context=interpreted.context,
        root=f"{files.workdir.absolute()}/",
    )
    return reading, interpreted.problems


def settled_record(
    launch: Launch, reading: Reading, request: Request, stated: Iterable[Claim]
) -> Workload:
    run = _as_called(reading.run)
    record = record_of(launch, run, request, reading.trace, stated, root=reading.root)
    branches = reading.trace.presumed

    def holds(line: Evidence) -> bool:
        in_script = (line.file, line.line) in launch.presumed
        return in_script or any(branch.holds(line) for branch in branches)

    return presumed(record, holds)


def _to_interpret(run: PythonRun) -> PythonRun:
    """Of a tool that trains from a config alone not the code, should a copy of it lie here."""
    return replace(run, entry=replace(run.entry, source=None)) if needs_no_code(run) else run


def _as_called(run: PythonRun) -> PythonRun:
    """A tool's own console script by its name, not by the file that a copy of it has for that."""
    if run.entry.function is None or not needs_no_code(run):
        return run
    name = PurePosixPath(run.command.text).name
    return replace(run, entry=replace(run.entry, name=name))


def _read(run: PythonRun | None) -> PythonRun | None:
    """Of a program whose code is elsewhere only what is for training can be understood."""
    if run is None or not run.entry.is_program or started_by(run) is not None:
        return run
    words = [word.text for word in run.arguments if word.known]
    return run if purpose_of(run.entry.name, words) >= TRAINING else None


def _code(launch: Launch, main: PythonRun, files: Files) -> list[SourceFile]:
    """Every file that may run, whatever was looked at: what makes two jobs the same code."""
    own = [source for source, _ in with_local_imports(main.entry, files)]
    others = [run.entry.source for run in launch.runs if run.entry.source is not None]
    return [*own, *others]


def _configs(files: Files) -> Iterator[str]:
    for path, read in files.seen.items():
        if read is not None and path.suffix != ".py":
            yield read
