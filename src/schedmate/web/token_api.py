"""`/api/v1/tokens`: the asker's own tokens; for operators those of all."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from schedmate.service.usecases.tokens import (
    LONGEST_NAME,
    MOST_DAYS,
    USER_NAME,
    TokenRequest,
    make_token,
    revoke_seen,
    tokens_seen,
    unknown_user,
)
from schedmate.service.views.answers import copied
from schedmate.service.views.site_answers import NewToken, TokenAnswer, TokensPage
from schedmate.web.asking import AKnownViewer, ASite, OneLine
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.paging import APage, page_of
from schedmate.web.problems import NOT_MODIFIED, PROBLEMS, described, refused_as_conflict

router = APIRouter(prefix="/api/v1/tokens", responses=PROBLEMS, tags=["access"])


class TokenBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: Annotated[str, Field(max_length=LONGEST_NAME), OneLine()] = ""
    """What it is for."""
    days: Annotated[float, Field(gt=0, le=MOST_DAYS)] = 90.0
    """After how many it ends; not after the token that is shown for it."""
    user: Annotated[str, Field(pattern=f"^({USER_NAME})?$")] = ""
    """Whose jobs it shows; empty: the asker's. Another than the asker only for operators."""
    scope: Literal["user", "operator"] = "user"


@router.get("", response_model=TokensPage, responses=NOT_MODIFIED)
def tokens(
    request: Request,
    site: ASite,
    viewer: AKnownViewer,
    paging: APage,
    user: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """The newest first, also those that have ended; never their secrets."""
    seen = [one for one in tokens_seen(site.store, viewer) if user in ("", one.user)]
    shown, following = page_of(seen, paging, user=user)
    return tagged_json(request, TokensPage(tokens=shown, total=len(seen), next=following))


@router.post(
    "",
    response_model=NewToken,
    status_code=HTTPStatus.CREATED,
    responses={409: described("Too many tokens, one that lasts too long, or no such user.")},
)
def create(body: TokenBody, site: ASite, viewer: AKnownViewer) -> Response:
    """A new one. Its secret is in this answer and nowhere else."""
    wanted = TokenRequest(user=body.user, scope=body.scope, name=body.name, days=body.days)
    of_proxy = bool(site.settings.web.proxy_header)
    with refused_as_conflict():
        token, secret = make_token(site.store, viewer, wanted, of_proxy=of_proxy)
    warning = "" if token.user == viewer.user else unknown_user(site.store, token.user)
    answer = fresh_json(copied(NewToken, token, secret=secret, warning=warning))
    answer.status_code = HTTPStatus.CREATED
    return answer


@router.delete(
    "/{token_id}",
    response_model=TokenAnswer,
    responses={404: described("The asker has no such token.")},
)
def revoke(token_id: str, site: ASite, viewer: AKnownViewer) -> Response:
    """It ends at once, with all that were made with it."""
    return fresh_json(copied(TokenAnswer, revoke_seen(site.store, viewer, token_id)))
