"""Licences of commercial programs: a server that does not answer, none free, or none granted.

FlexNet numbers its errors, and other licence managers use the same words: a server out of reach
and a licence in use by others pass, a wrong or expired licence does not.
"""

from __future__ import annotations

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_NUMBER = (
    r"(?:[Ll]icen[cs]ing [Ee]rror|[Ll]icen[cs]e [Mm]anager [Ee]rror|FlexNet error"
    r"|FLEX\w{0,3} error)"
)
_GOES_ON = LazyPattern(r"\b(?:retry(?:ing)?|trying again|will try|falling back|attempt \d)\b")

RULES = (
    Rule(
        name="licence-server",
        reason="service_unreachable",
        pattern=LazyPattern(
            _NUMBER + r" ?:? {0,2}-(?:4|7|12|15|16|34|95|96|97|101|103)\b"
            r"|(?:[Cc]annot|[Uu]nable to|[Ff]ailed to|[Cc]ould not) (?:connect to|reach|contact"
            r"|find)"
            r" (?:the |a |any )?licen[cs]e (?:server|manager|daemon)"
            r"|[Cc]onnection to (?:the )?licen[cs]e server .{0,40}(?:fail|refused|lost"
            r"|could not|timed)"
            r"|[Ll]icen[cs]e server .{0,40}(?:is down|not respond|unreachable|unavailable"
            r"|timed out)"
            r"|[Ll]icensed number of users (?:is )?already reached"
            r"|[Nn]o (?:more )?licen[cs]es? (?:is |are )?(?:currently )?(?:available|free)\b"
            r"|[Aa]ll licen[cs]es? (?:are )?(?:in use|checked out|reserved|taken)"
            r"|[Ll]icen[cs]e .{0,40}is not available now"
        ),
        unless=_GOES_ON,
        confidence=0.88,
        suggestion="the licence server does not answer or has no licence free: submit it later",
        positives=(
            "License Manager Error -15",
            "FlexNet Licensing error:-15,10032",
            "MATLAB is unable to connect to the license server.",
            "Cannot connect to license server system.",
            "Error: A license for Comp-CL is not available now (-15,570,115).",
            "Licensed number of users already reached.",
            "A connection to the license server could not be made.  You should",
        ),
        negatives=(
            "License Manager Error -9",
            "unable to connect to the license server, retrying in 60 s",
            "license server: 27000@lic1",
        ),
    ),
    Rule(
        name="licence-refused",
        reason="auth_error",
        pattern=LazyPattern(
            _NUMBER + r" ?:? {0,2}-(?:1|2|3|5|8|9|10|13|18|21|25|39|88)\b"
            r"|[Ll]icen[cs]e (?:\S{1,60} )?(?:has |is )?(?:expired|invalid|revoked|not valid)\b"
            r"|[Nn]o (?:valid )?licen[cs]e (?:file |key )?(?:found|for|was found)"
            r"|[Ii]nvalid licen[cs]e (?:key|file|code)"
            r"|[Hh]ost ?id .{0,60}does not match .{0,40}licen[cs]e"
        ),
        unless=_GOES_ON,
        confidence=0.85,
        positives=(
            "License Manager Error -9",
            "Licensing error: -10,32.",
            "gurobipy: License expired 2025-01-01, invalid license file",
            "ERROR: no valid license found for feature fluent",
        ),
        negatives=("License Manager Error -15", "license expires in 30 days"),
    ),
    Rule(
        name="licence-checkout",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"[Ll]icen[cs]e check-?out failed|(?:could not|failed to"
            r"|unable to) check-?out .{0,40}licen[cs]e"
            r"|[Ee]rror while checking out licen[cs]e"
        ),
        unless=_GOES_ON,
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            "License checkout failed.",
            "icpc: error #10052: could not checkout FLEXlm license",
        ),
        negatives=("license checkout: 1 of 12", "License checkout failed, retrying"),
    ),
)
