"""Whether code changes the shape of a model that it takes by its name."""

from __future__ import annotations

import re

from schedmate.advisor.interpret.python.trace import Binding, Trace
from schedmate.advisor.interpret.python.values import Call, Table
from schedmate.advisor.settle.vocabulary import field_of
from schedmate.advisor.sources.words import words

_SHAPE = words("d_model n_layer n_head vocab_size")
_BY_NAME = ("from_pretrained", "from_config", "from_name")
_CUT = re.compile(r"(\S{1,80}\.(?:h|layers?|blocks))\s?=.{0,80}?\1\[")
"""Layers that are replaced by some of them: `model.h = model.h[:6]`."""


def changes_shape(trace: Trace) -> bool:
    """A config that gets another depth or width, in any way, is no longer that of its name."""
    return any(map(_sets_shape, trace.bindings)) or any(map(_gives_shape, trace.calls))


def _sets_shape(binding: Binding) -> bool:
    if binding.where != "attribute":
        return False
    of_a_name = binding.of.endswith(_BY_NAME) and _is_shape(binding.name)
    return of_a_name or _CUT.search(binding.line.text) is not None


def _gives_shape(call: Call) -> bool:
    """`from_pretrained(name, n_layer=3)`, `config.update({"n_layer": 3})`."""
    owner, _, method = call.callee.rpartition(".")
    names = set(call.keywords)
    if method == "update" and owner.endswith(_BY_NAME):
        tables = [each.data for each in call.positional if isinstance(each.data, Table)]
        names |= {name for table in tables for name in table.parts}
    elif method not in _BY_NAME:
        return False
    return any(map(_is_shape, names))


def _is_shape(name: str) -> bool:
    found = field_of(name)
    return found is not None and found[0] in _SHAPE
