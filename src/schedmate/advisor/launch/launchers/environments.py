"""Launchers that run a command in another environment: package managers, containers, hosts."""

from __future__ import annotations

from schedmate.advisor.launch.launchers.base import Launcher, launcher

_CONDA = launcher("-n --name -p --prefix --cwd -r --root-prefix", verbs="run", workdir="--cwd")
_CONTAINER = launcher(
    "-B --bind --env --env-file -H --home --pwd -W --workdir --overlay -S --scratch --mount "
    "--network --security --fusemount --add-caps --drop-caps --hostname --app --apply-cgroups "
    "--cwd",
    verbs="exec run",
    positionals=1,
    workdir="--pwd --cwd",
    mounts="-B --bind --mount",
    runs_image=True,
)
_DOCKER = launcher(
    "-v --volume -e --env --env-file -w --workdir -u --user -p --publish --name --gpus --shm-size "
    "--ulimit --network --net --ipc --mount --entrypoint --device --memory -m --cpus --runtime "
    "--hostname -h --pid --cap-add --security-opt --restart --label -l --log-driver --log-opt "
    "--platform --pull --add-host --userns --cpuset-cpus --annotation --tmpfs --group-add",
    verbs="run exec container+run",
    positionals=1,
    workdir="-w --workdir",
    mounts="-v --volume --mount",
    runs_image=True,
)

ENVIRONMENTS: dict[str, Launcher] = {
    "uv": launcher(
        "--with --with-editable --with-requirements -p --python --extra --group --only-group "
        "--no-group --project --directory --env-file --package --index --index-url "
        "--extra-index-url --cache-dir --find-links -f --index-strategy",
        verbs="run",
        workdir="--directory --project",
    ),
    "uvx": launcher("--with --from -p --python --index --index-url"),
    "pipx": launcher("--spec --python --pip-args", verbs="run"),
    "conda": _CONDA,
    "mamba": _CONDA,
    "micromamba": _CONDA,
    "poetry": launcher(
        "-C --directory -P --project", verbs="run", workdir="-C --directory -P --project"
    ),
    "pipenv": launcher(verbs="run"),
    "pdm": launcher("-p --project", verbs="run"),
    "hatch": launcher("-e --env", verbs="run"),
    "rye": launcher(verbs="run"),
    "pixi": launcher("-e --environment --manifest-path", verbs="run"),
    "nix-shell": launcher("-p --packages -A", shell_text="--run --command"),
    "nix": launcher("-c --command", verbs="develop shell"),
    "dotenv": launcher("-f --file", verbs="run"),
    "direnv": launcher(verbs="exec", positionals=1),
    "singularity": _CONTAINER,
    "apptainer": _CONTAINER,
    "docker": _DOCKER,
    "podman": _DOCKER,
    "nvidia-docker": _DOCKER,
    "enroot": launcher(
        "-c --conf -e --env -m --mount --rc",
        verbs="start exec",
        positionals=1,
        mounts="-m --mount",
    ),
    "shifter": launcher(
        "--image -i --module -m --volume -V --workdir -w --env -e",
        workdir="-w --workdir",
        mounts="-V --volume",
    ),
    "charliecloud": launcher(positionals=1),
    "ch-run": launcher(
        "-b --bind -c --cd --set-env", positionals=1, workdir="-c --cd", mounts="-b --bind"
    ),
    "ray": launcher(verbs="job+submit", flags="--no-wait --verbose -v", workdir="--working-dir"),
    "ssh": launcher(
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        positionals=1,
        starts_shell=True,
        reads_commands=True,
    ),
    "pdsh": launcher("-w -x -f -R -u -t -l", starts_shell=True),
    "clush": launcher("-w -x -g -f", starts_shell=True),
    "su": launcher("-s", positionals=2, shell_text="-c --command"),
    "kubectl": launcher("-n --namespace -c --container --context", verbs="exec", positionals=1),
    "gcloud": launcher(
        "--zone --worker --project",
        verbs="compute+ssh compute+tpus+tpu-vm+ssh alpha+compute+tpus+tpu-vm+ssh",
        positionals=1,
        shell_text="--command",
    ),
    "udocker": _DOCKER,
    "podman-hpc": _DOCKER,
}
