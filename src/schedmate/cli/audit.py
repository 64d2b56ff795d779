"""`schedmate audit`"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.service.views.answers import ActsPage
    from schedmate.store import PersonsAct


@verb(
    examples="""
schedmate audit
schedmate audit --user ada --limit 20
schedmate audit --action "failed sign-in" --json
"""
)
@click.option("-u", "--user", default="", help="Only what this user did.")
@click.option("--action", default="", help="Only this, as the list names it.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many, the newest first.",
)
@json_option
def command(user: str, action: str, limit: int, as_json: bool) -> None:
    """Who did what, by a page, the API or a verb, and which sign-ins failed; for operators."""
    from contextlib import closing

    from schedmate import config
    from schedmate.cli._site import asked
    from schedmate.service.views.answers import ActsPage
    from schedmate.service.visibility import operators_only
    from schedmate.service.wiring import open_store

    settings = config.load()

    def here() -> ActsPage:
        operators_only(settings)
        with closing(open_store(settings)) as store:
            acts = store.acts(user=user or None, action=action or None, limit=limit)
        return ActsPage(acts=tuple(acts), next=None)

    found = asked(
        settings,
        lambda client: client.audit(user=user, action=action, limit=limit),
        here,
        for_operators=True,
    )
    if as_json:
        print_json(found)
        return
    for one in found.acts:
        echo(act_line(one))
    if not found.acts:
        echo("nothing of this kind is on record", err=True)


def act_line(act: PersonsAct) -> str:
    at = datetime.fromtimestamp(act.at).astimezone().isoformat(" ", "minutes")
    return f"{at}  {act.user or 'unknown'}: {act.action} ({act.about}) {act.detail}".rstrip()
