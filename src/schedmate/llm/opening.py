"""From settings to something to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.llm.asker import ModelAsker
from schedmate.llm.client import request
from schedmate.llm.deadline import Deadline
from schedmate.llm.embedded.files import ModelFiles
from schedmate.llm.embedded.process import EmbeddedEndpoint
from schedmate.llm.endpoint import ConfiguredEndpoint
from schedmate.llm.messages import Unusable
from schedmate.model import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.config import LlmSettings
    from schedmate.llm.endpoint import Endpoint
    from schedmate.model import Asker, Ledger, Tier

_LOOK_S = 5.0


def open_asker(settings: LlmSettings, *, cache_dir: Path, ledger: Ledger) -> Asker | None:
    """The configured endpoint, else the embedded model where it is installed, else None.

    None as well where its tier is that nothing is asked of it.

    Nothing is started or connected here: the first question does that.
    """
    endpoint = choose_endpoint(settings, cache_dir)
    if endpoint is None:
        return None
    tier = tier_of(settings, endpoint, ledger)
    return None if tier == "none" else ModelAsker(endpoint, settings, ledger, tier)


def tier_of(settings: LlmSettings, endpoint: Endpoint, ledger: Ledger) -> Tier:
    """As it is set; else by the exam of this endpoint and model, without one `choose`."""
    if settings.tier != "auto":
        return settings.tier
    result = ledger.exam_of(endpoint.identity)
    return "choose" if result is None else result.tier


def choose_endpoint(settings: LlmSettings, cache_dir: Path) -> Endpoint | None:
    if settings.base_url:
        return ConfiguredEndpoint(settings.base_url, settings)
    files = ModelFiles(cache_dir)
    return EmbeddedEndpoint(files, settings) if files.installed() else None


def why_unreachable(settings: LlmSettings) -> str | None:
    """What keeps the configured endpoint from answering, or None where it answers."""
    if not settings.base_url:
        return "no endpoint is configured (setting llm.base_url)"
    deadline = Deadline(min(_LOOK_S, settings.deadline_s))
    try:
        with ConfiguredEndpoint(settings.base_url, settings).open(deadline) as address:
            request(address, deadline, "/models")
    except (ModelError, Unusable) as problem:
        return str(problem)
    return None
