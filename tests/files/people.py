"""Users that every system has, for whom root can act."""

from __future__ import annotations

import json
import os
import pwd

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
OWNER, OTHER = "games", "nobody"
SECRET = "the-word-that-must-not-leak"


def uid_of(user):
    return pwd.getpwnam(user).pw_uid


def give(path, user, mode=None):
    """`path` now belongs to that user."""
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    if mode is not None:
        path.chmod(mode)
    return path


def let_all_reach(path):
    """Other users may enter it, whatever pytest allows them in what is above."""
    for directory in (path, *path.parents):
        if directory.stat().st_mode & 0o005 != 0o005:
            directory.chmod(0o755)


def as_user(user, act, *arguments, groups=()):
    """Call it in a child with that user's rights: a program might be out of that user's reach."""
    entry = pwd.getpwnam(user)
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([entry.pw_gid, *groups])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            os.write(theirs, json.dumps(act(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(answer)
