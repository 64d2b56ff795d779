"""HTML from templates: every value is escaped, and a template that misses one is an error."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from schedmate.model.legible import legible_lines
from schedmate.web.wording import clock, percent, plural, short, source


def _visible(value: object) -> object:
    """Nothing that a job has written turns the reading direction of a page or hides on it."""
    return legible_lines(value) if type(value) is str else value


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=select_autoescape(default=True, default_for_string=True),
    undefined=StrictUndefined,
    finalize=_visible,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {
    "short": short,
    "clock": clock,
    "percent": percent,
    "plural": plural,
    "source": source,
}


def page(name: str, request: Request, *, status: int = 200, **context: Any) -> HTMLResponse:
    return _rendered(name, request, status, context)


def live_page(name: str, request: Request, **context: Any) -> HTMLResponse:
    """`name` in full, or only its changing part where htmx asks for that."""
    live = request.headers.get("HX-Request") == "true"
    return _rendered(f"parts/{name}" if live else name, request, 200, context)


def part(name: str, request: Request, **context: Any) -> HTMLResponse:
    """A piece of a page, for a script that puts it where it belongs."""
    return _rendered(f"parts/{name}", request, 200, context)


def _rendered(name: str, request: Request, status: int, context: dict[str, Any]) -> HTMLResponse:
    template = _TEMPLATES.get_template(name)
    text = template.render(request=request, now=time.time(), **context)
    return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
