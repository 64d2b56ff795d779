"""Errors of the job's script before or instead of the program's."""

from schedmate.handler.case import Case
from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_EXEC_FORBIDDEN = 126
_NO_SUCH_COMMAND = 127
_WORD = r"[\w./+\-@~]{1,200}"
_WHO = r"^(?:slurmstepd\S{0,60}: error: )?"

RULES = (
    Rule(
        name="shell",
        reason="command_not_found",
        pattern=LazyPattern(
            rf"^(?:{_WORD}: (?:line )?(?:\d{{1,6}}: )?)?[\w./+\-]{{1,200}}: command not found\.?$"
            rf"|^{_WORD}:(?: line)? ?\d{{1,6}}: [\w./+\-]{{1,200}}: not found$"
            rf"|^(?:zsh|\(eval\)|{_WORD}):(?:\d{{1,6}}:)? command not found: {_WORD}$"
            r"|^/usr/bin/env: .{1,100}: No such file or directory"
            r"|: bad interpreter(?:: |\()"
            r"|^Command '.{1,100}' not found, (?:did you mean|but can be installed)"
            r"|^Lmod has detected the following error"
            r"|\S{0,120}(?:/lmod|modulecmd)\S{0,40}: No such file or directory$"
            r"|^ERROR: Module (?:cannot be loaded|\S{1,80} (?:not found|does not exist))"
            r"|[Uu]nable to locate a modulefile for '|ModuleCmd_Load\.c\(\d{1,5}\):ERROR"
            r"|The following module\(s\) (?:are unknown|cannot be loaded|exist, but)"
            r"|module: (?:unknown|not) ?(?:command|found)|^ERROR: Unable to locate a modulefile"
            r"|EnvironmentNameNotFound: |CommandNotFoundError: |Could not find conda environment: "
            r"|^CondaError: Run 'conda init' before 'conda activate'"
            r"|shell has not been properly configured to use 'conda activate'"
            r"|^(?:fish: )?Unknown command:? |^-?\w{2,8}: (?:exec: )?" + _WORD + r": not found$"
            r"|(?:mpirun|mpiexec|prterun|orterun|HYDU_create_process).{0,160}"
            r"(?:was unable to (?:find|launch) the specified|execvp error on file)"
        ),
        confidence=0.92,
        positives=(
            "run.sh: line 3: torchrunn: command not found",
            "bash: nvcc: command not found",
            "/bin/sh: 1: pythonn: not found",
            "run.sh: line 2: module: command not found",
            "/var/spool/slurmd/job00017/slurm_script: line 12: conda: command not found",
            "zsh: command not found: torchrun",
            "train.sh:3: command not found: accelerate",
            "-bash: deepspeed: command not found",
            "Lmod has detected the following error:  The following module(s) are unknown: cuda/99",
            "ERROR: Unable to locate a modulefile for 'cuda/12.9'",
            "environment: line 17: /usr/share/lmod/libexec/lmod: No such file or directory",
            "EnvironmentNameNotFound: Could not find conda environment: trian",
            "run.sh: ./train.py: /usr/bin/pyhton: bad interpreter: No such file or directory",
            (
                "mpirun was unable to find the specified executable file, and therefore did not "
                "launch the job."
            ),
        ),
        negatives=(
            "apex: not found, using the slow path",
            "command not found errors: 0",
            "ls: cannot access 'x': No such file or directory",
            "flash_attn: not found",
        ),
    ),
    Rule(
        name="slurm-script-missing",
        reason="node_failure",
        pattern=LazyPattern(
            _WHO + r"execve\(\): \S{0,120}(?:slurm_script|/slurmd/)\S{0,80}: No such file"
        ),
        confidence=0.75,
        of_a_step=True,
        positives=(
            (
                "slurmstepd: error: execve(): /tmp/slurmd/job2997814/slurm_script: No such file or "
                "directory"
            ),
        ),
        negatives=("slurmstepd: error: execve(): trainn: No such file or directory",),
    ),
    Rule(
        name="slurm-exec",
        reason="command_not_found",
        pattern=LazyPattern(
            _WHO + r"(?:execve\(\)|_?exec_task): .{1,200}: No such file or directory"
            r"|execvp error on file"
        ),
        confidence=0.92,
        positives=(
            "slurmstepd: error: execve(): trainn: No such file or directory",
            "slurmstepd: error: execve(): /home/ada/run: No such file or directory",
        ),
        negatives=("slurmstepd: error: execve(): ./run.sh: Permission denied",),
    ),
    Rule(
        name="shell",
        reason="file_not_found",
        pattern=LazyPattern(
            r"\bpython[\d.]{0,5}: can't open file '"
            rf"|^{_WORD}: line \d{{1,6}}: .{{1,200}}: No such file or directory$"
            rf"|^{_WORD}: \d{{1,6}}: (?:\.: |cd: )?(?:can't (?:open|cd to)|cannot open) "
            r"|^(?:/bin/)?(?:ba|da|z|k)?sh: (?:\d{1,6}: )?.{1,200}: No such file or directory$"
            r"|\bpython[\d.]{0,5}: No module named .{1,80}\.py$"
        ),
        confidence=0.9,
        positives=(
            "python: can't open file '/home/u/trian.py': [Errno 2] No such file or directory",
            "run.sh: line 4: ./train.sh: No such file or directory",
            "/bin/bash: ./train.sh: No such file or directory",
            "/usr/bin/python3: can't open file '/w/train.py': [Errno 2] No such file or directory",
            "run.sh: 3: cd: can't cd to /data/x",
        ),
        negatives=("cat: old.txt: No such file or directory",),
    ),
    Rule(
        name="shell",
        reason="permission_denied",
        pattern=LazyPattern(
            rf"^{_WORD}: line \d{{1,6}}: .{{1,200}}: Permission denied$"
            rf"|^{_WORD}: \d{{1,6}}: .{{1,200}}: Permission denied$"
            r"|^(?:/bin/)?(?:ba|da|z|k)?sh: (?:\d{1,6}: )?.{1,200}: Permission denied$"
            r"|^zsh: permission denied: |" + _WHO + r"execve\(\): .{1,200}: Permission denied"
            r"|exec: \"[^\"]{1,200}\": permission denied"
        ),
        confidence=0.9,
        positives=(
            "run.sh: line 4: ./train.sh: Permission denied",
            "/bin/sh: 1: ./train.sh: Permission denied",
            "slurmstepd: error: execve(): /home/ada/run.sh: Permission denied",
            "zsh: permission denied: ./train.sh",
            'OCI runtime exec failed: exec: "/start.sh": permission denied: unknown',
        ),
        negatives=("find: '/proc/1/fd': Permission denied",),
    ),
    Rule(
        name="exit-code",
        reason="command_not_found",
        predicate=lambda case: case.exit_code == _NO_SUCH_COMMAND,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=127),),
        negatives=(Case(exit_code=1),),
    ),
    Rule(
        name="exit-code",
        reason="permission_denied",
        predicate=lambda case: case.exit_code == _EXEC_FORBIDDEN,
        confidence=0.8,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=126),),
        negatives=(Case(exit_code=127),),
    ),
)
