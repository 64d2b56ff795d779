"""The model's part: point at the line that shows the cause and name the reason.

The answer's schema lists the very lines it was shown, so there is nothing to invent: it can
neither misquote nor count wrongly, both of which small models do. It chooses no action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, create_model

from schedmate.handler.grounding import fits
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from schedmate.handler.case import Case
    from schedmate.handler.learning.similar import Example
    from schedmate.handler.reading import LogLine

PURPOSE: Final = "diagnose"
MAX_TOKENS: Final = 160
_WIDTH: Final = 120
GLOSSES: Final = {
    "data_error": "a sample, record or shard is broken, truncated or empty",
    "file_not_found": "a path does not exist",
    "permission_denied": "no right to a file or device",
    "auth_error": "a login, token or licence is missing or refused",
    "argument_error": "a wrong option, setting or config key",
    "service_unreachable": "a server outside does not answer",
    "storage_io": "reading or writing the file system fails",
    "disk_full": "no space is left on a disk",
    "disk_quota": "a disk quota is exceeded",
    "gpu_oom": "the memory of the GPU or accelerator is not enough",
    "host_oom": "the main memory is not enough",
    "checkpoint_corrupt": "a checkpoint cannot be read",
    "checkpoint_mismatch": "a checkpoint does not fit the model",
    "shape_mismatch": "tensor sizes do not fit",
    "loss_nan": "the loss is NaN or infinite, training diverged",
    "network": "a link between nodes is down",
    "nccl_timeout": "a collective operation timed out",
    "gpu_hardware": "the GPU is broken or too hot",
    "import_error": "a module or library is missing",
    "abi_mismatch": "a library has the wrong version",
    "compile_error": "compiling a kernel fails",
    "python_exception": "another error of the program itself",
    "unknown": "the lines do not say why",
}
"""What rules may leave open. Exceptions, signals and states are named by rules or not at all."""

SYSTEM: Final = (
    "You find out why a training job failed. The user gives you lines of its log. Copy the line "
    "that names the problem, then choose the reason that fits it.\nReasons:\n"
    + "\n".join(f"{reason}: {gloss}" for reason, gloss in GLOSSES.items())
    + "\nExample:\nLog:\nepoch 2 done\nvalve: no route to host n7, link eth1 is down\nstopping\n"
    '{"line": "valve: no route to host n7, link eth1 is down", "reason": "network"}'
)


class Reading(BaseModel):
    """What the model may say."""

    model_config = ConfigDict(extra="forbid")
    line: str
    reason: str


def schema(view: tuple[LogLine, ...]) -> type[Reading]:
    """A `Reading` that can only name lines of this view and reasons of the table."""
    fields: dict[str, Any] = {
        "line": (Literal[tuple(dict.fromkeys(_shown(view)))], ...),
        "reason": (Literal[tuple(GLOSSES)], ...),
    }
    return create_model("Reading", __base__=Reading, **fields)


def question(case: Case, view: tuple[LogLine, ...], alike: tuple[Example, ...] = ()) -> str:
    ended = [
        f"state {case.state}" if case.state else "",
        f"exit code {case.exit_code}" if case.exit_code is not None else "",
        f"signal {case.signal}" if case.signal else "",
        "no progress any more" if case.hung else "",
    ]
    verdict = ", ".join(part for part in ended if part) or "unknown"
    known = "".join(f"{_clean(one.line)} -> {one.reason}\n" for one in alike)
    hint = f"Such lines meant before:\n{known}" if known else ""
    return f"{hint}How it ended: {verdict}\nLog:\n" + "\n".join(_shown(view))


def grounded(reading: Reading, view: tuple[LogLine, ...]) -> LogLine | None:
    """The line that was picked, if it can carry the reason."""
    picked = [line for line, text in zip(view, _shown(view), strict=True) if text == reading.line]
    return picked[0] if picked and fits(reading.reason, picked[0].text) else None


def _shown(view: tuple[LogLine, ...]) -> list[str]:
    return [_clean(line.text) for line in view]


def _clean(text: str) -> str:
    """Short, without secrets and without the marks by which models tell roles apart."""
    return redact(text).replace("<|", "< ").replace("|>", " >")[:_WIDTH].strip()
