"""`schedmate doctor`"""

from __future__ import annotations

from schedmate.cli._common import console, echo, json_option, print_json, verb


@verb(
    examples="""
schedmate doctor
schedmate doctor --json
SCHEDMATE_SCHEDULER=slurm schedmate doctor
"""
)
@json_option
def command(as_json: bool) -> int:
    """Check every part and print the fix. Exit code 1 when something needs one."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.usecases.checkup import run_checks

    results = run_checks(config.load())
    if as_json:
        shown = [to_json(result) for result in results]
        print_json({"schema": "schedmate.doctor/1", "findings": shown})
    else:
        screen = console()
        for result in results:
            mark = {"ok": "[green]✓[/]", "note": "[yellow]·[/]", "bad": "[red]✗[/]"}[result.state]
            screen.print(f"{mark} {result.part:<12}", end="")
            echo(result.text)
            if result.fix:
                echo(f"  {'':<12}→ {result.fix}")
    return 1 if any(result.state == "bad" for result in results) else 0
