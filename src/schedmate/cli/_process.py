"""A verb as a process of its own: streams that take any text, Ctrl-C at any time, how it ends."""

from __future__ import annotations

import codecs
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from schedmate.model.legible import escaped_characters

if TYPE_CHECKING:
    from io import TextIOWrapper
    from typing import TextIO

INTERRUPTED = 130
_ESCAPED = "schedmate.escaped"


class ReaderGone(Exception):
    """Whoever read what is printed has gone: nothing more to say, and nothing went wrong."""


def begin() -> None:
    _take_closed_files()
    codecs.register_error(_ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # some other object in their place
            stream.reconfigure(errors=_ESCAPED)  # type: ignore[union-attr]
    sys.unraisablehook = _end_where_it_is_swallowed


def listen_for_ctrl_c() -> None:
    """From now on it is an exception, which a verb may handle; before, it ends the process."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(code: object) -> NoReturn:
    """With what is still to be printed, and without a word about a reader that has gone."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    number = code if isinstance(code, int) else int(code is not None)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        number = number or 1
        with suppress(OSError):
            sys.stderr.write(f"schedmate: {unwritten(error)}\n")
    try:
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)
    if _is_background_working():
        os._exit(number)
    sys.exit(number)


def unwritten(error: OSError) -> str:
    return f"what is printed cannot be written: {(error.strerror or str(error)).lower()}"


def _take_closed_files() -> None:
    """So that no file of ours gets the number of a stream that was closed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115


def _escape(error: UnicodeError) -> tuple[str, int]:
    """What a terminal has no character for, as JSON writes it: both stay readable."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped_characters(error.object[error.start : error.end]), error.end


def _silence(stream: TextIO | TextIOWrapper) -> None:
    """What it still holds must not fail again when the interpreter ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _end_where_it_is_swallowed(unraisable: sys.UnraisableHookArgs) -> None:
    """Ctrl-C in a callback would only be printed, with a traceback, and the verb would go on."""
    if unraisable.exc_type is KeyboardInterrupt:
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)


def _is_background_working() -> bool:
    """Then the interpreter is not shut down around a thread that is still at work: it may hang in a
    file system, and a library that is just being loaded would crash."""
    background = sys.modules.get("schedmate.service.daemon.background")
    submitting = sys.modules.get("schedmate.service.usecases.submit_command")
    is_working = background is not None and bool(background.is_working())
    return is_working or (submitting is not None and bool(submitting.is_advising()))
