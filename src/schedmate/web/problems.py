"""One shape for every error: RFC 9457 `application/problem+json`."""

from __future__ import annotations

from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from schedmate.model import BadInput, NotFound, NotSignedIn, SchedMateError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI, Request
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
STORE_FAILED = "the store cannot be read"
"""To all who ask; where it is and what it answered is for the log."""


class Problem(BaseModel):
    """What went wrong."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""


@contextmanager
def refused_as_conflict() -> Iterator[None]:
    """What was asked for is well formed and cannot be done here or now: 409, with the reason."""
    try:
        yield
    except BadInput as error:
        raise HTTPException(HTTPStatus.CONFLICT, str(error)) from error


def described(text: str) -> dict[str, Any]:
    """An answer of this shape in the OpenAPI document."""
    reference = {"$ref": "#/components/schemas/Problem"}
    return {"description": text, "content": {MEDIA_TYPE: {"schema": reference}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: described("The request cannot be read, or names another host."),
    401: described("It is not known who asks: a token is missing or no longer valid."),
    403: described("The asker may not do this, or another site's page asks."),
    422: described("A parameter cannot be used."),
    429: described("Too many requests."),
    503: described("The store or the scheduler does not answer now."),
}
"""What every route of the API may answer."""
NO_JOB: dict[int | str, dict[str, Any]] = {
    404: described("Neither the queue nor the history knows such a job.")
}
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "The same as the named entity tag."}
}


def problem(status: int, detail: str = "") -> JSONResponse:
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    return JSONResponse(body.model_dump(), status_code=status, media_type=MEDIA_TYPE)


def add_problems(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(NotFound, _not_found)
    app.add_exception_handler(BadInput, _bad_input)
    app.add_exception_handler(NotSignedIn, _forbidden)
    app.add_exception_handler(StoreError, _store_failed)
    app.add_exception_handler(SchedMateError, _failed)
    app.add_exception_handler(Exception, _unforeseen)
    documented = app.openapi

    def with_problems() -> dict[str, Any]:
        document = documented()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema(mode="serialization")
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = with_problems  # type: ignore[method-assign] # as FastAPI has it extended


def _http(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    answer = problem(error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


def _invalid(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    _, *inside = first["loc"]  # of the query, the path or the body
    where = ".".join(str(part) for part in inside) or "the body"
    stated = first["msg"].removeprefix("Value error, ")
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{where}: {stated}")


def _not_found(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.NOT_FOUND, str(error))


def _bad_input(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, str(error))


def _forbidden(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.FORBIDDEN, str(error))


def _unforeseen(_: Request, error: Exception) -> Response:  # noqa: ARG001 - it is logged
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the daemon's log has the reason")


def _store_failed(request: Request, error: Exception) -> Response:
    request.app.state.site.warn_of_store(error)
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, STORE_FAILED)


def _failed(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
