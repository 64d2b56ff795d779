"""Lost or faulty nodes: reported by their kernel, by daemons or by peers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler.case import Case
from schedmate.handler.nodes import node_faults
from schedmate.handler.rules.base import LazyPattern, Rule, Weight
from schedmate.model import JobState, NodeState

if TYPE_CHECKING:
    from collections.abc import Callable

_NODES = (
    Rule(
        name="kernel",
        reason="node_failure",
        pattern=LazyPattern(
            r"Kernel panic - not syncing|BUG: (?:soft|hard) lockup|watchdog: BUG: "
            r"|[Ww]atchdog detected hard LOCKUP|[Mm]achine [Cc]heck [Ee]xception: "
            r"|PLEG is not healthy"
            r"|[Cc]ontainer runtime is down|[Kk]ubelet stopped posting node status"
            r"|NodeStatusUnknown"
            r"|Uncorrected hardware memory error|due to hardware memory corruption"
            r"|Fatal [Mm]achine [Cc]heck|Machine check: Processor context corrupt"
            r"|This is \*?NOT\*? a software problem|EDAC MC\d{1,3}: [1-9]\d{0,6} UE\b"
            r"|AER: Uncorrect(?:ed|able) \((?:Fatal|Non-Fatal)\)"
            r"|severity=Uncorrected \(Fatal\)|critical temperature reached.{0,40}shutting down"
            r"|slurmd.{0,40}not responding|[Nn]odes? \S{1,80} (?:is |are )?not responding"
            r"|[Nn]ode failure on \S|(?:reboot|restart)ed unexpectedly"
            r"|[Nn]ode (?:\S{1,80} )?unexpectedly rebooted"
        ),
        unless=LazyPattern(r"responding again|not responding, still trying|nfs: server"),
        confidence=0.92,
        positives=(
            "Kernel panic - not syncing: Fatal exception in interrupt",
            "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:8123]",
            "mce: Uncorrected hardware memory error in user-access at 7f3b2c00",
            "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
            "pcieport 0000:00:03.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
            "Node gpu041 unexpectedly rebooted",
            (
                "Ready  False  KubeletNotReady  PLEG is not healthy: pleg was last seen active "
                "3m4s ago"
            ),
            "mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 7: be00000000800400",
            "srun: error: Node failure on gpu041",
        ),
        negatives=(
            "EDAC MC0: 1 CE memory read error",
            "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
            "node failure tolerance: 1",
            "nfs: server 10.0.0.1 not responding, still trying",
        ),
    ),
    Rule(
        # Slurm could not start the job there
        name="slurm-launch",
        reason="node_failure",
        pattern=LazyPattern(
            r"task_(?:prolog|epilog) can ?not be executed|slurmd initialization failed"
            r"|Job prolog failed|Prolog (?:error|failed|failure|hung)|TaskProlog failed"
            r"|\bslurm(?:d|stepd)\S{0,60}: error: .{0,40}prolog failed|^launch failed requeued held"
            r"|task_p_pre_launch error|container_[pg]_join.{0,60}fail"
            r"|[Tt]ask launch for .{0,80}failed on node .{0,80}: (?:Communication|Invalid job cred"
            r"|Job credential|Slurmd could not|Unspecified|Header lengths|Socket timed out)"
            r"|Application launch failed: (?:Communication|Invalid job cred|Job credential|Slurmd"
            r"|Unspecified)"
            r"|\btask \d{1,6} launch failed\b.{0,80}: (?:Slurmd|Plugin init|Unspecified"
            r"|Communication|Header)"
            r"|task/cgroup: .{0,60}unable to (?:add task|create|set)"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        of_a_step=True,
        positives=(
            "slurmd: error: prolog failed: rc:256 output:none",
            "launch failed requeued held",
            (
                "srun: error: Task launch for StepId=17.0 failed on node n1: Communication "
                "connection failure"
            ),
            "slurmstepd-sp-3: error: run_command: slurm task_prolog can not be executed (/cm/x) No",
            "srun: error: Task launch for 23.0 failed on node hpc: Job prolog failed",
            "srun: error: task 0 launch failed: Plugin initialization failed",
            "srun: error: task 3 launch failed: Slurmd could not connect IO",
            (
                "srun: error: Task launch for StepId=7.0 failed on node n3: Socket timed out on "
                "send/recv operation"
            ),
            "slurmstepd: error: task/cgroup: unable to add task[pid=2] to memory cg '(null)'",
            "salloc: Prolog failure on node n1",
        ),
        negatives=(
            "slurmd: prolog finished",
            "srun: error: task 3 launch failed: Invalid option",
            "slurmstepd: task/cgroup: loaded",
        ),
    ),
    Rule(
        # what a container needs from its node is not there
        name="container-start",
        reason="node_failure",
        pattern=LazyPattern(
            r"FATAL: {1,4}(?:Couldn't determine user account|[Ff]ailed to create user namespace)"
            r"|user namespaces? (?:is|are) (?:disabled|not enabled)|fuse: device not found"
            r"|\bmax_user_namespaces\b.{0,40}(?:is set to|is|=) 0\b"
            r"|FATAL: {1,4}container creation failed: .{0,300}(?:squashfuse|squashfs|image driver"
            r"|fusermount|overlay|loop device)"
            r"|no loop devices? available|newuidmap.{0,60}(?:not found|failed|not permitted)"
            r"|enroot-(?:nsenter|mount|aufs2ovlfs): (?:failed|error)"
            r"|nvidia-container-cli: (?:initialization|detection|ldcache|mount) error"
            r"|OCI runtime (?:create|exec) failed: .{0,300}(?:cgroup|nvidia-container|hook #)"
        ),
        unless=LazyPattern(r"bad superblock|is corrupted|invalid argument|driver.{0,20}mismatch"),
        confidence=0.8,
        weight=Weight.SYMPTOM,
        of_a_step=True,
        positives=(
            "[ERROR] max_user_namespaces in /proc/sys/user/ is set to 0",
            "FATAL:   Couldn't determine user account information: user: unknown userid 606",
            (
                "FATAL:   container creation failed: mount hook function failure: mount /proc/self/"
                "fd/3->/var/mnt/rootfs error: while mounting image: squashfuse not found"
            ),
            (
                "FATAL:   container creation failed: while mounting image /proc/self/fd/3: failed "
                "to find loop device: no loop devices available"
            ),
            "nvidia-container-cli: initialization error: load library failed",
        ),
        negatives=(
            (
                "FATAL:   container creation failed: while mounting image /proc/self/fd/3: kernel "
                "reported a bad superblock for squashfs image"
            ),
            "nvidia-container-cli: using ldcache",
        ),
    ),
    Rule(
        # the launcher lost its own daemon on a node, and names the node below
        name="launcher-daemon",
        reason="node_failure",
        pattern=LazyPattern(
            r"\b(?:ORTE|PRTE|PRRTE|PMIX) has lost communication with (?:a remote|its) daemon"
            r"|\b(?:ORTE|PRTE) daemon has unexpectedly failed"
            r"|\b[Aa] daemon (?:\(pid .{1,20}\) )?(?:on node \S{1,80} )?(?:died"
            r"|failed) unexpectedly"
            # the rest of its message
            r"|the daemon itself\. We cannot recover from this|therefore will terminate the job\.$"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        of_a_step=True,
        names_node=LazyPattern(
            r"^\s{0,8}(?:Remote daemon ?: .{1,120} on node|[Hh]ostname:|[Nn]ode:) {1,4}(\S{1,120})"
        ),
        positives=(
            "ORTE has lost communication with a remote daemon.",
            "ORTE has lost communication with its daemon located on node:",
            "PRTE has lost communication with a remote daemon.",
            "An ORTE daemon has unexpectedly failed after launch and before",
            "A daemon (pid 8123) on node n2 failed unexpectedly with status 137",
        ),
        negatives=("ORTE daemon started", "a daemon died expectedly"),
    ),
    Rule(
        # the reporter of a lost node does not know its cause
        name="lost-node",
        reason="node_failure",
        pattern=LazyPattern(
            r"NodeDiedError|the node \(?where this task was running\)? was dead"
            r"|its node has died|marked (?:as )?dead (?:because|by the)|has been marked as dead"
            r"|has beem marked"
            r"|node has (?:crashed|failed|gone down)\b"
            r"|unable to reach the execution host|\bTERM_ZOMBIE\b|execution (?:host"
            r"|daemon) (?:is )?"
            r"(?:lost|unreachable|down)"
            r"|lost contact with (?:the )?(?:node|host|daemon)|[Nn]odeLost\b|NodeNotReady"
            r"|Node is not "
            r"ready|TaintManagerEviction|is unresponsive\b.{0,60}(?:node|pod)"
            r"|[Nn]ode which was running"
            r"|requested job (?:terminate|die), |SISTER_EOF"
            r"|[Hh]ost (?:is down|unreachable)\b.{0,40}(?:job|task)"
        ),
        unless=LazyPattern(
            r"can be marked|_HEARTBEAT|drain(?:ed|ing)? by|tolerat"
            r"|\b(?:if|when|whether) (?:a|the|its) node"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "ray.exceptions.NodeDiedError: Task failed due to the node (where this task was "
                "running)  was dead or unavailable."
            ),
            (
                "The node with node id: 6a and address: 10.0.0.4 and node name: 10.0.0.4 has been "
                "marked dead because the detector has missed too many heartbeats from it."
            ),
            (
                "node_manager.cc:170: Exiting because this node manager has mistakenly been marked "
                "as dead by the GCS"
            ),
            (
                "The actor is dead because its owner has died. Worker exit detail: Owner's "
                "node has crashed."
            ),
            "  Warning  NodeNotReady  3m  node-controller  Node is not ready",
            "Thu Jun 12 15:49:02: Unknown; unable to reach the execution host;",
            "=>> PBS: job killed: node 1 (n12) requested job terminate, 'EOF' (code 1099)",
        ),
        negatives=(
            "Prolog finished in 3 s",
            "all nodes are ready",
            "srun: error: Task launch for StepId=1.4 failed on node n: Unable to layout tasks",
        ),
    ),
)


_EXAMPLES: Final[dict[str, tuple[NodeState, ...]]] = {
    "gpu_ecc": (
        NodeState(name="n1", condition="drain", reason="NHC: GPU 3 uncorrectable ECC errors"),
        NodeState(name="n1", condition="drain", reason="Xid 95 on 0000:3b:00.0"),
    ),
    "gpu_lost": (
        NodeState(
            name="n1",
            condition="drain",
            reason="gres/gpu count reported lower than configured (7 < 8)",
        ),
        NodeState(name="n1", condition="down", reason="Xid 79: GPU has fallen off the bus"),
    ),
    "nvlink": (NodeState(name="n1", condition="drain", reason="NVLink inactive on GPU 2"),),
    "gpu_hardware": (
        NodeState(name="n1", condition="drain", reason="dcgm health check failed"),
        NodeState(name="n1", condition="drain", reason="check_hw_gpu: gpu2 Xid 62"),
    ),
    "network": (NodeState(name="n1", condition="drain", reason="check_hw_ib: ib0 not ACTIVE"),),
    "node_failure": (
        NodeState(name="n1", condition="down"),
        NodeState(name="n1", condition="down", reason="Not responding"),
        NodeState(name="n1", condition="drain", reason="Kill task failed"),
        NodeState(name="n1", condition="drain", reason="NHC: /local file system not mounted"),
    ),
}
_FAILED: Final = Case(state=JobState.FAILED, signal=9, nodes=("n1", "n2"))


def _case(node: NodeState, started_at: float | None = None, ended_at: float | None = None) -> Case:
    return replace(_FAILED, node_states=(node,), started_at=started_at, ended_at=ended_at)


_HARMLESS: Final = (
    _case(NodeState(name="n1", condition="up", up_since=1.0), started_at=2.0),
    _case(NodeState(name="n1", condition="drain", reason="maintenance on Monday")),
    _case(NodeState(name="n3", condition="down")),
    _case(NodeState(name="n1", condition="down", reason="GPU ECC", since=5.0), started_at=6.0),
    _case(
        NodeState(name="n1", condition="drain", reason="GPU ECC", since=9000.0),
        started_at=6.0,
        ended_at=60.0,
    ),
    replace(
        _case(NodeState(name="n1", condition="down", reason="Xid 79")),
        state=JobState.COMPLETED,
        signal=None,
    ),
)


def _of(reason: str) -> Callable[[Case], bool]:
    return lambda case: case.failing and reason in node_faults(case).values()


_NODE_STATES = tuple(
    Rule(
        name="node-state",
        reason=reason,
        predicate=_of(reason),
        reported_by="scheduler",
        confidence=0.8,
        positives=tuple(_case(state) for state in states),
        negatives=_HARMLESS,
    )
    for reason, states in _EXAMPLES.items()
)

RULES = (*_NODES, *_NODE_STATES)
