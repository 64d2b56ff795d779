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
    tier = "none" if endpoint is None else tier_of(settings)
    if endpoint is None or tier == "none":
        return None
    return ModelAsker(endpoint, settings, ledger, tier)


def tier_of(settings: LlmSettings) -> Tier:
    return "choose" if settings.tier == "auto" else settings.tier


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
