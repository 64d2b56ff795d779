"""Launchers of schedulers and of MPI."""

from __future__ import annotations

from schedmate.advisor.launch.launchers.base import Launcher, launcher

_SLURM = (
    "-A -B -b -C -c -D -d -e -F -G -i -J -L -M -m -N -n -o -p -q -r -S -T -t -U -w -W -x -a "
    "--account --acctg-freq --array --batch --bb --bbf --begin --chdir --cluster "
    "--clusters --comment --constraint --container --container-id --container-image "
    "--container-mounts --container-name --container-workdir --container-env --container-save "
    "--core-spec --cores-per-socket --cpu-bind --cpu_bind --cpu-freq --cpus-per-gpu "
    "--cpus-per-task --deadline --delay-boot --dependency --distribution --epilog --error "
    "--exclude --export --export-file --extra --extra-node-info --gpu-bind --gpu-freq --gpus "
    "--gpus-per-node --gpus-per-socket --gpus-per-task --gres --gres-flags --hint --input "
    "--job-name --jobid --licenses --mail-type --mail-user --mem --mem-bind --mem-per-cpu "
    "--mem-per-gpu --mpi --network --nodefile --nodelist --nodes --ntasks --ntasks-per-core "
    "--ntasks-per-gpu --ntasks-per-node --ntasks-per-socket --open-mode --output --partition "
    "--power --prefer --priority --profile --prolog --qos --relative --reservation "
    "--signal --slurmd-debug --sockets-per-node --switches --task-epilog --task-prolog "
    "--thread-spec --threads --threads-per-core --time --time-min --tmp --tres-per-task --uid "
    "--wait-all-nodes --wckey --wrap"
)
_SRUN = launcher(
    _SLURM + " --wait --accel-bind --tres-bind",
    workdir="-D --chdir --container-workdir",
    mounts="--container-mounts",
)
_MPI = launcher(
    "-n -np --np -c -N -x -H -host --host -hostfile --hostfile -machinefile --machinefile -ppn "
    "-npernode --npernode -npersocket --map-by -map-by --rank-by --bind-to -bind-to -f -hosts "
    "-wdir --wdir -wd --prefix --launcher -launcher -iface --output-filename "
    "--cpus-per-rank --cpus-per-proc -l --ppn --depth -d --cpu-bind --hosts -rmk --timeout "
    "--rankfile -rf -envlist --tune",
    workdir="-wdir --wdir -wd",
)

SCHEDULERS: dict[str, Launcher] = {
    "srun": _SRUN,
    "salloc": launcher(_SLURM),
    "sbatch": launcher(_SLURM, submits=True),
    "qsub": launcher(
        "-a -A -b -c -C -d -e -hold_jid -I -j -J -k -l -m -M -N -o -p -P -q -S -t -tc -u -v "
        "-W -w -js -r",
        submits=True,
        sets="-v",
    ),
    "bsub": launcher(
        "-a -app -b -B -C -c -cwd -D -data -e -E -eo -env -ep -F -f -G -g -gpu -i -is -J -jsdl -k "
        "-L -M -m -n -o -oo -outdir -p -P -q -R -S -sla -sp -T -t -U -u -v -w -W -We -alloc_flags "
        "-nnodes",
        submits=True,
        sets="-env",
    ),
    "mpirun": _MPI,
    "mpiexec": _MPI,
    "mpiexec.hydra": _MPI,
    "orterun": _MPI,
    "prterun": _MPI,
    "ibrun": launcher("-n -o"),
    "aprun": launcher("-n -N -d -S -cc -j -e -L -m -b -D -p -q"),
    "jsrun": launcher(
        "-n -a -c -g -r -d -b -p -E -K -l -m -t -k -o -e -h -U --nrs --tasks_per_rs --cpu_per_rs "
        "--gpu_per_rs --rs_per_host --launch_distribution --bind --np --env --smpiargs -M"
    ),
    "flux": launcher(
        "-n -N -c -g -q -t -o -S --ntasks --nodes --cores-per-task --gpus-per-task --gpus-per-node "
        "--tasks-per-node --time-limit --env --output --error --queue --setopt --setattr "
        "--job-name --cwd --requires --dependency",
        verbs="run mini+run submit mini+submit batch alloc",
    ),
    "horovodrun": launcher(
        "-np --num-proc -H --hosts -hostfile --hostfile -p --ssh-port --network-interfaces "
        "--network-interface --min-np --max-np --slots-per-host --host-discovery-script "
        "--output-filename --start-timeout --fusion-threshold-mb --cycle-time-ms "
        "--cache-capacity --log-level --timeline-filename --mpi-args --config-file"
    ),
}
MPI = frozenset(name for name, each in SCHEDULERS.items() if each is _MPI)
