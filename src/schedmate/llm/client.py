"""One HTTP request to a chat-completions endpoint, inside a deadline."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from schedmate.llm.dialect import Unusable, complaint
from schedmate.model import BadAnswer, ModelTooSlow, ModelUnavailable
from schedmate.model.redaction import MARK, redact

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from schedmate.llm.endpoint import Address

R = TypeVar("R")


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def left(self) -> float:
        """Seconds that remain; raises `ModelTooSlow` when there are none."""
        left = self._seconds - self.elapsed
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> ModelTooSlow:
        return ModelTooSlow(
            f"the language model gave no answer within {self._seconds:g} s "
            "(setting llm.deadline_s allows more)"
        )

    def hold(self, work: Callable[[], R]) -> R:
        """Do `work` in a thread of its own and stop waiting for it when time is up.

        A socket's time-out starts anew with every byte and a name look-up has none, so only a
        second thread keeps the promise whatever the other side does.
        """
        results: SimpleQueue[tuple[R, None] | tuple[None, BaseException]] = SimpleQueue()

        def run() -> None:
            try:
                results.put((work(), None))
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                results.put((None, error))

        threading.Thread(target=run, name="schedmate-llm", daemon=True).start()
        try:
            value, error = results.get(timeout=self.left())
        except Empty:
            raise self.passed() from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # mypy loses the pairing of the tuple


_LARGEST_REPLY = 4_000_000
_OK, _BAD_REQUEST = 200, (400, 413, 422)
_HINTS = {
    401: "; set SCHEDMATE_LLM__API_KEY or llm.api_key_file",
    403: "; set SCHEDMATE_LLM__API_KEY or llm.api_key_file",
    404: "; check llm.base_url (…/v1) and llm.model",
}


class Refused(BadAnswer):
    """The endpoint takes no such question."""


def http() -> ModuleType:
    """httpx2, imported only where a model is really asked."""
    try:
        import httpx2  # noqa: PLC0415 - 0.1 s that only those who ask should pay
    except ImportError as error:
        raise ModelUnavailable(
            "asking a language model needs httpx2: pip install 'schedmate[llm]'"
        ) from error
    return httpx2


def request(
    address: Address, deadline: Deadline, path: str, body: dict[str, Any] | None = None
) -> bytes:
    """The reply's bytes; GET without a body, else POST."""
    httpx = http()
    try:
        status, data = deadline.hold(lambda: _exchange(httpx, address, deadline, path, body))
    except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol, httpx.InvalidURL) as e:
        if address.starts_anew:
            raise Unusable("its server has gone") from e
        raise ModelUnavailable(
            f"no language model answers at {redact(address.base_url)}: {e or 'no connection'}"
        ) from e
    except httpx.TimeoutException as error:
        raise deadline.passed() from error
    except httpx.HTTPError as error:
        raise Unusable("the connection broke in mid-answer") from error
    if status != _OK:
        raise _refusal(address, status, data)
    return data


def _exchange(
    httpx: ModuleType,
    address: Address,
    deadline: Deadline,
    path: str,
    body: dict[str, Any] | None,
) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {address.key}"} if address.key else {}
    data = bytearray()
    # A proxy is for what leaves the machine.
    with (
        httpx.Client(timeout=deadline.left(), trust_env=not address.on_this_machine) as client,
        client.stream(
            "GET" if body is None else "POST", address.base_url + path, json=body, headers=headers
        ) as response,
    ):
        for chunk in response.iter_bytes():
            data += chunk
            deadline.left()
            if len(data) > _LARGEST_REPLY:
                raise Unusable("its answer does not end")
        return response.status_code, bytes(data)


def _refusal(address: Address, status: int, data: bytes) -> ModelUnavailable | Refused:
    said = complaint(data)
    if address.key:
        said = said.replace(address.key, MARK)
    detail = f" ({redact(said)})" if said else ""
    if status in _BAD_REQUEST:
        return Refused(f"the language model takes no such question: HTTP {status}{detail}")
    where = redact(address.base_url)
    return ModelUnavailable(
        f"the language model at {where} refused: HTTP {status}{detail}{_HINTS.get(status, '')}"
    )
