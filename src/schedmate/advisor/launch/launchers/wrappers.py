"""Launchers that change how a command runs on the same machine: priority, profile, repetition."""

from __future__ import annotations

from schedmate.advisor.launch.launchers.base import Launcher, launcher

WRAPPERS: dict[str, Launcher] = {
    "env": launcher("-u --unset -C --chdir", workdir="-C --chdir"),
    "time": launcher("-f -o --format --output"),
    "nohup": launcher(),
    "exec": launcher("-a"),
    "command": launcher(),
    "builtin": launcher(),
    "nice": launcher("-n --adjustment"),
    "chrt": launcher(positionals=1),
    "ionice": launcher("-c -n --class --classdata"),
    "setsid": launcher(),
    "stdbuf": launcher("-i -o -e"),
    "unbuffer": launcher(),
    "script": launcher(shell_text="-c --command"),
    "flock": launcher("-w --timeout -E", positionals=1, shell_text="-c --command"),
    "tmux": launcher(
        "-s -n -c -t -x -y -e -F -f -L -S",
        verbs="new-session new new-window neww split-window splitw send-keys send respawn-pane",
        starts_shell=True,
    ),
    "screen": launcher("-S -dmS -DmS -dmLS -t -p -c -h -T -Logfile"),
    "chpst": launcher("-u -U -e -m -n -l -L"),
    "tsp": launcher("-G -L -N -D -W -S"),
    "ts": launcher("-G -L -N -D -W -S"),
    "ddtrace-run": launcher(),
    "opentelemetry-instrument": launcher("--traces_exporter --metrics_exporter --service_name"),
    "bpslaunch": launcher(),
    "timeout": launcher("-k -s --kill-after --signal", positionals=1),
    "numactl": launcher(
        "-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave --preferred"
    ),
    "numa_wrapper": launcher("--ppn"),
    "taskset": launcher(positionals=1),
    "hwloc-bind": launcher(positionals=1),
    "likwid-pin": launcher("-c"),
    "sudo": launcher("-u -g --user --group"),
    "xvfb-run": launcher("-n -e -f -p -s -w --server-num --server-args --error-file"),
    "caffeinate": launcher("-t -w"),
    "systemd-run": launcher("-p --property --unit --slice"),
    "dbus-run-session": launcher(),
    "gpu-run": launcher(),
    "nsys": launcher(
        "-o --output -t --trace -s --sample -c --capture-range -y --delay -d --duration -w "
        "--show-output -f --force-overwrite --cuda-memory-usage --capture-range-end -e --env-var "
        "--gpu-metrics-device --gpu-metrics-devices --backtrace --cudabacktrace --stats --export "
        "-x --stop-on-exit --kill --cpuctxsw --python-sampling --pytorch",
        verbs="profile launch",
    ),
    "ncu": launcher(
        "-o --export -k --kernel-name -c --launch-count -s --launch-skip --set --section "
        "--metrics --target-processes --replay-mode --nvtx-include --log-file --kernel-id"
    ),
    "nvprof": launcher("-o --export-profile --log-file -m --metrics -e --events"),
    "rocprof": launcher("-o -i --input"),
    "omnitrace-python": launcher("-c"),
    "py-spy": launcher("-o --output -d --duration -r --rate -f --format", verbs="record top dump"),
    "perf": launcher("-o -e -F -C --call-graph -g", verbs="stat record"),
    "gdb": launcher("-ex -x --command"),
    "cuda-gdb": launcher("-ex -x --command"),
    "cuda-memcheck": launcher("--tool"),
    "compute-sanitizer": launcher("--tool"),
    "strace": launcher("-o -e -p -s -E -u"),
    "valgrind": launcher("--tool"),
    "dcgmi": launcher("-s -j"),
    **dict.fromkeys(
        ("run.pl", "queue.pl", "slurm.pl", "ssh.pl", "pbs.pl", "sge.pl"),
        launcher("--gpu --mem --num-threads --max-jobs-run --config -l -q -pe", positionals=1),
    ),
    "watch": launcher("-n -d", starts_shell=True),
    "xargs": launcher("-n -I -P -L -d -a -s -E --max-args --max-procs --replace --delimiter"),
    "parallel": launcher(
        "-j --jobs -a --arg-file --joblog --colsep -C --results --delay --timeout --retries -S "
        "--sshlogin -N -n -L --tmpdir --header --max-args",
        starts_shell=True,
        reads_commands=True,
    ),
}
