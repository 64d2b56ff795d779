"""Where a question goes: a URL of the site's choice, or the embedded model's server."""

from __future__ import annotations

import ipaddress
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from schedmate.model import ModelUnavailable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from schedmate.config import LlmSettings
    from schedmate.llm.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Address:
    """An OpenAI-compatible `/v1` and the key that opens it."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    starts_anew: bool = False
    """Whether opening it once more brings it back when it has died."""

    @property
    def on_this_machine(self) -> bool:
        try:
            host = urlsplit(self.base_url).hostname or ""
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


class Endpoint(Protocol):
    @property
    def model(self) -> str:
        """The model's name, as it is sent and recorded."""

    @property
    def identity(self) -> str:
        """Distinguishes this model's answers from another's in the cache."""

    @property
    def is_remote(self) -> bool:
        """Whether questions leave the machine."""

    def open(self, deadline: Deadline) -> AbstractContextManager[Address]:
        """Make it ready for one request, or raise `ModelUnavailable`."""


class ConfiguredEndpoint:
    """The endpoint that the settings name."""

    def __init__(self, base_url: str, settings: LlmSettings) -> None:
        self._base_url = base_url.rstrip("/")
        self._settings = settings
        self.model = settings.model
        self.identity = f"{self.model} at {self._base_url}"
        self.is_remote = not Address(self._base_url).on_this_machine

    def open(self, deadline: Deadline) -> AbstractContextManager[Address]:  # noqa: ARG002 - always open
        return nullcontext(Address(self._base_url, api_key(self._settings)))


def api_key(settings: LlmSettings) -> str | None:
    """The key from the environment or the file that the settings name."""
    if settings.api_key is not None:
        key = settings.api_key.reveal().strip()
    elif settings.api_key_file is not None:
        try:
            key = settings.api_key_file.expanduser().read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ModelUnavailable(
                f"the model's key cannot be read from {settings.api_key_file} "
                f"(setting llm.api_key_file): {getattr(error, 'strerror', None) or 'no text'}"
            ) from error
    else:
        return None
    if not (key.isascii() and key.isprintable()):
        raise ModelUnavailable("the model's API key has characters that no header can carry")
    return key or None
