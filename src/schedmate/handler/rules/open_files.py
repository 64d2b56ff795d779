"""Limits on open files and on file watchers."""

from schedmate.handler.rules.base import Lazy, Rule

RULES = (
    Rule(
        name="too-many-open-files",
        reason="fd_limit",
        pattern=Lazy(
            r"[Tt]oo many open files|\b(?:EMFILE|ENFILE)\b|received 0 items of ancdata"
            r"|\[Errno 2[34]\]|inotify (?:watch|instance) limit reached"
            r"|limit for number of file watchers reached|[Rr]an out of file descriptors"
            r"|inotify_add_watch.{0,80}No space left"
        ),
        unless=Lazy(r"\b(?:avoid|prevent|may|might|if you (?:see|get)|retrying)\b"),
        confidence=0.95,
        positives=(
            "OSError: [Errno 24] Too many open files: 'x.jpg'",
            "RuntimeError: received 0 items of ancdata",
            (
                "RuntimeError: unable to open shared memory object </torch_81_92> in read-write "
                "mode: Too many open files (24)"
            ),
            (
                "RuntimeError: Too many open files. Communication with the workers is no "
                "longer possible."
            ),
            "OSError: [Errno 23] Too many open files in system: '/data/a.npy'",
            "Error: EMFILE: too many open files, open '/app/x.js'",
            "accept4: too many open files; retry in 1s",
            "OSError: [Errno 28] inotify watch limit reached",
            "OSError: [Errno 24] inotify instance limit reached",
            "Error: ENOSPC: System limit for number of file watchers reached, watch '/x'",
        ),
        negatives=(
            "open files: 12",
            "raise `ulimit -n` to avoid Too many open files errors",
            "open files                          (-n) 1024",
        ),
    ),
)
