"""What a route is given: the site, and who asks."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Request
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from schedmate.model import BadInput
from schedmate.model.legible import one_line
from schedmate.service.visibility import Viewer
from schedmate.web.queue import Wanted
from schedmate.web.site import Site

_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
"""As the OpenAPI document states it; the sentence that refuses is our own."""
FOR_OPERATORS = "there is nothing here, or it is for operators only"


def site_of(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)  # noqa: S101 - `create_app` puts it there
    return site


def viewer_of(request: Request) -> Viewer:
    viewer = request.scope["state"]["viewer"]
    assert isinstance(viewer, Viewer)  # noqa: S101 - the gate puts it there
    return viewer


def known_viewer_of(viewer: Annotated[Viewer, Depends(viewer_of)]) -> Viewer:
    """Someone with a name; strangers are asked to sign in."""
    if not viewer.user:
        headers = {"WWW-Authenticate": "Bearer"}
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED, "it is not known who asks; send a token", headers
        )
    return viewer


def operator_of(viewer: Annotated[Viewer, Depends(known_viewer_of)]) -> Viewer:
    """For others there is nothing here."""
    if not viewer.operator:
        raise HTTPException(HTTPStatus.NOT_FOUND, FOR_OPERATORS)
    return viewer


def _one_line(text: str) -> str:
    """As a value of a body is refused: 422."""
    try:
        return one_line(text)
    except BadInput as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True)
class OneLine:
    """For text that a person writes: a note, a name."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(_one_line, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema) | {"pattern": _ONE_LINE}


AJobId = Annotated[str, Path(examples=["12", "12_3", "12+1"], max_length=200)]
AKnownViewer = Annotated[Viewer, Depends(known_viewer_of)]
AnOperator = Annotated[Viewer, Depends(operator_of)]
AQueue = Annotated[Wanted, Depends()]
ASite = Annotated[Site, Depends(site_of)]
AViewer = Annotated[Viewer, Depends(viewer_of)]
