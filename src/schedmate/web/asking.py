"""What a route is given: the site, and who asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from schedmate.service.visibility import Viewer
from schedmate.web.queue import Wanted
from schedmate.web.site import Site


def site_of(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)  # noqa: S101 - `create_app` puts it there
    return site


def viewer_of(request: Request) -> Viewer:
    client = None if request.client is None else (request.client.host, request.client.port)
    server = request.scope.get("server")
    return site_of(request).access.viewer(client, server)


AQueue = Annotated[Wanted, Depends()]
ASite = Annotated[Site, Depends(site_of)]
AViewer = Annotated[Viewer, Depends(viewer_of)]
