"""The name of a run: a policy, and the parts of SchedMate that assist it.

`fifo`, `easy+advisor`, `tiresias+advisor+tracker`, `lucid+schedmate` (all three parts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from schedmate.model import BadInput
from schedmate.policies import POLICIES

Part = Literal["advisor", "tracker", "handler"]
PARTS: tuple[Part, ...] = get_args(Part)
ALL_PARTS = "schedmate"


@dataclass(frozen=True, slots=True)
class Plan:
    policy: str
    parts: frozenset[Part] = frozenset()

    @property
    def name(self) -> str:
        if len(self.parts) == len(PARTS):
            return f"{self.policy}+{ALL_PARTS}"
        return "+".join([self.policy, *(part for part in PARTS if part in self.parts)])

    @property
    def unaided(self) -> Plan:
        return Plan(self.policy)


def plan(name: str) -> Plan:
    policy, *words = [word.strip() for word in name.split("+")]
    if policy not in POLICIES:
        raise BadInput(f"no policy is called {policy!r}; there are: {', '.join(sorted(POLICIES))}")
    parts: set[Part] = set()
    for word in words:
        known: Sequence[Part] = PARTS if word == ALL_PARTS else [p for p in PARTS if p == word]
        if not known:
            raise BadInput(
                f"{name!r}: SchedMate has no part {word!r}; there are: "
                f"{', '.join(PARTS)}, and {ALL_PARTS} for all"
            )
        parts.update(known)
    if "advisor" in parts and POLICIES[policy].kind == "oracle":
        raise BadInput(
            f"{name!r}: an oracle knows the true run times and takes no predictions; "
            f"say {policy.removesuffix('-oracle')}+advisor"
        )
    return Plan(policy, frozenset(parts))


def plans(names: str) -> tuple[Plan, ...]:
    """The runs asked for, each once, in the order given; `all` is every policy."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words:
        raise BadInput("--policy needs a name, for example --policy fifo,easy,easy+schedmate")
    asked = [word for one in words for word in (sorted(POLICIES) if one == "all" else [one])]
    return tuple(dict.fromkeys(plan(word) for word in asked))
