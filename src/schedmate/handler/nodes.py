"""What the states of its nodes explain about a failed run.

A node that is down, was booted while the job ran, or was taken out by a health check in words
that name its hardware has a fault, and the fault has a reason of the taxonomy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schedmate.model import REASONS, BadInput, NodeCondition, NodeState

if TYPE_CHECKING:
    from schedmate.handler.case import Case

MAY_BE_HARDWARE: Final = frozenset(
    {
        "cuda_error",
        "cuda_illegal_access",
        "dataloader_killed",
        "driver_mismatch",
        "gpu_ecc",
        "gpu_hardware",
        "gpu_lost",
        "hang",
        "killed",
        "nccl_remote",
        "nccl_timeout",
        "network",
        "node_failure",
        "nvlink",
        "rendezvous",
        "segfault",
        "storage_io",
    }
)
"""Reasons that faulty hardware or a lost node may show itself as."""
_AFTERWARDS_S: Final = 900.0
"""How long after the end of a run a node's fault still counts as its cause."""
_WORDS: Final = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        (
            "gpu_ecc",
            r"\becc\b|double.?bit|\bDBE\b|row.?remap|\bxid\W{0,8}(?:48|63|64|92|94|95)\b",
        ),
        (
            "gpu_lost",
            (
                r"\bxid\W{0,8}79\b|fall(?:en|s)? off|gpus? (?:is |are )?(?:lost|missing|gone)"
                r"|gres/gpu\S{0,40} count (?:reported|too) low|(?:lost|missing) gpus?\b"
            ),
        ),
        ("nvlink", r"nv.?link|nv.?switch|fabric.?manager|\bxid\W{0,8}74\b"),
        ("gpu_hardware", r"\bxid\b|\bgpus?\d{0,3}\b|nvidia|\bdcgm\b|\brocm\b|\bsxm\b"),
        (
            "network",
            (
                r"infini.?band|\bib\d{0,2}\b|\bhca\b|\bmlx\d|\broce\b|link (?:is )?down"
                r"|\bnic\b|\bnetwork\b|\bhsn\d|\bofed\b"
            ),
        ),
        (
            "node_failure",
            (
                r"not.?responding|unexpectedly rebooted|kernel|panic|\bmce\b|machine check"
                r"|\bdimm\b|\bmemory\b|realmemory|\bdisks?\b|\bnvme\b|\bssd\b|\bfs\b|file.?system"
                r"|\bmounts?\b|\blustre\b|\bnfs\b|i/o error|kill task failed|hardware|\bcpu\b"
                r"|thermal|temperature|power|\bpsu\b|prolog|epilog|\bslurmd\b"
            ),
        ),
    )
)
_LOCAL_DISK: Final = re.compile(
    r"(?:^|[\s'\"`(=:\[])/(?:tmp|var/tmp|run|local\w{0,12}|scratch[_-]?local|localscratch"
    r"|ramdisk|raid\d{0,2}|nvme\w{0,8}|mnt/(?:nvme|ssd|local)\w{0,12}|lscratch|jobfs)(?=[/\s'\"`):,]|$)"
)
_CONDITIONS: Final[dict[str, NodeCondition]] = {
    "up": "up",
    "idle": "up",
    "drain": "drain",
    "drained": "drain",
    "draining": "drain",
    "down": "down",
    "fail": "down",
    "not_responding": "down",
}


def node_faults(case: Case) -> dict[str, str]:
    """The reason of the taxonomy by node, of the nodes of the case that have one."""
    found = {state.name: _fault(state, case) for state in case.node_states}
    return {node: found[node] or "" for node in case.nodes if found.get(node)}


def blames_a_node(reason: str, text: str) -> bool:
    """Whether a retry after such a failure avoids the node it happened on."""
    return REASONS[reason].retry == "elsewhere" or (reason == "disk_full" and on_local_disk(text))


def on_local_disk(text: str) -> bool:
    """Whether a line names a file on a disk, or in memory, that belongs to one node."""
    return _LOCAL_DISK.search(text) is not None


def parse_node(text: str) -> tuple[str, NodeState | None]:
    """Read `gpu041`, `gpu041=down` or `gpu041=drain:what the health check says`."""
    name, equals, state = text.partition("=")
    word, _, reason = state.partition(":")
    if not equals:
        return name, None
    condition = _CONDITIONS.get(word.strip().lower())
    if condition is None or not name:
        words = ", ".join(sorted(_CONDITIONS))
        raise BadInput(f"{text!r} is no node: give NODE, NODE=STATE or NODE=STATE:WHY ({words})")
    return name, NodeState(name=name, condition=condition, state=word, reason=reason.strip())


def _fault(state: NodeState, case: Case) -> str | None:
    if _booted_meanwhile(state, case):
        return "node_failure"
    if state.condition not in ("drain", "down") or not _in_time(state.since, case):
        return None
    named = next((reason for reason, words in _WORDS if words.search(state.reason)), None)
    return named or ("node_failure" if state.condition == "down" else None)


def _booted_meanwhile(state: NodeState, case: Case) -> bool:
    if state.up_since is None or case.started_at is None:
        return False
    return state.up_since > case.started_at and _in_time(state.up_since, case)


def _in_time(at: float | None, case: Case) -> bool:
    """Not before the run began, and not long after it was over."""
    if at is None:
        return True
    begun = case.started_at is None or at >= case.started_at
    return begun and (case.ended_at is None or at <= case.ended_at + _AFTERWARDS_S)
