"""Files and services that are not there or not for this user."""

import re

from schedmate.handler.rules.base import Rule
from schedmate.handler.rules.named import by_name

RULES = (
    Rule(
        reason="auth_error",
        pattern=re.compile(
            r"\b(?:401|403) (?:Client Error|Unauthorized|Forbidden)|GatedRepoError"
            r"|You are trying to access a gated repo|api_key not configured|[Ii]nvalid API key"
            r"|LocalTokenNotFoundError|AuthenticationError|NoCredentialsError"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x/y",
            "wandb.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=...)",
        ),
        negatives=("requests.exceptions.HTTPError: 404 Client Error: Not Found for url",),
    ),
    by_name("file_not_found", "FileNotFoundError", "NotADirectoryError", example="[Errno 2] 'x'"),
    by_name("permission_denied", "PermissionError", example="[Errno 13] Permission denied: 'x'"),
)
