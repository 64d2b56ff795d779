"""`schedmate why`"""

from __future__ import annotations

import click

from schedmate.cli._common import echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id
from schedmate.model.legible import legible


@verb(
    cls=OnHost,
    examples="""
schedmate why 12
schedmate why 12 --json
""",
)
@click.argument("job_id", metavar="ID", shell_complete=complete_job_id)
@json_option
def command(job_id: str, as_json: bool) -> None:
    """Why a job waits, goes on or failed, in one line; of an array one for each state."""
    from schedmate import config
    from schedmate.cli._site import reasons_of

    sight, answers = reasons_of(config.load(), job_id)
    view = sight.views[0]
    if as_json:
        from schedmate.service.views.answers import WhyAnswer

        print_json(
            WhyAnswer(
                job_id=job_id,
                state=view.job.state,
                reason=None if view.diagnosis is None else view.diagnosis.reason,
                answer="\n".join(answers),
                late_s=view.late_s,
                parts=sight.parts,
            )
        )
    else:
        for line in answers:
            echo(legible(line))
