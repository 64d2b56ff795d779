"""Answers as JSON with an entity tag: who has the same already gets 304 and no body."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.responses import Response

from schedmate.model.wire import dumps

if TYPE_CHECKING:
    from fastapi import Request

_PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
"""What one user may see is not for a cache that others share."""
_TAG_LENGTH = 32


def tagged_json(request: Request, value: object) -> Response:
    """The one dialect of our JSON, which a response model only documents."""
    body = dumps(value, often=True)
    tag = f'"{hashlib.sha256(body.encode()).hexdigest()[:_TAG_LENGTH]}"'
    headers = {**_PRIVATE, "ETag": tag}
    if has_same(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def fresh_json(value: object, **headers: str) -> Response:
    """For what depends on the moment: no tag, and not to be kept."""
    kept = {"Cache-Control": "no-store", **headers}
    return Response(dumps(value, often=True), media_type="application/json", headers=kept)


def has_same(condition: str, tag: str) -> bool:
    """Whether an If-None-Match names this tag; weak ones count, as RFC 9110 has it for GET."""
    named = {one.strip().removeprefix("W/") for one in condition.split(",")}
    return "*" in named or tag in named
