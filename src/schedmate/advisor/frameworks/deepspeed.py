"""`deepspeed.initialize`, with its config in the code, in a file, or named on the command line."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of, part_of
from schedmate.advisor.frameworks.deepspeed_config import deepspeed_said
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim

_OPTIONS = ("deepspeed_config", "deepspeed", "ds_config", "deepspeed_config_file")


def deepspeed(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "initialize", "DeepSpeedPlugin"):
        if not is_of(call.callee, "deepspeed", "accelerate"):
            continue
        config = _config(reading, call)
        if config is not None:
            yield from deepspeed_said(reading, config, call)
            return


def _config(reading: Reading, call: Call) -> Value | None:
    for name in ("config", "config_params", "hf_ds_config"):
        given = call.keywords.get(name)
        if given is not None and given.known and given.data is not None:
            return given
    args = call.argument("args", 0)
    for name in _OPTIONS:
        value = part_of(args, name) or reading.options.get(name)
        if value is not None and isinstance(value.data, str):
            return value
    return None
