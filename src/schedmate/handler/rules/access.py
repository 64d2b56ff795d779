"""What this user may not have: services that refuse, files that are closed."""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, any_of, typed

_REFUSED = (
    (
        r"\b40[13] (?:Client Error|Unauthorized|Forbidden|(?:GET|PUT|POST|HEAD) )"
        r"|HTTP (?:Error )?40[13]\b"
    ),
    r"does not have \S{3,60} (?:access|permission)",
    r"status(?: code)?:? 40[13]\b",
    r"[Ee]rror code:? 40[13]\b|\(Error 40[13]\b|\b(?:code|error) 40[13]: |HttpError 40[13]\b",
    r"(?:\(|\b)40[13]\) when calling",
    r"\bGatedRepo|access(?:ing)? (?:a|to a|the|to the|this) gated|[Gg]ated repo(?:sitory)?",
    r"[Aa]ccess to (?:model|dataset) \S{1,120} is (?:restricted|disabled|gated)|awaiting a review",
    r"[Mm]ust be authenticated|make sure to (?:have access|be logged)",
    r"[Yy]ou (?:must|need to) (?:be logged|log) ?in",
    r"LocalTokenNotFoundError|Token is required",
    r"[Ii]nvalid (?:user|access|API|api|auth\w{0,12}|bearer|refresh) ?(?:token|key)",
    r"[Ii]nvalid username or password|[Ii]nvalid credentials?\b|[Bb]ad credentials",
    r"[Aa]uthentication (?:failed|required)",
    (
        r"api[_ ]key (?:not configured|must be|is (?:not set|missing|invalid|required)"
        r"|client option must)"
    ),
    (
        r"API key (?:must be|not (?:found|valid|configured)|is (?:not|invalid|missing|required)"
        r"|appears)"
    ),
    r"[Ii]ncorrect API key",
    r"(?:No|Unable to locate|Could not load|Partial) credentials",
    r"credentials (?:were|was|are|have) (?:not|expired|invalid)",
    r"could not (?:automatically )?(?:determine|find) .{0,20}credentials",
    r"[Dd]efaultCredentialsError|NoCredentialsError",
    (
        r"(?:ExpiredToken|InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied"
        r"|UnrecognizedClient|InvalidClientTokenId)\w{0,20}"
    ),
    r"[Tt]oken (?:has |is |was )?(?:expired|invalid|revoked)|SSO session .{0,60}expired",
    r"SSOTokenError|invalid_grant|[Rr]eauthentication is needed|[Tt]icket expired",
    r"AuthenticationFailed|AuthorizationFailure|AuthorizationPermissionMismatch",
    r"UnauthenticatedError|UNAUTHENTICATED",
    r"Permission denied \((?:publickey|password|gssapi|keyboard)|[Hh]ost key verification failed",
    r"could not read Username for|does not have \S{1,60} access to",
    r"[Pp]ermission denied to access (?:the )?(?:entity|project|bucket)",
    r"denied: requested access to the resource|unauthorized: authentication required",
    r"pull access denied",
    (
        r"(?:NEPTUNE_API_TOKEN|COMET_API_KEY|WANDB_API_KEY|HF_TOKEN|HUGGING_?FACE_?\w{0,8}TOKEN"
        r"|OPENAI_API_KEY)"
        r".{0,60}(?:not|missing|invalid|required|set|provide)"
    ),
    r"[Rr]epository Not Found for url.{0,200}40[13]|[Cc]annot access gated",
)
_TYPES = (
    (
        r"\w{0,40}(?:Authentication|Authorization|Unauthorized|Credentials?|Forbidden|Auth"
        r"|NotAuthorized)"
        r"\w{0,20}(?:Error|Exception)"
    ),
    r"GatedRepoError|NeptuneInvalidApiTokenException|NeptuneMissingApiTokenException",
)

RULES = (
    Rule(
        name="used-up-account",
        reason="auth_error",
        pattern=LazyPattern(
            r"insufficient_quota|exceeded your (?:current |monthly )(?:quota|included credits)"
            r"|billing (?:hard limit|details)|credit balance is too low|payment required",
            re.IGNORECASE,
        ),
        errors_only=True,
        confidence=0.85,
        suggestion="The account of the service has no credit left: raise its limit or pay.",
        positives=(
            "openai.RateLimitError: Error code: 429 - You exceeded your current quota",
            "HfHubHTTPError: 402 Client Error: Payment Required for url: https://x",
        ),
        negatives=("openai.RateLimitError: Error code: 429 - Rate limit reached",),
    ),
    Rule(
        name="refused-exception",
        reason="auth_error",
        pattern=any_of(typed(*_TYPES), *_REFUSED),
        unless=LazyPattern(r"rate limit|[Tt]oo many requests|quota|\[Errno 13\]"),
        errors_only=True,
        confidence=0.92,
        positives=(
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x/y",
            "urllib.error.HTTPError: HTTP Error 403: Forbidden",
            "wandb.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=...)",
            (
                "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-6) "
                "Cannot access gated repo for url https://x/y."
            ),
            (
                "OSError: You are trying to access a gated repo. Make sure to have access to it at "
                "https://x/y."
            ),
            "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
            (
                "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when "
                "calling the "
                "GetObject operation: The provided token has expired."
            ),
            (
                "google.auth.exceptions.DefaultCredentialsError: Your default credentials were not "
                "found."
            ),
            (
                "openai.AuthenticationError: Error code: 401 - {'error': {'message': "
                "'Incorrect API "
                "key provided'}}"
            ),
            "neptune.exceptions.NeptuneMissingApiTokenException: ",
            "ValueError: Token is required (`token=True`), but no token found.",
            (
                "wandb.errors.CommError: It appears that you do not have permission to access the "
                "requested resource. (Error 403: Forbidden)"
            ),
            (
                "botocore.exceptions.ClientError: An error occurred (403) when calling the "
                "HeadObject operation: Forbidden"
            ),
        ),
        negatives=(
            "requests.exceptions.HTTPError: 404 Client Error: Not Found for url",
            "urllib.error.HTTPError: HTTP Error 403: rate limit exceeded",
            "ValueError: 403 samples expected",
            "PermissionError: [Errno 13] Permission denied: '/etc/auth'",
        ),
    ),
    Rule(
        # the same from programs that are not Python
        name="refused-command",
        reason="auth_error",
        pattern=LazyPattern(
            r"Permission denied \((?:publickey|password|gssapi|keyboard)"
            r"|^(?:fatal|remote|Error response from daemon|docker|ERROR|FATAL)\S{0,40}: .{0,200}"
            r"(?:Authentication failed|could not read (?:Username|Password)|unauthorized:"
            r"|Invalid username or (?:password|token)|pull access denied|denied: requested access"
            r"|requested access to the resource is denied|Support for password authentication)"
            r"|^wandb: ERROR .{0,160}(?:API key|[Ll]ogin|permission|401|403)"
            r"|^(?:wget|curl)?.{0,60}(?:ERROR 40[13]: |returned error: 40[13]\b)"
            r"|^(?:fatal|An) error:? occurred \((?:ExpiredToken|AccessDenied"
            r"|InvalidAccessKeyId|403)"
            r"|^Unable to locate credentials\b|not currently have an active account selected"
        ),
        confidence=0.85,
        positives=(
            "git@github.com: Permission denied (publickey).",
            "fatal: Authentication failed for 'https://github.com/x/y.git/'",
            "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
            "wandb: ERROR API key must be 40 characters long, yours was 12",
            (
                "docker: Error response from daemon: pull access denied for x/y, repository does "
                "not exist or may require 'docker login'."
            ),
            "2026-01-01 00:00:00 ERROR 403: Forbidden.",
            (
                "Unable to locate credentials. You can configure credentials by running 'aws "
                "configure'"
            ),
        ),
        negatives=(
            "wandb: Currently logged in as: ada",
            "find: '/proc/1/fd': Permission denied",
            "ERROR 404: Not Found.",
        ),
    ),
    Rule(
        name="exception",
        reason="permission_denied",
        pattern=any_of(
            typed("PermissionError", "PermissionDeniedError", r"\w{0,30}AccessDenied\w{0,20}"),
            r"\[Errno (?:13|1|30)\]|errno ?[=:]? ?13\b|[Pp]ermission denied|PERMISSION_DENIED",
            r"Operation not permitted|Read-only file system|EACCES",
            r"(?:[Nn]o|not have|lacks?) (?:write |read |the )?permissions? (?:to|for|on)",
            r"(?:is|are) not (?:writable|writeable|readable)\b",
            r"[Nn]ot (?:writable|writeable) directory",
        ),
        errors_only=True,
        confidence=0.9,
        positives=(
            "PermissionError: [Errno 13] Permission denied: '/data/out'",
            "PermissionError: [Errno 1] Operation not permitted: '/scratch/x'",
            "OSError: [Errno 30] Read-only file system: '/home/u/.cache'",
            "RuntimeError: Unable to open /x/y: Permission denied",
            (
                "OSError: PermissionError at /root/.cache when downloading x. Check cache "
                "directory "
                "permissions: [Errno 13] Permission denied"
            ),
            (
                "docker.errors.DockerException: ('Connection aborted.', PermissionError(13, "
                "'Permission denied'))"
            ),
            (
                "tensorflow.python.framework.errors_impl.PermissionDeniedError: /x/y; Permission "
                "denied"
            ),
        ),
        negatives=("no PermissionError here", "ValueError: permissions of 3 items"),
    ),
    Rule(
        name="device-or-daemon",
        reason="permission_denied",
        pattern=LazyPattern(
            r"permission denied while trying to connect to the [Dd]ocker|/dev/(?:nvidia|kfd|dri)"
            r"\S{0,40}.{0,40}[Pp]ermission denied|NVML: Insufficient Permissions"
            r"|(?:docker|apptainer|singularity|FATAL|ERROR): .{0,200}[Pp]ermission denied"
        ),
        unless=LazyPattern(r"\(publickey"),
        confidence=0.85,
        positives=(
            (
                "docker: permission denied while trying to connect to the Docker daemon socket at "
                "unix:///var/run/docker.sock"
            ),
            "NvRmMem: cannot open /dev/nvidia0: Permission denied",
            "Failed to initialize NVML: Insufficient Permissions",
            "FATAL:   container creation failed: mount /x: permission denied",
        ),
        negatives=("find: '/proc/1/fd': Permission denied", "permission denied: 0 files"),
    ),
)
