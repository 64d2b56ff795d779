"""`python -m schedmate`, and the program of an installation."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # until a verb runs, Ctrl-C ends it without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # `./schedmate` holds it until here


def start() -> None:
    from schedmate.cli import main  # noqa: PLC0415 - Ctrl-C is harmless from here on

    main()


if __name__ == "__main__":
    start()
