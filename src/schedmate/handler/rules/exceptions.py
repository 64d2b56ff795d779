"""Exceptions of which only the type says something; asked last."""

import re

from schedmate.handler.rules.base import Rule
from schedmate.handler.rules.named import by_name

RULES = (
    by_name("name_error", "NameError", "UnboundLocalError", example="name 'x' is not defined"),
    by_name("attribute_error", "AttributeError", example="'x' object has no attribute 'y'"),
    by_name("type_error", "TypeError", example="f() missing 1 required positional argument: 'x'"),
    by_name("value_error", "ValueError", example="not enough values to unpack"),
    by_name("key_error", "KeyError", example="'warmup_steps'"),
    by_name("index_error", "IndexError", example="list index out of range"),
    by_name("zero_division", "ZeroDivisionError", example="division by zero"),
    by_name("assertion_error", "AssertionError", example="batch size 30 != 32"),
    Rule(
        reason="python_exception",
        pattern=re.compile(r"^[A-Za-z_][\w.]{0,200}(?::|$)"),
        errors_only=True,
        confidence=0.7,
        positives=("RuntimeError: anything", "mylib.errors.OutOfLuck: try again"),
        negatives=("42: no exception",),
    ),
)
