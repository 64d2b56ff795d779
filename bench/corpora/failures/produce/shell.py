"""Job scripts that fail before, around or after the training program."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from bench.corpora.failures.produce.making import Job, main
from bench.corpora.failures.produce.trainers import trainer

_HEAD = '#!/bin/bash\necho "job 5120 on $(hostname), 4 tasks"\n'


def _script(text: str, **files: str) -> dict[str, str]:
    return {**trainer("print", "", **files), "job.sh": _HEAD + text}


JOBS = [
    Job(
        name="shell_command_not_found",
        reason="command_not_found",
        cause=("deepspeedd: command not found",),
        files=_script("set -e\ndeepspeedd --num_gpus 4 train.py\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_module_load",
        reason="command_not_found",
        cause=("module: command not found",),
        files=_script("set -e\nmodule load cuda/12.4 nccl\npython train.py\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_conda_missing",
        reason="command_not_found",
        cause=("conda: command not found",),
        accept=("import_error",),
        files=_script(
            "conda activate train\npython -c 'import flashinfer_exam'\n",
        ),
        command="bash job.sh",
    ),
    Job(
        name="shell_unbound_variable",
        reason="argument_error",
        cause=("DATA_ROOT: unbound variable",),
        accept=("name_error", "unknown", "python_exception"),
        files=_script("set -u\npython train.py --data $DATA_ROOT\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_syntax",
        reason="syntax_error",
        cause=("syntax error",),
        files=_script("for i in 1 2 3\n  python train.py\ndone\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_not_executable",
        reason="permission_denied",
        cause=("./launch.sh: Permission denied",),
        files={**_script("./launch.sh\n"), "launch.sh": "#!/bin/bash\necho hi\n"},
        command="bash job.sh",
    ),
    Job(
        name="shell_cd_missing",
        reason="file_not_found",
        cause=("No such file or directory",),
        files=_script("set -e\ncd /scratch/proj/run_17\npython train.py\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_pipefail_hides_key_error",
        reason="key_error",
        cause=("KeyError: 'SLURM_STEP_TASKS'",),
        files={
            **_script("set -eo pipefail\npython -u train.py 2>&1 | tee run.log\necho never\n"),
            "train.py": "import os\n\nprint('reading surroundings')\nos.environ['SLURM_STEP_TASKS']\n",
        },
        command="bash job.sh",
    ),
    Job(
        name="shell_exit_without_a_word",
        reason="unknown",
        cause=(),
        files=_script("python -u train.py\nexit 7\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_unknown_own_words",
        reason="unknown",
        cause=(),
        accept=("python_exception",),
        files=_script("python -u train.py\necho 'controller: giving up (code 41)'\nexit 41\n"),
        command="bash job.sh",
    ),
    Job(
        name="shell_bad_interpreter",
        reason="command_not_found",
        cause=("bad interpreter", "cannot execute: required file not found"),
        accept=("file_not_found",),
        files={
            **_script("chmod +x tool\n./tool\n"),
            "tool": "#!/opt/envs/old/bin/python\nprint(1)\n",
        },
        command="bash job.sh",
    ),
]

if __name__ == "__main__":
    main(JOBS)
