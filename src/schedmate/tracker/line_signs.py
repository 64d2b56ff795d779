"""What the words of a line show, whatever its numbers are: source code, a training, a last word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.forecasting.step_schedule import schedule_in

_MAX_LENGTH = 400
_CODE = lazy_pattern(
    r"^\s{0,80}(?:[+>$] |>>> |\.\.\. |#(?: .{0,300}[^#\s=*-]$)|//|/\*"
    r"|\"\"\"|'''|@\w|def \w|class \w|return\b|raise\b"
    r"|(?:el)?if .{1,200}:$|else:|try:|except\b|for .{1,200} in .{1,200}:$|while .{1,200}:$"
    r"|with .{1,200}:$|from [\w.]{1,80} import |import [\w.]{1,80}$|echo\b|trap\b)"
    r"|\b(?:print\w{0,8}|log(?:ger|ging)?\d?(?:\.\w{1,20})?|echo|warn(?:ings)?(?:\.warn)?"
    r"|fprintf|printf"
    r"|write|help)\(\s{0,4}[frbuFRBU]{0,2}[\"']"
    r"|\b[fF][\"'][^\"']{0,200}\{|\{[A-Za-z_][\w.\[\]()]{0,40}(?::[^{}\"']{0,12})?\}"
    r"|[\"']\)?[,;)]?\s{0,4}\\?$(?<=[,;)\\])|[\w\])] ?[-+*/]?= ?(?:[\"'\[{(]|\w{1,40}\()"
)
_TRAINING = lazy_pattern(
    r"\b(?:(?:pre|re)?train(?:er|ing|s|ed|_\w{1,20})?|fine-?tun(?:e|ing)|epochs?"
    r"|(?:\w{1,20}_)?loss(?:es|_\w{1,20})?|lr"
    r"|learning[ _-]rate|optimi[sz]er|gradients?|grad[_ ]norm|backprop|rewards?|episod(?:es?"
    r"|ic)(?:_\w{1,20})?"
    r"|checkpoint(?:s|ing)?|pytorch|torch|tensorflow|keras|jax|flax|xgboost|lightgbm|catboost"
    r"|deepspeed|wandb|batch[_ ]size|perplexity|ppl|val(?:idation)? (?:acc|loss)|policy_\w{1,20}"
    r"|federated|neural|nll|boosting|env(?:ironment)?[_ ]steps?|actor|critic)\b",
    re.IGNORECASE,
)
_OTHER_WORK = lazy_pattern(
    r"\b(?:train\.(?:csv|py|sh|txt|json|parquet|tar)|(?:built|building|compiling) \w{1,20} object"
    r"|collecting |downloading |requirement already|test session starts|make\[\d?\])",
    re.IGNORECASE,
)
_CLOSING = lazy_pattern(
    r"(?:.{0,60}(?:[\]:|>]| -|\b(?:info|warning|root)) {0,4}|[\W_]{0,40})?(?:"
    r"(?:all |and |ok,? |everything (?:is )?)?(?:done|finished|completed?|bye|goodbye|fin|end)"
    r"(?: in .{1,40}| after .{1,40}| at .{1,40}| successfully| ok)?"
    r"|(?:the )?(?:run|job|script|program|process|experiment|simulation|calculation|sampling|search"
    r"|sweep|study|optimi[sz]ation|fit(?:ting)?|main|pipeline|workflow|backup|sync|transfer|copy"
    r"|conversion|processing|export|import|build|analysis)(?: has| is| was)?"
    r" (?:successfully )?(?:done|finished|completed?|ended|over|terminated normally|succeeded)"
    r"(?: successfully| normally| in .{1,40}| after .{1,40}| at .{1,40})?"
    r"|(?:successfully )?(?:finished|completed) (?:the )?(?:run|job|script|experiment|simulation"
    r"|sweep|study|everything|successfully)(?: in .{1,40})?"
    r"|all (?:\w{1,20} ){1,3}(?:done|finished|completed?|processed|converted|written|saved|passed)"
    r"|(?:total|overall|elapsed|wall(?:[ -]?clock)?|training|run|execution)[ _-]?(?:run)?"
    r"(?:time|duration|took|wall time)\b(?: was| is| elapsed)?[\s:=]{1,8}[\d.:]{1,20}.{0,30}"
    r"|(?:saved|wrote|exported|stored) (?:the )?(?:final|last|trained) (?:model|weights|checkpoint"
    r"|state|results?)\b.{0,120}"
    r"|(?:final|test|best) (?:\w{1,20} ){0,3}(?:loss|acc(?:uracy)?|score|auc|result|metric)s?\b"
    r"[\s:=(]{1,6}[-\d.]{1,12}.{0,80}"
    r"|={3,80} .{0,80}\d passed\b.{0,80}|.{0,40}\bexit(?:ed|ing)?(?: with)?(?: code| status)? ?0?"
    r"|(?:wandb|swanlab|comet)\b.{0,40}\b(?:synced|run history|view run|finished)\b.{0,200}"
    r"|successfully (?:installed|built|created|copied|wrote|uploaded|exported)\b.{0,200}"
    r"|.{0,40}\bsuccess(?:ful(?:ly)?)? complet\w{0,3}\b.{0,40}"
    r"|.{0,40}\bcompleted successfully\b.{0,40}"
    r"|total size is [\d,.]{1,20}.{0,60}"
    r")[\s.!=*#-]{0,80}",
    re.IGNORECASE,
)
_PARTING = lazy_pattern(
    r"\b(?:saved|wrote|written|exported|dumped|stored|finished|done|completed?|stopp(?:ed|ing)|exit"
    r"(?:ed|ing)?|best|final|converged|results?|scores?|summary|average|elapsed|wall[ -]?time"
    r"|total time"
    r"|success(?:ful(?:ly)?)?|fertig|gespeichert|beendet|abgeschlossen|terminé|enregistré|guardado|terminado"
    r"|finalizado|salvo|concluído|salvato|completato|готово|сохранено|завершено)\b"
    r"|完成|已保存|结束|終了|保存し|완료|[-=]> ?\S{1,80}\.[a-z]\w{1,8}$"
    r"|(?:acc(?:uracy)?|loss|auc|f1|[wc]er|bleu|psnr|rmse|mae|mse|r2|fid)\w{0,12}['\"]?[\s:=]{1,4}"
    r"-?\d{1,6}[.,]\d",
    re.IGNORECASE,
)
_CLOSING_HINTS = (
    "done", "finish", "complet", "bye", "end", "over", "took", "time", "saved", "wrote", "export",
    "stored", "final", "best", "test", "passed", "exit", "synced", "history", "view run", "succe",
    "fin", "processed", "converted", "written", "terminated", "total size", "duration",
)  # fmt: skip
_NOT_CLOSING = lazy_pattern(
    r"\b(?:load(?:ing|ed)?|download\w{0,3}|init\w{0,12}|set-?up|compil\w{1,5}|warm-?up|epoch|step"
    r"|fold|trial|phase|stage|batch|round|iteration|evaluat\w{1,4}|validation|checkpoint"
    r"|preprocess\w{0,4}"
    r"|tokeniz\w{1,4}|import|build)\b",
    re.IGNORECASE,
)
_GROWING = lazy_pattern(
    r"\b(?:curriculum|ramp-?up[_ ](?:batch|seq)\w{0,8}"
    r"|(?:batch|seq(?:uence)?|context|window|resolution|image)[_ -]?(?:size|len(?:gth)?)?s?[_ ]"
    r"(?:schedule\w{0,2}|ramp-?up|warm-?up|growth|increase\w{0,2})"
    r"|(?:schedul\w{1,4}|ramp|grow|increase|linearly increase)\w{0,3} (?:the )?(?:attention )?"
    r"(?:window|sequence|batch|context|resolution)|progressive[_ ](?:resizing|growing"
    r"|layer)|ws_schedule"
    r"|get_(?:window|ws|seq_?len|batch)_?\w{0,12}|window_size_blocks)",
    re.IGNORECASE,
)
_MAY_STOP_EARLY = lazy_pattern(
    r"\bearly[_ -]?stop(?:ping)?(?:[_ -](?:rounds?|patience|epochs?|steps?|after))?[\"']? ?[=:] ?"
    r"[\"']?(?!(?:0|none|null|false|off|no|-1)\b)[\w(]"
    r"|\buntil\b.{1,60}\b(?:(?:does|do|has|have)(?: not|n't)|stops?|no longer) improv\w{1,3}"
    r"|\bearly[_ -]?stopping (?:is )?(?:enabled|on\b|with|after)"
    r"|\bpatience[\"']?(?: ?[=:]| of)? ?[1-9]",
    re.IGNORECASE,
)
_OF_LEARNING_RATE = lazy_pattern(r"\blr|rate|plateau|sched|factor|\d ?/ ?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Signs:
    code: bool
    training: bool
    closing: bool
    """A common last line of a log: only a sign, since much ends before a run does."""
    parting: bool
    """What a program writes after its last step, and elsewhere: a saved file, a best score."""
    growing: bool
    """Steps will take longer by a schedule: longer sequences, larger windows or batches."""
    scheduled: bool
    """The line may state such a schedule in numbers."""
    early_stop: bool
    """The line may state that the run stops when it gets no better."""


def signs_of(text: str) -> Signs:
    text = text[:_MAX_LENGTH]
    lowered = text.lower()
    code = _CODE.search(text) is not None
    return Signs(
        code=code,
        training=_TRAINING.search(text) is not None and _OTHER_WORK.search(text) is None,
        closing=not code and _closes(text, lowered),
        parting=not code and _PARTING.search(text) is not None,
        growing=_GROWING.search(text) is not None,
        scheduled=schedule_in(text) is not None,
        early_stop="early" in lowered or "until" in lowered or "patience" in lowered,
    )


def states_early_stop(text: str) -> bool:
    """A setting (`early_stopping_rounds=100`), or a sentence before the run."""
    found = _MAY_STOP_EARLY.search(text[:_MAX_LENGTH])
    if found is None:
        return False
    bare = found[0].lower().startswith("patience")
    return not bare or _OF_LEARNING_RATE.search(text[:_MAX_LENGTH]) is None


def _closes(text: str, lowered: str) -> bool:
    if not any(hint in lowered for hint in _CLOSING_HINTS) or _CLOSING.fullmatch(text) is None:
        return False
    return _NOT_CLOSING.search(lowered.replace("best epoch", "")) is None
