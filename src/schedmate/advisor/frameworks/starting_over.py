"""A training that was read as a whole and takes up no earlier state starts over each time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of, last_name, truth_of
from schedmate.advisor.frameworks.own_models import is_network
from schedmate.advisor.frameworks.purposes import purpose
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.files import evidence
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_STEPS = words(
    "backward fit fit_generator train_on_batch learn minimize apply_gradients value_and_grad grad "
    "partial_fit train_and_evaluate fit_one_cycle"
)
_TRAINERS = re.compile(r"(?:Trainer|Runner|Learner|YOLO|Algorithm)\.train$|LightningCLI$")
_BOOSTERS = ("xgboost.train", "lightgbm.train", "catboost.train")
LOADS = words(
    "load_state_dict load_checkpoint load_state restore restore_checkpoint load_from_checkpoint "
    "resume load_ckpt resume_checkpoint load_training_state resume_from_checkpoint load_snapshot "
    "load_weights load_model load"
)
_CHECKPOINTS = ("ckpt_path", "resume_from_checkpoint", "initial_epoch")
_LOOKS = words(
    "restore_or_initialize resume_or_load latest_checkpoint latest_step get_last_checkpoint"
)
_DOUBTFUL = re.compile(r"resum|restore|restart|contin|ckpt|checkpoint|snapshot|latest|last_|optim")
_FOR_OTHERS = re.compile(
    r"pretrain|finetun|fine_tun|(?<!la)test|eval|infer|teacher|backbone|best|init"
)
_BY_THEMSELVES = re.compile(
    r"Estimator\b|MonitoredTrainingSession|Supervisor$|BackupAndRestore|CheckpointManager\.restore"
)
_FAR = 99
"""So that whatever else is known of resuming is believed before."""
_REMOVES = ("os.remove", "os.unlink", "shutil.rmtree")
_MOST_LINES = 8


def starting_over(reading: Reading) -> Iterator[Claim]:
    """Not where a load that may be meant for it is undecided, or where little was read."""
    trace = reading.trace
    if trace.exhausted or reading.run.entry.source is None or _may_resume(reading):
        return
    steps = sorted(filter(trains, trace.calls), key=lambda call: -call.reached)
    if not steps or steps[0].reached < Reached.UNDECIDED or next(purpose(reading), None):
        return
    lines = tuple(dict.fromkeys(_lines(reading, steps[0])))[:_MOST_LINES]
    yield Claim(field="resumes", value=Value(False, lines), confidence=0.8, depth=_FAR)


def trains(call: Call) -> bool:
    return (
        last_name(call.callee) in _STEPS
        or bool(_TRAINERS.search(call.callee))
        or is_of(call.callee, *_BOOSTERS)
    )


def _may_resume(reading: Reading) -> bool:
    return (
        any(_asks_for_it(name, value) for name, value in reading.options.items())
        or any(_is_doubtful(call) for call in calls_of(reading, *LOADS))
        or any(call.reached > Reached.UNCALLED for call in calls_of(reading, *_LOOKS))
        or any(_is_handed_one(call) for call in calls_of(reading, "fit", "train"))
        or any(_BY_THEMSELVES.search(call.callee) for call in reading.trace.calls)
    )


def _is_handed_one(call: Call) -> bool:
    given = (call.keywords[name] for name in _CHECKPOINTS if name in call.keywords)
    return any(truth_of(value) is not False for value in given)


def _asks_for_it(name: str, value: Value) -> bool:
    return "resum" in last_name(name).lower() and truth_of(value) is not False


def _is_doubtful(call: Call) -> bool:
    """Whether a load that is not sure to run would be one of this job's own checkpoint."""
    if call.reached is not Reached.UNDECIDED:
        return call.certain and "optim" in call.callee.lower()
    about = f"{call.callee} {call.within} {call.target} {call.line.text}".lower()
    return bool(_DOUBTFUL.search(about)) and not _FOR_OTHERS.search(about)


def _lines(reading: Reading, step: Call) -> Iterator[Evidence]:
    """Where a load is left out or loads something else, where an earlier state is removed, where
    the state is made, and where the training begins and ends."""
    trace = reading.trace
    for skipped in trace.skipped:
        if skipped.certain and any(_loads(statement) for statement in skipped.body):
            yield from skipped.value.lines[:1]
            yield skipped.line
    for call in calls_of(reading, "TrainState.create", "load_state_dict", "from_pretrained"):
        if call.reached > Reached.UNCALLED:
            yield from called_from(reading, call)
            yield call.line
    removed = (each for each in calls_of(reading, *_REMOVES) if each.reached > Reached.UNCALLED)
    yield from islice((each.line for each in removed), 1)
    yield from islice((each.line for each in trace.instances if _is_a_model(each)), 1)
    yield from (trace.loops[place].line for place in step.loops[:2] if place < len(trace.loops))
    yield step.line
    last = (call.line for call in reversed(trace.calls) if call.certain and trains(call))
    yield from islice(last, 1)
    yield from reading.run.command.evidence[:1]


def _is_a_model(instance: Instance) -> bool:
    """A network that the program itself makes."""
    return instance.depth == 0 and instance.certain and is_network(instance.of)


def called_from(reading: Reading, call: Call) -> Iterator[Evidence]:
    """The line of the program that calls the function which a call of a library stands in."""
    source, function = reading.run.entry.source, last_name(call.within)
    if source is None or not function or call.line.file == source.name:
        return
    for number, text in enumerate(source.text.splitlines(), 1):
        if f"{function}(" in text and not text.lstrip().startswith(("def ", "#")):
            yield evidence(source.name, number, text)
            return


def _loads(statement: ast.stmt) -> bool:
    calls = (part.func for part in ast.walk(statement) if isinstance(part, ast.Call))
    names = {getattr(called, "id", getattr(called, "attr", "")) for called in calls}
    return not names.isdisjoint(LOADS)
