"""A few calls of libraries through which values pass unchanged, or that start the job's code."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.known_members import TRUE_CALLS, ZERO_CALLS
from schedmate.advisor.interpret.python.natives.base import Native, NativeMethod, first
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    Sequence,
    Table,
    Value,
)

_PREPARES = ("prepare", "setup", "setup_dataloaders")


def _always(data: object) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        return Value(data, (site.line,))

    return asked


def _first_argument(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return first(arguments)


def _last_argument(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return arguments.positional[-1] if arguments.positional else None


def _trange(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return engine.call(Value(Dotted("range")), Arguments(arguments.positional), site)


def _spawn(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`spawn(f, args=(…))` calls `f(rank, …)`; it is interpreted on rank 0."""
    function = arguments.keywords.get("fn") or first(arguments)
    given = arguments.keywords.get("args")
    if given is None and len(arguments.positional) > 1:
        given = arguments.positional[1]
    if function is None:
        return None
    rest = given.data.items if given is not None and isinstance(given.data, Sequence) else []
    engine.call(function, Arguments([Value(0), *rest]), site)
    return None


def _prepared(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    """`accelerator.prepare(model, optimizer)` gives back what it gets, and is noted."""
    known = isinstance(receiver.data, LibraryObject) and receiver.data.kind.rpartition(".")[2] in (
        "Accelerator",
        "Fabric",
    )
    if not known or not arguments.positional:
        return None
    _note(engine, receiver, arguments, site)
    if len(arguments.positional) == 1:
        return arguments.positional[0]
    return Value(Sequence(list(arguments.positional), arguments.complete, "tuple"))


def _note(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> None:
    name = getattr(site.node, "func", None)
    method = getattr(name, "attr", "prepare")
    engine.trace.calls.append(
        Call(
            callee=f"{receiver.data.kind}.{method}",
            positional=tuple(arguments.positional),
            keywords=arguments.keywords,
            line=site.line,
            reached=engine.state.reached,
            depth=site.scope.file.depth,
            receiver=receiver,
            within=engine.state.within,
        )
    )


def _save_hyperparameters(
    engine: Engine, receiver: Value, arguments: Arguments, site: Site
) -> Value | None:
    """Lightning's `self.save_hyperparameters()` keeps what `__init__` was given in `hparams`."""
    if not isinstance(receiver.data, Table) or receiver.data.of is None:
        return None
    given = {name: part for name, part in site.scope.arguments.items() if name != "self"}
    for value in arguments.positional:
        if isinstance(value.data, Table):
            given |= value.data.parts
    kwargs = given.pop("kwargs", None)
    if kwargs is not None and isinstance(kwargs.data, Table):
        given |= kwargs.data.parts
    hparams = Value(Table(given, "hparams"), (site.line,))
    engine.memory.write(receiver.data.parts, "hparams", hparams)
    return Value(None)


def _start_thread(
    engine: Engine, receiver: Value, arguments: Arguments, site: Site
) -> Value | None:
    """`Process(target=f, args=(…)).start()` calls f."""
    data = receiver.data
    if not isinstance(data, LibraryObject) or data.kind.rpartition(".")[2] not in (
        "Process",
        "Thread",
    ):
        return None
    target, given = data.call.argument("target"), data.call.argument("args")
    if target is None:
        return None
    rest = given.data.items if given is not None and isinstance(given.data, Sequence) else []
    engine.call(target, Arguments(list(rest)), site)
    return Value(None)


def _true_method(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    return None if isinstance(receiver.data, Table) else Value(True, (site.line,))


def _rank(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    return None if isinstance(receiver.data, Table) else Value(0, (site.line,))


_RANKS = "torch.distributed torch.distributed.distributed_c10d horovod.torch horovod.tensorflow"
LIBRARIES: dict[str, Native] = {
    **{name: _always(True) for name in TRUE_CALLS if "." in name},
    **{f"{owner}.{name}": _always(0) for owner in _RANKS.split() for name in ZERO_CALLS},
    "jax.process_index": _always(0),
    "deepspeed.comm.get_rank": _always(0),
    "torch.multiprocessing.spawn": _spawn,
    "torch.multiprocessing.start_processes": _spawn,
    "typing.cast": _last_argument,
    "tqdm.tqdm": _first_argument,
    "tqdm.auto.tqdm": _first_argument,
    "tqdm.notebook.tqdm": _first_argument,
    "tqdm.rich.tqdm": _first_argument,
    "rich.progress.track": _first_argument,
    **dict.fromkeys(("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"), _trange),
}
LIBRARY_METHODS: dict[str, NativeMethod] = {
    **dict.fromkeys(_PREPARES, _prepared),
    "save_hyperparameters": _save_hyperparameters,
    "start": _start_thread,
    **dict.fromkeys(("is_world_process_zero", "is_local_process_zero"), _true_method),
    "get_rank": _rank,
}
