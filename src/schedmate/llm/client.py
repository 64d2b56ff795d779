"""One HTTP request to a chat-completions endpoint, inside a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedmate.llm.dialect import complaint
from schedmate.llm.messages import ConnectionLost, Unusable
from schedmate.model import BadAnswer, ModelUnavailable
from schedmate.model.extras import needs
from schedmate.model.redaction import MARK, redact

if TYPE_CHECKING:
    from types import ModuleType

    from schedmate.llm.deadline import Deadline
    from schedmate.llm.endpoint import Address

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
        raise ModelUnavailable(needs("asking a language model needs", "httpx2")) from error
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
            raise ConnectionLost("its server has gone") from e
        raise ModelUnavailable(
            f"no language model answers at {redact(address.base_url)}: {e or 'no connection'}"
        ) from e
    except httpx.TimeoutException as error:
        raise deadline.passed() from error
    except httpx.HTTPError as error:
        raise ConnectionLost("the connection broke in mid-answer") from error
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
    detail = complaint(data)
    if address.key:
        detail = detail.replace(address.key, MARK)
    detail = f" ({redact(detail)})" if detail else ""
    if status in _BAD_REQUEST:
        return Refused(f"the language model takes no such question: HTTP {status}{detail}")
    where = redact(address.base_url)
    return ModelUnavailable(
        f"the language model at {where} refused: HTTP {status}{detail}{_HINTS.get(status, '')}"
    )
