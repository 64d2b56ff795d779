"""Which rule explains a line, and which one the tracebacks of a chain."""

from __future__ import annotations

import re
from typing import Final

from schedmate.handler.nodes import MAY_BE_HARDWARE, blames_a_node
from schedmate.handler.reading.tracebacks import Chain, Traceback
from schedmate.handler.rules import Rule, RuleSet, Weight
from schedmate.model import REASONS

_BARE_DISCOUNT: Final = 0.88
_LOGGED_DISCOUNT: Final = 0.75
_CUT_OFF: Final = 0.3
_ONLY_WARNED: Final = 0.3

_WARNINGS = re.compile(
    r"^.{0,100}?(?<!NCCL )(?<!RCCL )(?<!CCOM )\bWARN(?:ING)?\b|\b[A-Z]\w{0,60}Warning: "
    r"|^.{0,100}?\b[NR]CCL INFO\b"
    r"|^\[W[ \d]|[:=]\s{0,3}(?:0|no) (?:matches|errors|found|events|hits|failures)\.?$"
)
"""Warnings, and reports of nothing found."""
_NAME = (
    r"((?:[a-zA-Z_]\w{0,80}\.){0,12}(?:_?[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Expired)"
    r"|(?<=\.)(?:error|timeout|gaierror))(?:\(\w{1,80}\))?(?:: .*|:?$))"
)
_BARE_ERROR = re.compile(rf"(?: {{2,40}}\| )?{_NAME}")
_LEVEL = re.compile(r"^.{0,80}?\b(?:ERROR|CRITICAL|FATAL)\b")
_NAMED = re.compile(r"(?<![\w.])([\w.]{1,120}(?:Error|Exception)(?:\(\w{1,80}\))?: )")
_GLUED = re.compile(
    r"(?:[\])%]|(?<!\w)[a-z0-9]{1,40})((?:Runtime|Value|Key|Type|Index|Attribute|Assertion|OS|IO"
    r"|FileNotFound|Import|ModuleNotFound|Memory|Name|ZeroDivision|Permission)Error: )"
)
"""Right behind output that has not ended its line."""
QUOTED_BY_PYXIS = re.compile(
    r"(?:slurmstepd\S{0,60}: )?(?:error: )?pyxis: {1,8}(?:\[ERROR\] )?(?=\S)"
)
"""What is put before the log of the program that starts a container."""
_WHAT = re.compile(r"\s{0,8}what\(\):\s{1,4}(.{1,700})")
_ENDS = re.compile(r"\b(?:ending|stopping|terminating|aborting) (?:the )?(?:training|run|job)\b")
_PROBING: Final = {
    "attribute_error",
    "import_error",
    "index_error",
    "key_error",
    "python_exception",
    "type_error",
}
"""Exceptions that code raises and catches to find its way; not what a run dies of."""
_VAGUE: Final = "python_exception"
_SURER: Final = 0.1
_SHORT_MESSAGE: Final = 40
_AT_FILE: Final = re.compile(r'^File "[^"]{1,400}", line \d{1,9},? ?')


def explain_line(text: str, rule_set: RuleSet) -> tuple[Rule, float] | None:
    if _WARNINGS.search(text) and not _ENDS.search(text):
        return _warned_of(text, rule_set)
    bare = _BARE_ERROR.match(text)
    if bare:
        return _as_error(bare.group(1), rule_set, _BARE_DISCOUNT)
    rule = rule_set.for_line(text)
    if rule is None and (quoted := QUOTED_BY_PYXIS.match(text)):
        return explain_line(text[quoted.end() :], rule_set)
    if rule is not None:
        return rule, rule.confidence
    return _reported_exception(text, rule_set)


def _warned_of(text: str, rule_set: RuleSet) -> tuple[Rule, float] | None:
    """That the machine will be taken away is mostly logged as a warning.

    A warning of the driver explains nothing by itself, but an exception that finds no GPU later.
    """
    rule = rule_set.for_line(text)
    if rule is None:
        return None
    if rule.reason == "driver_mismatch":
        return rule, _ONLY_WARNED
    taken = rule.reason == "preempted" and rule.weight is Weight.DECISIVE
    return (rule, rule.confidence) if taken else None


def _reported_exception(text: str, rule_set: RuleSet) -> tuple[Rule, float] | None:
    """An exception as C++ or a logger prints it."""
    what = _WHAT.match(text)
    if what:
        found = _as_error(f"RuntimeError: {what[1]}", rule_set, 1.0)
        return None if found is None or found[0].reason == _VAGUE else found
    level = _LEVEL.match(text)
    named = _NAMED.search(text, level.end()) if level else _GLUED.search(text)
    if named is None:
        return None
    return _as_error(text[named.start(1) :], rule_set, _LOGGED_DISCOUNT)


def _as_error(text: str, rule_set: RuleSet, discount: float) -> tuple[Rule, float] | None:
    rule = rule_set.for_error(text)
    return None if rule is None else (rule, rule.confidence * discount)


def explain_chain(chain: Chain, rule_set: RuleSet) -> tuple[Rule, float, Traceback] | None:
    """The original of a chain explains it, unless it was only probing or wrapping."""
    explained = [
        (rule, traceback)
        for traceback in chain
        if (rule := _plausible(traceback, _explain_traceback(traceback, rule_set), rule_set))
        is not None
    ]
    if not explained:
        return None
    rule, traceback = _original(explained)
    return rule, rule.confidence if traceback.error else _CUT_OFF, traceback


def _plausible(traceback: Traceback, rule: Rule | None, rule_set: RuleSet) -> Rule | None:
    """Lines below an error that no hardware brings about cannot make it the fault of a node."""
    own_words, _, below = traceback.message.partition("\n")
    announced = below and own_words.rstrip().endswith(":")
    if rule is None or announced or not blames_a_node(rule.reason, traceback.message):
        return rule
    own = rule_set.for_error(own_words)
    if own is None or own.weight is not Weight.CAUSE or own.reason in MAY_BE_HARDWARE:
        return rule
    return own


def _explain_traceback(traceback: Traceback, rule_set: RuleSet) -> Rule | None:
    if traceback.error is None:
        return next((rule for rule in rule_set.rules if rule.reason == _VAGUE), None)
    rule = rule_set.for_error(traceback.message)
    clear = rule is not None and rule.reason != _VAGUE and rule.weight is Weight.CAUSE
    if rule is not None and rule.of_a_file:
        return rule_set.for_error(" ".join([traceback.message, *_sites(traceback)])) or rule
    if clear:
        return rule
    if rule is not None and rule.weight is Weight.WRAPPER:
        quoted = _quoted_error(traceback, rule_set)
        if quoted is not None:
            return quoted
    texts = [" ".join([traceback.message, *_call(traceback)]), *_of_first_failure(traceback)]
    better = rule_set.for_error("\n".join(texts))
    return rule if better is None or better.reason == _VAGUE else better


def _of_first_failure(traceback: Traceback) -> list[str]:
    """What stands below an error; of a launcher's table only the process that failed first.

    The launcher itself ended the others.
    """
    beneath = traceback.beneath
    heads = [at for at, text in enumerate(beneath) if "(first observed failure)" in text]
    return beneath[heads[-1] :] if heads else beneath


def _quoted_error(traceback: Traceback, rule_set: RuleSet) -> Rule | None:
    """The rule of the error that a wrapper quotes, as TensorFlow does `in user code:`."""
    for part in reversed([*traceback.message.split("\n")[1:], *traceback.beneath]):
        bare = _BARE_ERROR.match(part.strip())
        rule = rule_set.for_error(bare.group(1)) if bare else None
        if rule is not None and rule.weight is Weight.CAUSE:
            return rule
    return None


def _call(traceback: Traceback) -> list[str]:
    """The call sites, where the message itself is too short to explain."""
    if len(traceback.message) > _SHORT_MESSAGE:
        return []
    calls = (traceback.inner, traceback.inner_code, traceback.own_code)
    return [line.text.strip() for line in calls if line is not None]


def _sites(traceback: Traceback) -> list[str]:
    """The functions and the code that read a file, in the user's code first."""
    frames = ((traceback.own, traceback.own_code), (traceback.inner, traceback.inner_code))
    calls = dict.fromkeys(call for frame in frames for call in frame if call is not None)
    return [_AT_FILE.sub("", call.text.strip()) for call in calls]


def _original(explained: list[tuple[Rule, Traceback]]) -> tuple[Rule, Traceback]:
    strongest = min(rule.weight for rule, _ in explained)
    able = [pair for pair in explained if pair[0].weight == strongest]
    first = able[0]
    sure = max(able, key=lambda pair: pair[0].confidence)
    if sure[0].confidence - first[0].confidence > _SURER:
        return sure
    if first[0].reason in _PROBING and strongest is Weight.CAUSE:
        clearer = next((pair for pair in able[1:] if pair[0].reason not in _PROBING), first)
        if clearer[1].link == "context" or REASONS[clearer[0].reason].category == "framework":
            return clearer
    return first
