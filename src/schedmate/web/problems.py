"""One shape for every error: RFC 9457 `application/problem+json`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from schedmate.model import BadInput, NotFound, SchedMateError

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """What went wrong."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""


def problem(status: int, detail: str = "") -> JSONResponse:
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    return JSONResponse(body.model_dump(), status_code=status, media_type=MEDIA_TYPE)


def add_problems(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(NotFound, _not_found)
    app.add_exception_handler(BadInput, _bad_input)
    app.add_exception_handler(SchedMateError, _failed)


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
    where = ".".join(str(part) for part in first["loc"])
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{where}: {first['msg']}")


def _not_found(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.NOT_FOUND, str(error))


def _bad_input(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, str(error))


def _failed(_: Request, error: Exception) -> Response:
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
