"""The name of a run: a policy, and the parts of SchedMate that assist it.

`fifo`, `easy+advisor`, `tiresias+advisor+tracker`, `lucid+schedmate` (advisor, tracker, handler),
`easy+schedmate+limits` (time limits are lowered too), `tiresias@3250` (a policy with another value
of its first parameter, `las@60:2` with two).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from schedmate.model import BadInput
from schedmate.policies import POLICIES

Part = Literal["advisor", "tracker", "handler", "limits"]
PARTS: tuple[Part, ...] = get_args(Part)
ALL_PARTS = "schedmate"
_USUAL = PARTS[:3]
"""What is on by default in the daemon; `limits` lowers time limits, which a site has to allow."""


@dataclass(frozen=True, slots=True)
class Plan:
    policy: str
    parts: frozenset[Part] = frozenset()
    values: tuple[float, ...] = ()
    """Of the policy's parameters, the first ones; the rest has its defaults."""

    @property
    def name(self) -> str:
        usual = ALL_PARTS if self.parts.issuperset(_USUAL) else ""
        shown = [part for part in PARTS if part in self.parts and not (usual and part in _USUAL)]
        values = ":".join(f"{value:.12g}" for value in self.values)
        policy = f"{self.policy}@{values}" if values else self.policy
        return "+".join([policy, *([usual] if usual else []), *shown])

    @property
    def unaided(self) -> Plan:
        return Plan(self.policy, values=self.values)


def plan(name: str) -> Plan:
    named, *words = [word.strip() for word in name.split("+")]
    policy, at, values = named.partition("@")
    if policy not in POLICIES:
        raise BadInput(f"no policy is called {policy!r}; there are: {', '.join(sorted(POLICIES))}")
    parts: set[Part] = set()
    tuned = _values(name, values) if at else ()
    if tuned:
        POLICIES[policy].tuned(tuned)
    for word in words:
        known: Sequence[Part] = _USUAL if word == ALL_PARTS else [p for p in PARTS if p == word]
        if not known:
            raise BadInput(
                f"{name!r}: SchedMate has no part {word!r}; there are: "
                f"{', '.join(PARTS)}, and {ALL_PARTS} for {', '.join(_USUAL)}"
            )
        if not parts.isdisjoint(known):
            raise BadInput(f"{name!r} names {_doubled(words, parts, known)}")
        parts.update(known)
    if "advisor" in parts and POLICIES[policy].kind == "oracle":
        raise BadInput(
            f"{name!r}: an oracle knows the true run times and takes no predictions; "
            f"say {policy.removesuffix('-oracle')}+advisor"
        )
    if "limits" in parts and ("advisor" not in parts or POLICIES[policy].kind != "beside"):
        raise BadInput(
            f"{name!r}: limits are lowered by predictions, beside an unmodified scheduler; "
            "say for example easy+schedmate+limits"
        )
    return Plan(policy, frozenset(parts), tuned)


def _values(name: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in text.split(":"))
    except ValueError:
        raise BadInput(
            f"{name!r}: numbers stand behind @, for example tiresias@3250 or las@60:2"
        ) from None


def _doubled(words: Sequence[str], parts: Collection[Part], known: Sequence[Part]) -> str:
    part = next(one for one in known if one in parts)
    if words.count(part) > 1 or words.count(ALL_PARTS) > 1:
        word = part if words.count(part) > 1 else ALL_PARTS
        return f"{word} twice; once is enough"
    return f"{part} besides {ALL_PARTS}, which contains it; leave {part} out"


def plans(names: str) -> tuple[Plan, ...]:
    """The runs asked for, each once, in the order given; `all` is every policy."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words:
        raise BadInput("--policy needs a name, for example --policy fifo,easy,easy+schedmate")
    asked = [word for one in words for word in (sorted(POLICIES) if one == "all" else [one])]
    return tuple(dict.fromkeys(plan(word) for word in asked))
