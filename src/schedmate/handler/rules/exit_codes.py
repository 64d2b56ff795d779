"""Exit codes as orchestrators, runners and shells print them: above 128, or below 0, a signal.

A signal is what happened, rarely why: whatever else is found goes first.
"""

import re

from schedmate.handler.rules.base import Lazy, Rule, Weight

_ENDED = (
    r"(?:[Ee]xit|EXIT|[Rr]eturn|[Tt]erminat|\b[Dd]ied|[Ff]ail|[Cc]rash|[Cc]omplet|[Ff]inish|[Ss]top"
    r"|[Kk]ill)\w{0,6}.{0,30}(?:[Cc]ode|CODE|[Ss]tatus|STATUS)"
)
_IS = r"(?: of| is| was|\]|\\)?[ :(=,\"'\[]{0,12}"
_AND = r"(?:[)\].,;:'\"}]|$| \(| [a-zA-Z])"
_TALK = Lazy(
    r"\b(?:handles?|expect(?:ed|s)?|if|when|test\w{0,6}|means?|usually|e\.g\.|retry(?:ing)?|passed"
    r"|ignor\w{1,4}|restarting|out of memory|oom\w{0,8})\b",
    re.IGNORECASE,
)


def _ended(codes: str, names: str) -> Lazy:
    return Lazy(
        rf"{_ENDED}{_IS}(?:(?:{codes}){_AND}|Negsignal\.SIG(?:{names})\b)|\bExited \((?:{codes})\)"
    )


RULES = (
    Rule(
        name="printed-exit-code",
        reason="killed",
        pattern=_ended("137|143|-9|-15", "KILL|TERM"),
        unless=_TALK,
        confidence=0.65,
        weight=Weight.SYMPTOM,
        positives=(
            "[f8107735c673-n0-0] terminated with exit code (137). Reason [Error]. Message: ",
            "Container train terminated with exit code 137",
            "command terminated with exit code 137",
            "Task exited with return code Negsignal.SIGKILL",
            "{local_task_job_runner.py:266} INFO - Task exited with return code -9",
            "The replica master 0 exited with a non-zero status of 137.",
            "ERROR: Job failed: exit code 137",
            "Process `TRAIN (1)` terminated with an error exit status (143)",
            "      Exit Code:    137",
            "trainer-1 exited with code 143",
            'state: {"terminated": {"exitCode": 137, "reason": "Error"}}',
            "[launch.py:321:sigkill_handler] ['python'] exited with return code = -15",
        ),
        negatives=(
            "      Exit Code:    0",
            "      Exit Code:    1",
            "exit code 137 means that the process was killed",
            "test_exit_code_137 returned 137 items",
            "exited 143 workers so far, 12 left",
            "finished 137 of 200 steps",
        ),
    ),
    Rule(
        name="printed-exit-code",
        reason="segfault",
        pattern=_ended("139|134|135|136|132|-11|-6|-7|-4|-8", "SEGV|BUS|ABRT|ILL|FPE"),
        unless=_TALK,
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            "Container train terminated with exit code 139",
            "trainer-1 exited with code 134",
            "Task exited with return code Negsignal.SIGSEGV",
            "The replica worker 3 exited with a non-zero status of 139.",
            "Process finished with exit code -11",
        ),
        negatives=("finished 139 of 200 steps", "exited with code 1", "returned 134"),
    ),
)
