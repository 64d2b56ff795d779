"""Jobs that wait for people, for requests or for other jobs: their silence means nothing.

To protect another kind, add its program here and a line to `tests/core/test_interactive.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PROGRAMS: Final = (
    # notebooks and editors
    r"jupyter(?:[ -](?:lab|notebook|server|console|kernel\S*|kernelgateway))",
    r"jupyterhub-singleuser|batchspawner-singleuser|ipython|ipykernel_launcher|marimo",
    r"code-server|openvscode-server|code\s+(?:tunnel|serve-web)|code-tunnel|rserver|rstudio\S*",
    r"theia|pluto|spyder|matlab\s+-desktop|cursor\s+tunnel|\S*vscode-server\S*",
    # shells and desktops
    r"salloc|srun\s(?:.*\s)?--pty|(?:ba|z|fi|k|da)?sh\s+-i|tmux|screen|sshd|vncserver|Xvnc|tigervncserver",
    r"ttyd|xterm|dropbear|ngrok|cloudflared",
    # holding an allocation
    r"sleep\s+(?:inf(?:inity)?|\d{4,}|\d+[hd])|tail\s+-f\s+/dev/null|pause",
    # servers
    r"tensorboard|mlflow\s+(?:server|ui)|aim\s+up|wandb\s+server|streamlit|gradio|voila|panel\s+serve",
    r"vllm\s+serve|vllm\.entrypoints\S*|text-generation-launcher|tritonserver|ollama\s+serve",
    r"sglang\.launch_server|lmdeploy\s+serve|llama-server|torchserve|bentoml\s+serve|ray\s+serve",
    r"uvicorn|gunicorn|hypercorn|flask\s+run|http\.server|nginx|caddy|redis-server|mongod|postgres",
    r"mysqld|mariadbd|etcd|minio\s+server",
    # waiting for other jobs
    r"ray\s+start|dask[ -](?:scheduler|worker)|distributed\.cli\S*|ipcluster|ipengine|celery",
    r"snakemake|nextflow|cromwell|luigid?|airflow|prefect|parsl|sbatch\s(?:.*\s)?(?:-W|--wait)",
    r"wandb\s+agent|clearml-agent|rq\s+worker",
)
_RUN = re.compile(rf"(?:^|[\s;&|(/'\"=])(?:{'|'.join(_PROGRAMS)})(?=$|[\s;&|)'\"])", re.MULTILINE)
_BARE_SHELL = re.compile(r"\s*(?:\S*/)?(?:ba|z|fi|k|da|tc|c)?sh\s*")
_NAMES = re.compile(r"interactive|sys/dashboard/.*|.*/ondemand/.*|jupyter\S*|vscode\S*|code-server")
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def is_interactive(name: str, command: Iterable[str], script: str | None) -> bool:
    """Decide from what the job runs: its name, its command line, the text of its script."""
    line = " ".join(command)
    if not line and not (script or "").strip():
        return True  # an allocation without a program of its own
    if _NAMES.fullmatch(name) or (script is None and _BARE_SHELL.fullmatch(line)):
        return True
    text = "" if script is None else _COMMENT.sub("", script)
    return any(_RUN.search(one) is not None for one in (line, text))
