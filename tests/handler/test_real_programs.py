"""Programs that really fail, and their diagnoses."""

import subprocess
import sys
import textwrap

import pytest

from schedmate.handler import Case, Handler

pytestmark = pytest.mark.processes

PROGRAMS = {
    "import_error": "import there_is_no_such_module",
    "zero_division": "def mean(x):\n    return sum(x) / len(x)\nmean([])",
    "syntax_error": "def f(:\n    pass",
    "key_error": "{}['warmup_steps']",
    "index_error": "[][3]",
    "name_error": "print(undefined_thing)",
    "attribute_error": "None.shape",
    "type_error": "len(3)",
    "value_error": "int('ten')",
    "data_error": "import json; json.loads('{')",
    "assertion_error": "assert 30 == 32, 'batch size 30 != 32'",
    "file_not_found": "open('/no/such/manifest.json')",
    "python_exception": "class OutOfLuck(Exception): pass\nraise OutOfLuck('again')",
    "cancelled": "raise KeyboardInterrupt",
    "argument_error": """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument('--lr', type=float)
        p.parse_args(['--lr', 'fast'])
    """,
    "host_oom": """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
        bytearray(4 << 30)
    """,
    "segfault": """
        import os, signal
        print('step 1', flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    """,
    "killed": """
        import os, signal
        print('step 1', flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
    """,
    "fd_limit": """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        files = [open('/dev/null') for _ in range(40)]
    """,
    "disk_full": "open('/dev/full', 'w').write('x' * 100_000)",
    "service_unreachable": "import socket; socket.create_connection(('127.0.0.1', 1), timeout=5)",
    "port_conflict": """
        import socket
        a = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()
        b = socket.socket(); b.bind(a.getsockname())
    """,
    "auth_error": """
        import urllib.error
        raise urllib.error.HTTPError('https://hub', 401, '401 Unauthorized', None, None)
    """,
}


def _run(tmp_path, *command, **settings):
    """Run a command as a job: one log for both streams, and its exit code."""
    log = tmp_path / "job.out"
    with log.open("wb") as out:
        done = subprocess.run(
            command, stdout=out, stderr=subprocess.STDOUT, check=False, timeout=120, **settings
        )
    return Handler().diagnose(Case(logs=(log,), exit_code=done.returncode)), log


def _python(tmp_path, code, *flags):
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent(code).strip() + "\n")
    return _run(tmp_path, sys.executable, *flags, str(program))


@pytest.mark.parametrize("reason", PROGRAMS)
def test_a_failing_program(tmp_path, reason):
    diagnosis, log = _python(tmp_path, PROGRAMS[reason])
    assert diagnosis.reason == reason, log.read_text()
    assert diagnosis.source == "rule"
    assert diagnosis.confidence > 0.5
    text = log.read_text().splitlines()
    assert diagnosis.evidence
    assert all(text[e.line - 1] == e.text for e in diagnosis.evidence)


def test_a_program_that_ends_well(tmp_path):
    diagnosis, _ = _python(tmp_path, "print('errors: 0')\nprint('done, nothing failed')")
    assert diagnosis.reason == "not_failed"


def test_a_crash_of_the_interpreter_shows_where(tmp_path):
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    diagnosis, _ = _python(tmp_path, code, "-X", "faulthandler")
    assert diagnosis.reason == "segfault"
    assert diagnosis.evidence[0].text == "Fatal Python error: Segmentation fault"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise OSError('x') from e",
            "zero_division",
        ),
        ("try:\n    int('x')\nexcept ValueError:\n    print(undefined_thing)", "value_error"),
        ("try:\n    {}['x']\nexcept KeyError:\n    open('/no/such/file')", "file_not_found"),
        (
            "import subprocess, sys\nsubprocess.run([sys.executable, '-c', '[][1]'], check=True)",
            "index_error",
        ),
        (
            (
                "from concurrent.futures import ProcessPoolExecutor as P\n"
                "def f(x):\n    return 1 / x\n"
                "if __name__ == '__main__':\n    list(P(1).map(f, [0]))"
            ),
            "zero_division",
        ),
        (
            (
                "import threading\n"
                "threading.Thread(target=lambda: [][1]).start()\n"
                "import sys, time; time.sleep(0.2); sys.exit(1)"
            ),
            "index_error",
        ),
        ("raise ExceptionGroup('several', [ValueError('a'), KeyError('b')])", "value_error"),
    ],
    ids=["from", "context", "probing", "child", "pool", "thread", "group"],
)
def test_the_first_cause_of_several(tmp_path, code, reason):
    diagnosis, log = _python(tmp_path, code)
    assert diagnosis.reason == reason, log.read_text()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("torchrunn train.py", "command_not_found"),
        ("module load cuda && python train.py", "command_not_found"),
        ("exit 127", "command_not_found"),
        ("touch f; chmod -x f; ./f", "permission_denied"),
        ("exec python3 /no/such/train.py", "file_not_found"),
        ("kill -KILL $$", "killed"),
        ("bash -c 'kill -SEGV $$'", "segfault"),
        ("echo step 1; exit 3", "unknown"),
        ("echo step 1", "not_failed"),
    ],
)
def test_a_failing_script(tmp_path, script, reason):
    (tmp_path / "run.sh").write_text(script + "\n")
    diagnosis, log = _run(tmp_path, "bash", "run.sh", cwd=tmp_path)
    assert diagnosis.reason == reason, log.read_text()


def test_an_unknown_failure_shows_the_last_lines(tmp_path):
    diagnosis, _ = _run(tmp_path, "bash", "-c", "seq 1 50; exit 3")
    assert [e.text for e in diagnosis.evidence] == ["46", "47", "48", "49", "50"]
    assert (diagnosis.source, diagnosis.decision.retry) == ("none", "no")
