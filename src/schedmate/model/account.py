"""The account that asks, as the kernel knows it: an environment variable can say anything."""

from __future__ import annotations

import os
import pwd


def account_name(uid: int | None = None) -> str:
    """The name of this user, or of the real uid of the process; its number where it has none."""
    number = os.getuid() if uid is None else uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
