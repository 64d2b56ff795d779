"""`store:` in the place of a trace: the store in use, or the one in the file behind the colon."""

from __future__ import annotations

STORE = "store:"


def trace_file(source: str) -> str:
    """The file of a store that is named so; any other source as it is."""
    if not source.startswith(STORE):
        return source
    from schedmate import config
    from schedmate.model import BadInput, NotFound

    named = source.removeprefix(STORE)
    if named:
        return named
    settings = config.load()
    if settings.store_url:
        raise BadInput(
            "the store in use is in PostgreSQL: copy it to a file with schedmate store backup "
            "FILE, and name that: store:FILE"
        )
    if not settings.database.is_file():
        raise NotFound(
            f"there is no store {settings.database}; schedmate history import slurm (or local, or "
            "a table of jobs) makes one"
        )
    return str(settings.database)
