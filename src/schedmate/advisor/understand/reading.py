"""From what a job starts to what it is: its files are read, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.agent import Agent, Seen
from schedmate.advisor.frameworks import IDIOMS
from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.tools import needs_no_code, tool_for
from schedmate.advisor.interpret.python.follow import Followed, follow
from schedmate.advisor.interpret.python.imports import with_local_imports
from schedmate.advisor.interpret.python.modules import Unparsable
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.launch.certainty import at_most
from schedmate.advisor.launch.purpose import TRAINING, purpose_of
from schedmate.advisor.launch.run import Launch, PythonRun
from schedmate.advisor.options import MODELS, WRAPPERS, undeclared
from schedmate.advisor.options.configs import read as read_config
from schedmate.advisor.predicting.signature import signature
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.record import record_of
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.advisor.understand.traits import traits
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import Request

_USES_GPU = re.compile(
    r"cuda|gpu|nvidia|nccl|rocm|\b(?:torch|lightning|pytorch_lightning|transformers|accelerate|"
    r"deepspeed|keras|tensorflow|jax|flax|mxnet|paddle|xgboost|lightgbm|catboost|cupy|numba|cudf|"
    r"cuml|pycuda|triton|vllm|onnxruntime|ultralytics|mmengine|detectron2|fairseq|megatron|fastai)\b",
    re.IGNORECASE,
)


def understand(
    launch: Launch, files: Files, request: Request, agent: Agent | None = None
) -> tuple[Understanding, tuple[Unparsable, ...]]:
    """What the files tell, and those of them that are no Python. An agent fills what they leave
    open."""
    main = _read(launch.main)
    if main is None:
        return Understanding(workload=record_of(launch, None, request, Trace(), ())), ()
    files = replace(files, written=launch.written, seen=files.seen)
    followed = follow(
        _to_follow(main), files, models=MODELS, wrappers=WRAPPERS, read_config=read_config
    )
    trace = followed.trace
    trace.options += undeclared(main.arguments, {option.name for option in trace.options})
    root = f"{files.workdir.absolute()}/"
    says = _says(main, followed, root)
    record = record_of(launch, _as_called(main), request, trace, says, root=root)
    workload = at_most(record, launch.certainty)
    if agent is not None:
        workload = agent.fill(workload, Seen(launch, main, trace, files))
    code = _code(launch, main, files)
    understood = Understanding(
        workload=workload,
        code=tuple(sorted({source.digest for source in code})),
        configs=tuple(sorted(_configs(files))),
        mentions_gpu=any(_USES_GPU.search(source.text) for source in code),
        signature=signature([source.text for source in code]),
        traits=traits(main, trace),
    )
    return understood, followed.problems


def _to_follow(run: PythonRun) -> PythonRun:
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
    if run is None or not run.entry.is_program or tool_for(run) is not None:
        return run
    words = [word.text for word in run.arguments if word.known]
    return run if purpose_of(run.entry.name, words) >= TRAINING else None


def _says(run: PythonRun, followed: Followed, root: str) -> Iterator[Claim]:
    """What reaches a library; of a tool that trains from a config, what the config tells it."""
    options = {option.name: option.value for option in followed.trace.options}
    world = followed.world
    reading = Reading(
        run=run,
        trace=followed.trace,
        options=options,
        read_config=world.read_config,
        processes=followed.processes,
        root=root,
    )
    tool = tool_for(run)
    if tool is not None:
        yield from tool(run, world)
    for idiom in IDIOMS:
        yield from idiom(reading)


def _code(launch: Launch, main: PythonRun, files: Files) -> list[SourceFile]:
    """Every file that may run, whatever was looked at: what makes two jobs the same code."""
    own = [source for source, _ in with_local_imports(main.entry, files)]
    others = [run.entry.source for run in launch.runs if run.entry.source is not None]
    return [*own, *others]


def _configs(files: Files) -> Iterator[str]:
    for path, read in files.seen.items():
        if read is not None and path.suffix != ".py":
            yield read
