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
    from schedmate.service.checkup import examine

    findings = examine(config.load())
    if as_json:
        shown = [to_json(finding) for finding in findings]
        print_json({"schema": "schedmate.doctor/1", "findings": shown})
    else:
        screen = console()
        for finding in findings:
            mark = {"ok": "[green]✓[/]", "note": "[yellow]·[/]", "bad": "[red]✗[/]"}[finding.state]
            screen.print(f"{mark} {finding.part:<12}", end="")
            echo(finding.text)
            if finding.fix:
                echo(f"  {'':<12}→ {finding.fix}")
    return 1 if any(finding.state == "bad" for finding in findings) else 0
