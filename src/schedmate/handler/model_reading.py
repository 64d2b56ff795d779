"""What a model is asked: which line shows the cause, and which of the explanations it shows.

It chooses among the reasons that the rules leave, at most three, and the answer's schema lists the
very lines it was shown: it can neither invent, misquote nor miscount, as small models do. It
chooses no action. A quoted line must carry the reason: a reason that leads to a retry must be named
by the line's own words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, create_model

from schedmate.model import REASONS
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.handler.case import Case
    from schedmate.handler.explanations import Explanation
    from schedmate.handler.learning.similar import Example
    from schedmate.handler.reading import LogLine

PURPOSE: Final = "diagnose"
MAX_TOKENS: Final = 160
_WIDTH: Final = 120
DEFINITIONS: Final = {
    "data_error": "a sample, record, shard or text of the data is broken, cut short or empty",
    "file_not_found": "a file or directory does not exist or was never made",
    "permission_denied": "no right to read or write a file or device",
    "auth_error": "a login, token, key or licence is missing, expired or refused",
    "argument_error": "a wrong option, setting, recipe or config value",
    "service_unreachable": "a server, mirror or service does not answer",
    "storage_io": "the file system or disk gives errors or garbage",
    "disk_full": "a disk is full, no bytes remain to write",
    "disk_quota": "a quota or granted share of disk space is used up",
    "gpu_oom": "the GPU, card or accelerator has too little memory",
    "host_oom": "the main memory (RAM) of the machine is used up",
    "checkpoint_corrupt": "a saved checkpoint or snapshot is damaged or incomplete",
    "checkpoint_mismatch": "a saved model differs from the model that shall load it",
    "shape_mismatch": "sizes of tensors or layers do not fit each other",
    "loss_nan": "the loss is NaN or infinite, training diverged",
    "network": "a link, cable or switch between nodes is down",
    "nccl_timeout": "a collective operation timed out",
    "gpu_hardware": "the GPU itself is broken or too hot",
    "import_error": "a module, plugin or package is not installed",
    "abi_mismatch": "a library has the wrong version",
    "compile_error": "a kernel or extension does not compile or build",
    "python_exception": "another error of the program itself",
    "unknown": "the lines do not say why",
}
"""What rules may leave open. Exceptions, signals and states are named by rules or not at all."""

SYSTEM: Final = (
    "A training job failed. From lines of its log, copy the one line that names the problem, then "
    "choose the reason that fits that line, or unknown.\n"
    "Example:\nReasons:\nnetwork: a link, cable or switch between nodes is down\n"
    "unknown: the lines do not say why\n"
    "Log:\nepoch 2 done\nvalve: no way to n7, eth1 is dead\nstopping\n"
    '{"line": "valve: no way to n7, eth1 is dead", "reason": "network"}'
)
_OTHERS: Final = ("python_exception", "unknown")
"""Offered beside the explanations that the rules leave."""


class Reading(BaseModel):
    """The model's answer."""

    model_config = ConfigDict(extra="forbid")
    line: str
    reason: str


def offered(options: Sequence[Explanation]) -> tuple[str, ...]:
    """The reasons that a model may choose from: all, where the rules leave none."""
    if not options:
        return tuple(DEFINITIONS)
    return tuple(dict.fromkeys([*(option.reason for option in options), *_OTHERS]))


def schema(candidate_lines: Sequence[LogLine], reasons: Sequence[str]) -> type[Reading]:
    """A `Reading` that can only name one of these lines and reasons."""
    fields: dict[str, Any] = {
        "line": (Literal[tuple(dict.fromkeys(_shown(candidate_lines)))], ...),
        "reason": (Literal[tuple(reasons)], ...),
    }
    return create_model("Reading", __base__=Reading, **fields)


def question(
    case: Case,
    view: Sequence[LogLine],
    reasons: Sequence[str],
    alike: Sequence[Example] = (),
) -> str:
    ended = [
        f"state {case.state}" if case.state else "",
        f"exit code {case.exit_code}" if case.exit_code is not None else "",
        f"signal {case.signal}" if case.signal else "",
        "no progress any more" if case.hung else "",
    ]
    verdict = ", ".join(part for part in ended if part) or "unknown"
    known = "".join(f"{_clean(one.line)} -> {one.reason}\n" for one in alike)
    hint = f"Such lines meant before:\n{known}" if known else ""
    glosses = "".join(f"{reason}: {DEFINITIONS[reason]}\n" for reason in reasons)
    shown = "\n".join(_shown(view))
    return f"{hint}Reasons:\n{glosses}How it ended: {verdict}\nLog:\n{shown}"


def grounded(
    reading: Reading, candidate_lines: Sequence[LogLine], reasons: Sequence[str]
) -> LogLine | None:
    """The line that was picked, if it can carry the reason; an endpoint may check no schema."""
    if reading.reason not in reasons:
        return None
    pairs = zip(candidate_lines, _shown(candidate_lines), strict=True)
    picked = [line for line, text in pairs if text == reading.line]
    return picked[0] if picked and fits(reading.reason, picked[0].text) else None


def _shown(view: Sequence[LogLine]) -> list[str]:
    return [_clean(line.text) for line in view]


def _clean(text: str) -> str:
    """Short, without secrets and without the markers of a chat's roles."""
    return redact(text).replace("<|", "< ").replace("|>", " >")[:_WIDTH].strip()


_WORDS: Final[dict[str, str]] = {
    "gpu_ecc": r"\becc\b|xid|row.?remap",
    "gpu_lost": r"\bgpu|xid|device",
    "gpu_hardware": r"\bgpu|xid|thermal|power",
    "nvlink": r"nvlink|nvswitch|fabric|xid",
    "driver_mismatch": r"driver",
    "nccl_timeout": r"nccl|collective|allreduce|all_reduce|watchdog|gloo|barrier",
    "nccl_remote": r"nccl|gloo|peer|remote",
    "network": r"ibv_|infiniband|network|link|route|connection|socket|mlx5|cable|switch|\bnode",
    "node_failure": r"node|slurmd|kernel panic|reboot",
    "storage_io": r"i/o|input/output|stale|lustre|nfs|ceph|s3|disk|read|write|file ?system|storage",
    "service_unreachable": (
        r"connect|resol|reach|refused|ssl|tls|http|dns|timed|answer|respon|server|mirror"
    ),
    "killed": r"kill|signal|sigterm|terminated",
    "preempted": r"preempt|spot|reclaim|evict",
    "time_limit": r"time.?limit|walltime|deadline|runlimit",
    "cuda_illegal_access": r"illegal|misaligned",
    "cuda_error": r"cuda|cudnn|cublas|hip|rocm|nvrtc",
    "dataloader_killed": r"worker|dataloader",
    "port_conflict": r"address|port|bind",
    "rendezvous": r"rendezvous|rdzv|init_process_group|store|clients|world.?size",
    "checkpoint_corrupt": (
        r"checkpoint|ckpt|archive|zip|header|pickle|truncat|corrupt|eof|snapshot|saved|tensor"
    ),
    "segfault": r"seg|sig|core|abort|bus error|illegal instruction|signal",
    "hang": r"hang|hung|stuck|no progress|stall",
    "disk_full": r"space|full|bytes|disk",
    "loss_nan": r"\bnan|\binf\b|infinit|finite|diverg|overflow|explod|blew up|loss scale",
    "gpu_oom": r"memory|\boom\b|alloc|vram|\bhbm\b|\bfit",
    "host_oom": r"memory|\boom\b|alloc|\bram\b|kill",
    "disk_quota": r"quota|limit|allowance",
    "shape_mismatch": r"shape|size|dim|length|channel|match|expect|column|wide",
    "import_error": r"import|module|librar|package|symbol|\.so\b|install|plugin",
}
_PATTERNS: Final = {reason: re.compile(words, re.IGNORECASE) for reason, words in _WORDS.items()}


def fits(reason: str, line: str) -> bool:
    if reason not in REASONS or REASONS[reason].category == "none":
        return False
    if REASONS[reason].retry != "no" and reason not in _PATTERNS:
        return False
    pattern = _PATTERNS.get(reason)
    return pattern is None or bool(pattern.search(line))
