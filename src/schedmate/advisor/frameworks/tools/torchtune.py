"""torchtune: `tune run [torchrun flags] recipe --config llama3/8B_lora key=value`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.calls import parts_of
from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    last_part,
    renamed,
    saying,
    stated,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_at, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "sequence_length": "tokenizer.max_seq_len dataset.max_seq_len",
    "batch_size": "batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "epochs": "epochs",
    "learning_rate": "optimizer.lr",
    "precision": "dtype",
    "checkpoint_dir": "output_dir checkpointer.output_dir",
    "resumes": "resume_from_checkpoint",
}
_RECIPES = "recipes/configs"
_SWITCHES = frozenset({"standalone", "no_python"})
_BUILT_IN = re.compile(r"([a-z][\w.]{0,40})/([\d.]{1,6}[BMbm])_\w{1,60}")
_TUNED = re.compile(r"^(?:q?lora|qat|kd)_")


def torchtune(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments, switches=_SWITCHES)
    if [word.text for word in given.positional[:1]] not in ([], ["run"]):
        return
    named = select(given.options, "config")
    config = with_options(_config(named, context), given.options, context)
    yield known_by(run, "framework", "torchtune")
    yield known_by(run, "task", "language_modeling")
    yield from told(config, _NAMES)
    yield from saying("optimizer", last_part(first(config, "optimizer._component_ optimizer")))
    yield from saying("model", _model(config, named))
    yield from saying("dataset", _dataset(config))
    yield from _recipe(given.positional)


def _config(named: Value | None, context: Context) -> Value:
    """A file of the job's, else one that torchtune brings, where a copy of it lies here."""
    path = None if named is None else named.data
    own = config_at(path, context)
    built_in = isinstance(path, str) and _BUILT_IN.fullmatch(path) is not None
    return config_at(f"{_RECIPES}/{path}.yaml", context) if built_in and not parts_of(own) else own


def _model(config: Value, named: Value | None) -> Value | None:
    """The builder's name without how it is tuned, else what the built-in config is called."""
    builder = last_part(first(config, "model._component_ model"))
    if builder is not None:
        return renamed(builder, _TUNED.sub("", str(builder.data)))
    called = stated(named)
    match = _BUILT_IN.fullmatch(str(called.data)) if called is not None else None
    return None if called is None or match is None else renamed(called, f"{match[1]}_{match[2]}")


def _dataset(config: Value) -> Value | None:
    """The hub's name where one is given, else that of the builder."""
    source = first(config, "dataset.source")
    if source is not None and not str(source.data).endswith(("json", "csv", "text")):
        return source
    builder = last_part(first(config, "dataset._component_ dataset"))
    return None if builder is None else renamed(builder, str(builder.data).removesuffix("_dataset"))


def _recipe(positional: tuple[Word, ...]) -> Iterator[Claim]:
    """Distributed recipes shard with FSDP, those for a single device do nothing of the kind."""
    for word in positional:
        for ending, way in (("_distributed", "fsdp"), ("_single_device", "none")):
            if word.text.removesuffix(".py").endswith(ending):
                value = Value(way, word.evidence, source_of(word.evidence))
                yield Claim(field="parallelism", value=value)
                return
