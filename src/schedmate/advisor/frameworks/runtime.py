"""What libraries return to a running job, as its first process sees it: ranks, counts, devices.

Some hand values through unchanged, or start code of the job.
"""

from __future__ import annotations

from collections.abc import Callable

from schedmate.advisor.interpret.python.engine import (
    Arguments,
    Engine,
    Libraries,
    Native,
    NativeMethod,
    Site,
)
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.launch.processes import Count, Processes
from schedmate.advisor.sources.words import words

_NAMES = words(
    "torch torchvision torchaudio transformers accelerate peft trl lightning pytorch_lightning "
    "deepspeed tensorflow keras jax jaxlib flax optax numpy scipy pandas sklearn yaml hydra "
    "omegaconf wandb xgboost lightgbm catboost"
)
_SWITCHES = words("overwrite_output_dir do_train")
"""Of the Trainer's scripts, which are as they leave them."""
_TRUE = words(
    "is_main_process is_local_main_process is_global_zero is_world_process_zero is_rank_zero "
    "is_master is_local_process_zero"
)
_ZERO = words("process_index local_process_index global_rank local_rank node_rank")
_COUNTERS = words("Accelerator PartialState AcceleratorState Fabric Trainer Lite JobEnvironment")
_SIZES = words("num_processes world_size num_tasks")


def _member(engine: Engine, value: Value, name: str) -> Value | None:
    """`accelerator.num_processes`, `trainer.is_global_zero`."""
    counts = isinstance(value.data, LibraryObject) and name in _SIZES
    if counts and value.data.kind.rpartition(".")[2] in _COUNTERS:
        return _value(engine.processes.total)
    if name in _TRUE:
        return Value(True)
    return Value(0) if name in _ZERO else None


def _value(count: Count | None) -> Value | None:
    return None if count is None else Value(count.number, count.lines, "derived")


def _always(data: object) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        return Value(data, (site.line,))

    return asked


def _counting(ask: Callable[[Processes], Count | None]) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        return _value(ask(engine.processes))

    return asked


def _of_library(native: Native) -> NativeMethod:
    """As a method, unless an object of the job's own has one of that name."""

    def asked(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
        return None if isinstance(receiver.data, Table) else native(engine, arguments, site)

    return asked


def _first_argument(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return arguments.positional[0] if arguments.positional else None


def _trange(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    return engine.call(Value(Dotted("range")), Arguments(arguments.positional), site)


def _spawn(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """`spawn(f, args=(…))` calls `f(rank, …)`; it is interpreted on rank 0."""
    function = arguments.keywords.get("fn") or _first_argument(engine, arguments, site)
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
    method = getattr(getattr(site.node, "func", None), "attr", "prepare")
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
    if len(arguments.positional) == 1:
        return arguments.positional[0]
    return Value(Sequence(list(arguments.positional), arguments.complete, "tuple"))


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


def _remote(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    """Ray's `task.remote(…)` and `Actor.remote(…)` call what they are asked of."""
    known = isinstance(receiver.data, (LocalFunction, LocalClass))
    return engine.call(receiver, arguments, site) if known else None


_ALL, _NODE = _counting(lambda started: started.total), _counting(lambda started: started.per_node)
_DEVICES = _counting(lambda started: started.devices)
_RANKS = words("get_rank get_local_rank rank local_rank process_index")
_OF_TORCH = words("torch.distributed torch.distributed.distributed_c10d")
_OF_HOROVOD = words("horovod.torch horovod.tensorflow horovod.tensorflow.keras horovod.keras")
_AVAILABLE = words(
    "torch.cuda.is_available torch.distributed.is_available torch.cuda.is_bf16_supported "
    "transformers.utils.is_torch_available"
)
_BARS = words("tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.rich.tqdm rich.progress.track")

RUNTIME = Libraries(
    functions={
        **dict.fromkeys(_AVAILABLE, _always(True)),
        **{f"{of}.{name}": _always(0) for of in _OF_TORCH | _OF_HOROVOD for name in _RANKS},
        "jax.process_index": _always(0),
        "deepspeed.comm.get_rank": _always(0),
        **{f"{of}.get_world_size": _ALL for of in (*_OF_TORCH, "deepspeed.comm")},
        "jax.process_count": _ALL,
        **{f"{of}.size": _ALL for of in _OF_HOROVOD},
        **{f"{of}.local_size": _NODE for of in _OF_HOROVOD},
        "torch.cuda.device_count": _DEVICES,
        "torch.accelerator.device_count": _DEVICES,
        "jax.local_device_count": _DEVICES,
        "torch.multiprocessing.spawn": _spawn,
        "torch.multiprocessing.start_processes": _spawn,
        **dict.fromkeys(_BARS, _first_argument),
        **dict.fromkeys(("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"), _trange),
    },
    methods={
        **dict.fromkeys(("prepare", "setup", "setup_dataloaders"), _prepared),
        "save_hyperparameters": _save_hyperparameters,
        "remote": _remote,
        "is_world_process_zero": _of_library(_always(True)),
        "is_local_process_zero": _of_library(_always(True)),
        "get_rank": _of_library(_always(0)),
        "Get_size": _of_library(_ALL),
    },
    member=_member,
    names=_NAMES,
    switches=_SWITCHES,
)
