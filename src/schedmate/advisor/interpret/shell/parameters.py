"""`${…}`: the value of a variable and what is done to it on the way."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable

from schedmate.advisor.interpret.shell.expansion import Scope, expand
from schedmate.advisor.interpret.shell.spans import (
    Array,
    joined,
    known,
    plain,
    same,
    separate,
    text_of,
    unknown,
)
from schedmate.advisor.interpret.shell.words import Place, Spans

_PARAMETER = re.compile(
    r"(?P<prefix>[#!]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]{1,5}|[@*#?$!-])"
    r"(?:\[(?P<subscript>[^\]]{0,500})\])?(?P<rest>.*)",
    re.DOTALL | re.ASCII,
)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|/[/#%]?|\^\^?|,,?|:|@")
_MAX_TEXT = 400
_LISTS = ("@", "*")


def parameter(inside: str, whole: str, at: Place, scope: Scope, depth: int = 0) -> Spans:
    """What `${inside}` stands for; the text itself, marked unknown, where unknown."""
    found = _PARAMETER.fullmatch(inside)
    if found is None:
        return unknown(whole, at)
    if found["name"] == "#" and not found["rest"] and scope.arguments is not None:
        return plain(str(len(scope.arguments)), at)
    expansion = _Parameter(found, whole, at, scope, depth)
    if found["prefix"] == "#":
        return expansion.length()
    if found["prefix"] == "!":
        return expansion.indirect()
    return expansion.value()


class _Parameter:
    def __init__(
        self, found: re.Match[str], whole: str, at: Place, scope: Scope, depth: int
    ) -> None:
        self._name: str = found["name"]
        self._subscript: str | None = found["subscript"]
        self._rest: str = found["rest"]
        self._whole = whole
        self._at = at
        self._scope = scope
        self._depth = depth

    def value(self) -> Spans:
        elements = self._elements()
        operator = _OPERATOR.match(self._rest)
        if operator is None:
            return self._nobody() if elements is None or self._rest else self._together(elements)
        operand = self._rest[operator.end() :]
        if operator[0].lstrip(":") in ("-", "=", "+", "?") and operator[0] != ":":
            return self._with_default(elements, operator[0], operand)
        if elements is None:
            return self._nobody()
        return self._changed(elements, operator[0], operand)

    def length(self) -> Spans:
        elements = self._elements()
        if elements is None or self._rest or not known(span for part in elements for span in part):
            return unknown(self._whole, self._at)
        count = len(elements) if self._lists() else len(text_of(elements[0]) if elements else "")
        at = elements[0][0].at if elements and elements[0] else self._at
        return plain(str(count), at)

    def indirect(self) -> Spans:
        """`${!X}` is the variable that X names; `${!A[@]}` the subscripts of A."""
        value = self._scope.look_up(self._name, self._at)
        if self._lists() and isinstance(value, Array):
            return separate(plain(key, self._at) for key in value.items)
        name = "" if value is None or isinstance(value, Array) else text_of(value)
        if value is None or isinstance(value, Array) or not known(value) or not name.isidentifier():
            return unknown(self._whole, self._at)
        inner = self._scope.look_up(name, self._at)
        if inner is None or isinstance(inner, Array):
            return unknown(self._whole, self._at)
        return inner

    def _lists(self) -> bool:
        return self._name in _LISTS or self._subscript in _LISTS

    def _nobody(self) -> Spans:
        return unknown(self._whole, self._at, filled=self._scope.filled(self._name))

    def _elements(self) -> list[Spans] | None:
        """The value as a list; with one element where it is no list. None: not set."""
        if self._name in _LISTS or self._name.isdigit():
            return self._positional()
        value = self._scope.look_up(self._name, self._at)
        if value is None:
            return None
        if not isinstance(value, Array):
            return [value]
        if self._subscript in _LISTS:
            return list(value.items.values())
        return self._element(value)

    def _positional(self) -> list[Spans] | None:
        arguments = self._scope.arguments
        if self._name == "0":
            value = self._scope.look_up("0", self._at)
            return None if value is None or isinstance(value, Array) else [value]
        if arguments is None:
            return None
        if self._name in _LISTS:
            return list(arguments)
        index = int(self._name) - 1
        return [arguments[index] if index < len(arguments) else ()]

    def _element(self, value: Array) -> list[Spans] | None:
        """Where the subscript is unknown, the element that all of them are."""
        key = expand(self._subscript or "0", self._at, self._scope, self._depth + 1)
        text = text_of(key)
        if known(key):
            if text in value.items:
                return [value.items[text]]
            number = self._scope.number(text, self._at)
            index = text_of(number) if number else text
            if index.startswith("-") and index[1:].isdigit() and len(index) < len("-99999"):
                index = str(len(value.items) + int(index))
            return [value.items.get(index, ())]
        elements = list(value.items.values())
        if elements and all(same(elements[0], other) for other in elements[1:]):
            return elements[:1]
        return [unknown(self._whole, self._at)]

    def _together(self, elements: list[Spans]) -> Spans:
        if not self._lists():
            return elements[0] if elements else ()
        if "*" in (self._name, self._subscript):
            return joined(elements, self._at)
        return separate(elements)

    def _with_default(self, elements: list[Spans] | None, operator: str, operand: str) -> Spans:
        present = self._present(elements, empty_counts=operator.startswith(":"))
        if operator[-1] == "+":
            if present is None:
                return unknown(self._whole, self._at)
            return self._operand(operand) if present else ()
        if present or (present is None and elements is not None):
            return self._nobody() if elements is None else self._together(elements)
        if operator[-1] == "?":
            return self._nobody()
        default = self._operand(operand)
        if operator[-1] == "=" and self._name.isidentifier():
            self._scope.assign(self._name, default)
        return default

    def _present(self, elements: list[Spans] | None, *, empty_counts: bool) -> bool | None:
        if elements is None:
            return self._scope.filled(self._name)
        if not elements or (self._name.isdigit() and not elements[0]):
            return False
        if not empty_counts:
            return True
        spans = [span for element in elements for span in element]
        if any(span.known and span.text for span in spans):
            return True
        return False if known(spans) else None

    def _operand(self, raw: str) -> Spans:
        return tuple(expand(raw, self._at, self._scope, self._depth + 1))

    def _changed(self, elements: list[Spans], operator: str, operand: str) -> Spans:
        if operator == "@":
            return self._together(elements)
        if operator == ":" and self._lists():
            return self._slice_of_list(elements, operand)
        change = self._change(operator, operand)
        changed: list[Spans] = []
        for spans in elements:
            text = text_of(spans)
            if change is None or not known(spans) or len(text) > _MAX_TEXT:
                return unknown(self._whole, self._at)
            changed.append(plain(change(text), spans[0].at if spans else self._at))
        return self._together(changed)

    def _change(self, operator: str, operand: str) -> Callable[[str], str] | None:
        if operator in ("^", "^^", ",", ",,"):
            return _CASES[operator]
        if operator == ":":
            return self._slice(operand)
        pattern, _, replacement = (
            operand.partition("/") if operator[0] == "/" else (operand, "", "")
        )
        spans = self._operand(pattern), self._operand(replacement)
        if not known(spans[0]) or not known(spans[1]):
            return None
        glob, new = text_of(spans[0]), text_of(spans[1])
        if operator[0] == "/":
            return lambda text: _replaced(text, operator, glob, new)
        return lambda text: _trimmed(text, operator, glob)

    def _bounds(self, operand: str) -> tuple[int, int | None] | None:
        start_text, colon, length_text = operand.partition(":")
        start = self._scope.number(start_text, self._at)
        length = self._scope.number(length_text, self._at) if colon else None
        if start is None or (colon and length is None):
            return None
        return int(text_of(start)), int(text_of(length)) if length else None

    def _slice(self, operand: str) -> Callable[[str], str] | None:
        bounds = self._bounds(operand)
        if bounds is None:
            return None
        start, length = bounds
        if length is None:
            return lambda text: text[start:]
        return lambda text: text[start:][:length]

    def _slice_of_list(self, elements: list[Spans], operand: str) -> Spans:
        bounds = self._bounds(operand)
        if bounds is None:
            return unknown(self._whole, self._at)
        start = bounds[0] - 1 if self._name in _LISTS and bounds[0] > 0 else bounds[0]
        chosen = elements[start:]
        return self._together(chosen if bounds[1] is None else chosen[: bounds[1]])


_CASES: dict[str, Callable[[str], str]] = {
    "^": lambda text: text[:1].upper() + text[1:],
    "^^": str.upper,
    ",": lambda text: text[:1].lower() + text[1:],
    ",,": str.lower,
}


def matches(text: str, glob: str) -> bool:
    """As `case` compares; patterns beyond the usual match only themselves."""
    if len(text) > _MAX_TEXT or len(glob) > _MAX_TEXT:
        return text == glob
    try:
        return fnmatch.fnmatchcase(text, glob)
    except re.error:
        return text == glob


def _trimmed(text: str, operator: str, glob: str) -> str:
    ends: Iterable[int] = range(len(text) + 1)
    if operator[0] == "#":
        for end in ends if operator == "#" else reversed(range(len(text) + 1)):
            if matches(text[:end], glob):
                return text[end:]
        return text
    for start in reversed(range(len(text) + 1)) if operator == "%" else ends:
        if matches(text[start:], glob):
            return text[:start]
    return text


def _replaced(text: str, operator: str, glob: str, new: str) -> str:
    if operator == "/#":
        return new + text[len(glob) :] if text.startswith(glob) else text
    if operator == "/%":
        return text[: len(text) - len(glob)] + new if text.endswith(glob) else text
    if not glob:
        return text
    if not set(glob) & set("*?["):
        return text.replace(glob, new, -1 if operator == "//" else 1)[: _MAX_TEXT * 10]
    try:
        pattern = re.compile(fnmatch.translate(glob).removesuffix(r"\Z").removesuffix(r"\z"))
        return pattern.sub(lambda _: new, text, count=0 if operator == "//" else 1)
    except re.error:
        return text
