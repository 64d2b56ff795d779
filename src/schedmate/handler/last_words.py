"""The last lines of a failed run, asked only where nothing else in its logs explains it.

Words such as `not found` mean little in general. As the end of a failed run they are the best
guess, so these rules are not asked while a log is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from schedmate.handler.reading import Clue, Gathered, LogLine
from schedmate.handler.reading.explaining import QUOTED_BY_PYXIS
from schedmate.handler.rules import BUILT_IN
from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_MOST_LINES: Final = 15
_GUESS: Final = 0.45
_PLAIN_LINES: Final = 3
"""Where no line is marked as an error, only the very last ones count."""
_ANNOUNCED = re.compile(
    r"^.{0,80}?(?:\b(?:ERROR|FATAL|CRITICAL|SEVERE|Error|Fatal|fatal|error|Abort(?:ing|ed)?)\b\W"
    r"|\[E\]|\bE\d{4} )"
    r"|^(?:mkdir|cp|mv|touch|rm|ln|tee|cat|ls|cd|tar|rsync|unzip|bash|sh|chmod|source|head|tail|"
    r"cmake|make|wget|curl|git|ssh|scp): "
)
_OF_TOOLS = re.compile(
    r"^(?:srun|slurmstepd\S{0,60}|slurmd\S{0,60}|sbatch|salloc|spank\S{0,40}|ld\.so|mpirun|mpiexec"
    r"|prterun|prted|orted|pmix\w{0,20}|lmod|x11): |\bspank[:_]|\bspank\b.{0,40}plugin"
    r"|^fatal: (?:not a git repo|detected dubious|bad revision|your current branch|no names found"
    r"|ambiguous argument|unsafe repo|No remote|not in a git)"
    r"|^error: (?:XDG_|unable to read askpass|could not lock config|cannot run|unknown switch)"
)
"""Complaints of tools around the program, mostly at its start; rules know those that end a run."""
_OF_STARTERS = re.compile(
    r"^FATAL: {3}|^\S{1,200}: line \d{1,6}: |^(?:bash|sh|zsh|conda|mamba|uv): "
)
"""Shells, containers and environments in words that no rule knows."""
_FATAL = re.compile(r"^.{0,60}?\b(?:FATAL|[Ff]atal(?: error)?(?=:)|CRITICAL|SEVERE)\b\W{1,8}\w")
"""The highest level of a logger; services go on after an error, not after this."""
_HARMLESS = re.compile(
    r"\b(?:0|no|without|any) (?:errors?|failures?|failed)\b|\berrors?(?:[_ ]rate)?[:=] ?[\d.]"
    r"|falling back|failing over|\bretry|ignor|skipp|using the default|creating it|will be created"
    r"|\bwarn|deprecat|(?:validation|test|train|mean|absolute|squared|percentage|relative) error"
    r"|\bpassed\b",
    re.IGNORECASE,
)


def _last_words(
    reason: str,
    *words: str,
    of: tuple[str, ...],
    confidence: float = _GUESS,
    name: str = "last-words",
) -> Rule:
    return Rule(
        name=name,
        reason=reason,
        pattern=LazyPattern("|".join(words), re.IGNORECASE),
        unless=_HARMLESS,
        errors_only=True,
        confidence=confidence,
        weight=Weight.SYMPTOM,
        positives=of,
        negatives=("all is well", f"{of[0]}, falling back"),
    )


_CANNOT = r"(?:can(?:no|')?t|can not|could not|couldn't|unable to|failed to|failure to)"
LAST_WORDS: Final = (
    _last_words(
        "gpu_oom",
        r"(?:gpu|cuda|device|vram).{0,40}(?:out of memory|\boom\b|memory (?:is )?exhausted)",
        of=("ERROR: GPU 3 is out of memory", "ERROR: the VRAM, it seems, is out of memory"),
    ),
    _last_words(
        "host_oom",
        r"out of memory|\boom\b|cannot allocate|not enough (?:memory|ram)|memory (?:is )?exhausted",
        of=(
            "ERROR: out of memory while caching the data",
            "fatal: not enough memory for the index",
        ),
    ),
    _last_words(
        "disk_full",
        r"(?:disk|device|file ?system|volume|partition) (?:is )?(?:full|out of space)",
        r"no (?:more |free |disk )?space",
        of=("ERROR: volume is full, cannot save", "FATAL: no space for the checkpoint"),
    ),
    _last_words(
        "auth_error",
        r"unauthori[sz]ed|forbidden|logged in|log ?in\b|credential|api.?key|authenticat|licen[sc]e",
        r"\btoken (?:is |was |has )?(?:expired|missing|invalid|not)",
        of=(
            "ERROR: you are not logged in",
            "[ERROR] API key missing",
            "FATAL: the licence is gone",
        ),
    ),
    _last_words(
        "permission_denied",
        r"permission|denied|not (?:allowed|permitted|writable)|read-only",
        of=(
            "ERROR: access to /data denied",
            "mkdir: cannot create directory '/data/out': Permission denied",
            "FATAL: output directory is not writable",
        ),
    ),
    _last_words(
        "checkpoint_corrupt",
        r"(?:checkpoint|ckpt|weights).{0,60}(?:corrupt|truncated|be read|unreadable|damaged)",
        of=("ERROR: checkpoint step 3 is unreadable",),
    ),
    _last_words(
        "data_error",
        rf"corrupt|truncated|malformed|unreadable|{_CANNOT} (?:parse|decode|read|deserialize)",
        r"empty (?:dataset|file|split|batch)|bad (?:sample|record|line|label)",
        r"\b(?:no|0|zero) (?:valid )?(?:samples|images|examples|records|annotations|labels"
        r"|sequences"
        r"|frames|rows|batches|documents|files|shards|training data|data)\b",
        of=(
            "ERROR: shard 12 is corrupt",
            "Error: failed to parse line 3 of labels.csv",
            "FATAL: no samples left after filtering",
        ),
    ),
    _last_words(
        # pip is shown no version at all where its index cannot be reached
        "service_unreachable",
        r"satisfies the requirement .{0,200}\(from versions: none",
        of=(
            (
                "ERROR: Could not find a version that satisfies the requirement einops==9 (from "
                "versions: none)"
            ),
        ),
        confidence=0.4,
        name="last-words-of-pip",
    ),
    _last_words(
        "import_error",
        r"not installed|satisfies the requirement|No matching distribution",
        r"pip install|(?:missing|no) (?:python )?(?:module|package|dependency)",
        r"(?:module|package|librar(?:y|ies)) .{0,60}(?:missing|not found|not available)",
        of=("ERROR: apex is not installed", "Error: package foo not found"),
    ),
    _last_words(
        "argument_error",
        r"(?:invalid|unknown|unrecogni[sz]ed|unsupported|missing|required|bad|illegal|unexpected) "
        r"(?:\w{1,20} ){0,2}(?:arg|option|flag|param|setting|config|value|key|command|choice)",
        (
            r"usage:|config.{0,80}(?:invalid|missing|wrong|not (?:found|set|valid))|please (?:set"
            r"|specify)"
        ),
        (
            r"must (?:be|set|specify|provide|give)|\bnot set\b|is unset|please provide"
            r"|(?:options?|arguments?|flags?|use|pass|requires?|without|missing|needs?"
            r"|expects?) [`'\"]?"
            r"--[a-z][\w-]{1,40}|--[a-z][\w-]{1,40}[`'\"]? (?:must|is|needs|requires|cannot"
            r"|should|and --)"
        ),
        of=(
            "ERROR: illegal setting of depth",
            "Error: config key model.depth is missing",
            "FATAL: batch size must be a multiple of 8",
            "Error: please set DATA_DIR",
        ),
    ),
    _last_words(
        "service_unreachable",
        rf"{_CANNOT} (?:connect|reach|resolve|contact|download|fetch)|unreachable|\bDNS\b",
        r"connection (?:refused|timed out|reset|error|failed|lost)|\btimed out\b",
        r"(?:request|connection|read|connect|response|server|gateway|http)\W.{0,20}time-?out\b",
        of=(
            "ERROR: cannot connect to the tracking server",
            "Error: connection refused",
            "FATAL: request timed out",
        ),
        confidence=0.4,
    ),
    _last_words(
        "loss_nan",
        r"\bnan\b|diverged|not finite|infinite loss|loss (?:is )?inf",
        of=("ERROR: the gradients diverged", "FATAL: the loss grew until it was not finite"),
    ),
    _last_words(
        "shape_mismatch",
        r"(?:shape|size|dimension)s?\b.{0,60}(?:mismatch|n[o']t match|incompatible|differ)",
        r"shapes? .{0,80}cannot be (?:multiplied|broadcast)|could not (?:be )?broadcast",
        of=(
            "ERROR: shape mismatch between mask and image",
            "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)",
        ),
    ),
    _last_words(
        "zero_division",
        r"\b(?:division|modulo|divide) by zero|\bdivided by zero",
        of=("division by zero", "ERROR: float division by zero"),
    ),
    _last_words(
        "attribute_error",
        r"(?:object|module '[\w.]{1,80}'|type object '\w{1,80}') has no attribute '",
        of=("'NoneType' object has no attribute 'shape'",),
    ),
    _last_words(
        "name_error",
        r"\bname '\w{1,80}' is not defined|local variable '\w{1,80}' referenced before",
        of=("ERROR:root:name 'foo' is not defined",),
    ),
    _last_words(
        "type_error",
        r"unsupported operand type|object of type .{1,60} has no len",
        r"object is not (?:callable|iterable|subscriptable)",
        r"required positional argument|unexpected keyword argument|must be \w{1,20}, not \w{1,20}$",
        of=("unsupported operand type(s) for +: 'int' and 'str'",),
    ),
    _last_words(
        "index_error",
        r"\bindex (?:\S{1,20} is )?out of (?:range|bounds)|\bindex \d{1,12} is out of",
        of=("list index out of range", "ERROR: index 7 is out of bounds for axis 0"),
    ),
    _last_words(
        "file_not_found",
        rf"not found|no such|n[o']t exist|{_CANNOT} (?:find|open|locate|load|access|stat)",
        r"missing (?:file|data|path|input|checkpoint)|is missing",
        of=(
            "ERROR: data/train.bin not found",
            "cat: conf.yaml: No such file or directory",
            "2026-01-01 10:00:00 [ERROR] dataset directory does not exist: /data/x",
            "Error: unable to open /data/train.h5",
        ),
    ),
)
ANNOUNCED_ERROR: Final = Rule(
    name="announced-error",
    reason="python_exception",
    pattern=LazyPattern(r"\w{2,}.{0,200}?\w{2,}.{0,200}?\w{2,}"),
    unless=_HARMLESS,
    errors_only=True,
    confidence=0.3,
    weight=Weight.SYMPTOM,
    positives=(
        "ERROR: the universe is not what it was",
        "2026-01-01 10:00:00 | CRITICAL | giving up on this one",
    ),
    negatives=("ERROR: 0", "epoch 3: 0 errors"),
)
"""A line that the program marks as an error, in words that no rule knows."""


_OBJECT: Final = re.compile(
    r"(?<![\w.])((?:\w{1,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception))\(['\"](.{0,400}?)['\"]?,?\)"
)
"""An exception as `repr` shows it."""
_END: Final = re.compile(
    r"^(?:.{0,60}[\W_])?(?:training|job|run|process|worker|child|subprocess|application|program"
    r"|simulation|task|command|trainer|script|python)\b[^,;]{0,40}?\b(?:died|crashed|failed"
    r"|aborted|killed by|(?:terminated|exited|ended|stopped) (?:abnormally|unexpectedly)"
    r"|exited with (?:an? )?(?:error|failure|(?:non-?zero )?(?:exit )?(?:status|code)\W{0,3}[1-9]))"
    r"|^.{0,40}\b(?:exited with|exiting with|returned|exit) (?:an? )?(?:error\b"
    r"|(?:non-?zero )?(?:exit )?(?:status|code)\W{0,3}[1-9])"
    r"|^\W{0,20}(?:died|aborted|abort|failed|crashed)\W{0,20}$"
    r"|\bfatal error\W.{0,40}(?:stopping|exiting|aborting)|^FATAL\b|status=[1-9]\d{0,2}/FAILURE",
    re.IGNORECASE,
)
_NO_END: Final = re.compile(
    r"\b(?:0|no|none|not|never|if|agents?|players?|episodes?|trials?|tests?|early|retr\w{1,5}"
    r"|restart\w{0,4}|resum\w{1,4}|continuing|continued|going on|completed|succeeded)\b",
    re.IGNORECASE,
)
ANNOUNCED_END: Final = Rule(
    name="announced-end",
    reason="unknown",
    pattern=LazyPattern(_END.pattern, re.IGNORECASE),
    unless=LazyPattern(f"{_NO_END.pattern}|{_HARMLESS.pattern}", re.IGNORECASE),
    errors_only=True,
    confidence=0.3,
    weight=Weight.WRAPPER,
    positives=(
        "worker 3 died unexpectedly",
        "Trainer process died, giving up",
        "Job failed with exit code 3",
        "main process exited, code=exited, status=1/FAILURE",
        "Command exited with non-zero status 1",
        "simulation terminated abnormally",
        "ABORTED",
    ),
    negatives=(
        "0 workers died",
        "child 44 exited with status 0",
        "episode 3: the agent died, reward -1",
        "trial 7 failed, 93 completed",
        "Early stopping: run aborted at epoch 3",
    ),
)
"""The last line of a run of which no verdict is known."""


def last_words(lines: Sequence[str]) -> tuple[int, Rule] | None:
    """The place of the line that explains the end best, and the rule that reads it."""
    first = max(0, len(lines) - _MOST_LINES)
    announced = [at for at in range(first, len(lines)) if is_announced(lines[at])]
    plain = range(max(0, len(lines) - _PLAIN_LINES), len(lines))
    for places in (announced, plain):
        for at in places:
            rule = rule_of_last_words(lines[at])
            if rule is not None:
                return at, rule
    marked = [at for at in announced if at in plain and _is_of_the_program(lines[at])]
    if not marked:
        return None
    only_ended = ANNOUNCED_END.matches_text(lines[marked[0]])
    return marked[0], ANNOUNCED_END if only_ended else ANNOUNCED_ERROR


def _is_of_the_program(text: str) -> bool:
    return ANNOUNCED_ERROR.matches_text(text) and _OF_STARTERS.search(text) is None


def is_announced(text: str) -> bool:
    return _ANNOUNCED.search(text) is not None and _HARMLESS.search(text) is None


def rule_of_last_words(text: str) -> Rule | None:
    shown = _OBJECT.search(text)
    error = BUILT_IN.for_error(f"{shown[1]}: {shown[2]}") if shown else None
    if error is not None and error.weight is Weight.CAUSE and error.reason != "python_exception":
        return replace(error, confidence=min(error.confidence, _GUESS))
    return next((rule for rule in LAST_WORDS if rule.matches_text(text)), None)


def announced_end(gathered: Gathered) -> Clue | None:
    """A last line that states a failure, where no verdict is known."""
    for _, lines in groupby(gathered.tail, key=lambda line: line.order):
        line = list(lines)[-1]
        rule = _rule_of_end(line.text)
        if rule is not None:
            return Clue(
                rule=rule,
                confidence=ANNOUNCED_END.confidence,
                line=line,
                shown=(line,),
                message=line.text,
            )
    return None


def _rule_of_end(text: str) -> Rule | None:
    """A program that marks its last line as fatal states an end in whatever words."""
    if ANNOUNCED_END.matches_text(text):
        return ANNOUNCED_END
    if _FATAL.search(text) is None or _HARMLESS.search(text) or _OF_TOOLS.search(text):
        return None
    return rule_of_last_words(text) or ANNOUNCED_END


def clue_from_the_end(gathered: Gathered) -> Clue | None:
    """The surest match in the last lines of all logs; a model may still refine it."""
    ends = groupby(gathered.tail, key=lambda line: line.order)
    clues = [clue for _, lines in ends if (clue := _of_log(list(lines))) is not None]
    return max(clues, key=lambda clue: clue.confidence, default=None)


def _of_log(tail: list[LogLine]) -> Clue | None:
    tail = [line for line in tail if not _is_wrapping(line.text)]
    texts = [QUOTED_BY_PYXIS.sub("", line.text) for line in tail]
    found = last_words(["" if _OF_TOOLS.search(text) else text for text in texts])
    if found is None:
        return None
    at, rule = found
    line = tail[at]
    return Clue(rule=rule, confidence=rule.confidence, line=line, shown=(line,), message=line.text)


def _is_wrapping(text: str) -> bool:
    """A launcher's report that something failed does not explain it."""
    rule = BUILT_IN.for_line(text)
    return rule is not None and rule.weight is Weight.WRAPPER
