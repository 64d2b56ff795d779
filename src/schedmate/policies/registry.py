"""The policies of the simulator by name. To add one: a file beside this one, and its class here."""

from __future__ import annotations

from collections.abc import Callable

from schedmate.policies.conservative import Conservative
from schedmate.policies.easy import Easy
from schedmate.policies.fifo import Fifo
from schedmate.policies.first_fit import FirstFit
from schedmate.policies.foreseen import Foreseen
from schedmate.policies.gavel import Gavel
from schedmate.policies.gittins import Gittins
from schedmate.policies.las import Las
from schedmate.policies.lucid import Lucid
from schedmate.policies.multifactor import Multifactor
from schedmate.policies.pollux import Pollux
from schedmate.policies.qssf import Qssf
from schedmate.policies.sia import Sia
from schedmate.policies.sjf import Sjf
from schedmate.policies.srsf import Srsf
from schedmate.policies.srtf import Srtf
from schedmate.policies.ssf import Ssf
from schedmate.policies.tiresias import Tiresias
from schedmate.policies.world import Fast, Policy, Seen, World

POLICIES: dict[str, Callable[..., Policy]] = {
    "fifo": Fifo,
    "first-fit": FirstFit,
    "easy": Easy,
    "conservative": Conservative,
    "sjf": Sjf,
    "ssf": Ssf,
    "qssf": Qssf,
    "srtf": Srtf,
    "srsf": Srsf,
    "tiresias": Tiresias,
    "las": Las,
    "multifactor": Multifactor,
    "gittins": Gittins,
    "lucid": Lucid,
    "gavel": Gavel,
    "pollux": Pollux,
    "sia": Sia,
}
"""What makes a policy of that name for one run."""

__all__ = [
    "POLICIES",
    "Fast",
    "Fifo",
    "FirstFit",
    "Foreseen",
    "Policy",
    "Seen",
    "Sjf",
    "World",
]
