"""What looks like a secret is taken out of a text before it leaves the machine."""

from __future__ import annotations

import re

MARK = "[redacted]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)

_KNOWN_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"hf_[A-Za-z0-9]{16,}"
    r"|sk-[A-Za-z0-9_-]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|nvapi-[A-Za-z0-9_-]{16,}"
    r"|smt_[A-Za-z0-9_-]{16,}"
    r"|wandb_v1_[A-Za-z0-9_]{16,}"
    r"|eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"
    r")[A-Za-z0-9_-]*"
)

_URL_LOGIN = re.compile(
    r"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]{0,20}://)"
    r"(?:[^/\s:@\"']*:[^/\s\"']*|[^/\s:@\"']{16,})(?P<after>@)"
)

_SIGNED_URL = re.compile(r"(?P<keep>[?&](?:sig|signature|x-amz-[a-z-]+)=)[^&\s\"']+", re.IGNORECASE)

_BEARER = re.compile(
    r"(?P<keep>\bbearer[ \t]{1,8}|\bauthorization[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?"
    r"(?:(?:basic|bearer|token)[ \t]{1,8})?)(?!bearer\b)[^\s\"',;]{8,}",
    re.IGNORECASE,
)

_STATED_NAMES = (
    r"passw(?:or)?d|passphrase|_pwd|secret|credentials?"
    r"|(?:api|access|secret|auth|private|account)[_-]?key"
)
_VALUE = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[^\s\"',;&]+)"
_NOTHING = r"(?![\"']?(?:none|null|true|false|nil|undefined|\*+)?[\"']?(?:[\s,;&)}\]]|$))"

_STATED = re.compile(
    rf"(?P<keep>(?:{_STATED_NAMES})[\"']?[ \t]{{0,8}}[:=][ \t]{{0,8}}"
    rf"|--[a-z-]{{0,40}}(?:{_STATED_NAMES})[ \t]{{1,8}}(?!-)){_NOTHING}{_VALUE}",
    re.IGNORECASE,
)

# In training logs "token" is mostly a word of language models: pad_token, tokens per second.
_TOKEN = re.compile(
    r"(?<!pad_)(?<!eos_)(?<!bos_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(?<!image_)(?<!special_)"
    r"(?P<keep>token[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?|--[a-z-]{0,40}token[ \t]{1,8})"
    r"(?![0-9.,:eE+%-]+(?:[\s\"',;&)}\]]|$))[A-Za-z0-9_.~+/=-]{8,}",
    re.IGNORECASE,
)

# wandb.login(key="…"), wandb login …: a long word with a digit in it
_BARE_KEY = re.compile(
    r"(?P<keep>(?<![A-Za-z0-9])(?:key[\"']?[ \t]{0,8}[:=]"
    r"|login(?:[ \t]{1,8}--[a-z-]{1,20}){0,3}[ \t]{0,8}\(?)[ \t]{0,8}[\"']?)"
    r"(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{24,}",
    re.IGNORECASE,
)


_HINTS = (
    *(
        "key",
        "login",
        "passw",
        "passphrase",
        "_pwd",
        "secret",
        "credential",
        "token",
        "bearer",
        "://",
    ),
    *("authorization", "sig", "x-amz", "hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "nvapi-", "smt_", "wandb_v1_", "eyj"),
)
"""Whatever is looked for above has one of these in it: most lines have none, which is cheap to
tell. (Other alphabets have letters that count as these when case does not matter.)"""


def redact(text: str) -> str:
    """Return `text` without keys, passwords and logins; ordinary log lines come back unchanged."""
    lower = text.lower()
    if text.isascii() and not any(hint in lower for hint in _HINTS):
        return text
    clean = _once(text)
    while clean != text:  # what was taken out may have hidden the start of another
        text, clean = clean, _once(clean)
    return clean


def _once(text: str) -> str:
    text = _PRIVATE_KEY.sub(MARK, text)
    text = _URL_LOGIN.sub(rf"\g<keep>{MARK}\g<after>", text)
    for named in (_SIGNED_URL, _BEARER, _STATED, _TOKEN, _BARE_KEY):
        text = named.sub(rf"\g<keep>{MARK}", text)
    return _KNOWN_SHAPES.sub(MARK, text)
