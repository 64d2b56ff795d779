"""Nodes, storage, services and what schedulers do: composed after public reports."""

# ruff: noqa: E501 - the lines of logs are as long as they are
from __future__ import annotations

from bench.corpora.failures.produce.composing import Composed, main
from bench.corpora.failures.produce.surroundings import FRAMES

CASES = [
    Composed(
        name="node_reboot",
        reason="node_failure",
        after="Slurm's own words for NODE_FAIL",
        cause=("Node failure on n7", "DUE TO NODE FAILURE"),
        state="NODE_FAIL",
        exit_code="0:0",
        noise="megatron",
        nodes=("n1", "n7"),
        text="srun: error: Node failure on n7\nslurmstepd: error: *** JOB 9120 ON n1 CANCELLED AT "
        "2031-03-01T11:20:44 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
    ),
    Composed(
        name="node_only_the_state_says_it",
        reason="node_failure",
        after="Slurm's state NODE_FAIL",
        cause=(),
        state="NODE_FAIL",
        exit_code="0:0",
        text="[2031-03-02 11:14:07] step 9120 | loss 2.4110 | lr 2.4e-04 | 391 ms/step",
    ),
    Composed(
        name="storage_lustre_shutdown",
        reason="storage_io",
        after="Lustre's ESHUTDOWN in a checkpoint writer",
        cause=("Cannot send after transport endpoint shutdown",),
        text="saving checkpoint to /lustre/proj/ck/step_9200\n"
        + FRAMES.replace("loss.backward()", "torch.save(state, path)")
        + "OSError: [Errno 108] Cannot send after transport endpoint shutdown: "
        "'/lustre/proj/ck/step_9200/rank0.pt'",
    ),
    Composed(
        name="storage_s3_read_timeout",
        reason="storage_io",
        after="boto/botocore: ReadTimeoutError",
        cause=("Read timeout on endpoint URL",),
        accept=("service_unreachable",),
        text=FRAMES.replace("loss.backward()", "shard = client.get_object(Bucket=bucket, Key=key)")
        + "botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL: "
        '"https://s3.eu-1.example.com/corpus/shard-00017.tar"',
    ),
    Composed(
        name="service_tls",
        reason="service_unreachable",
        after="psf/requests: SSLError",
        cause=("CERTIFICATE_VERIFY_FAILED", "SSLError"),
        noise="start",
        text=FRAMES.replace("loss.backward()", "wandb.init(project='base')")
        + "requests.exceptions.SSLError: HTTPSConnectionPool(host='api.example.com', port=443): Max "
        "retries exceeded with url: /graphql (Caused by SSLError(SSLCertVerificationError(1, '[SSL: "
        "CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate "
        "(_ssl.c:1006)')))",
    ),
    Composed(
        name="preempted_slurm",
        reason="preempted",
        after="SystemsGenetics/GEMmaker#242",
        cause=("DUE TO PREEMPTION",),
        state="PREEMPTED",
        exit_code="0:15",
        text="slurmstepd: error: *** JOB 32391783 ON n1 CANCELLED AT 2031-06-18T13:05:36 DUE TO "
        "PREEMPTION ***",
    ),
    Composed(
        name="preempted_spot",
        reason="preempted",
        after="aws-node-termination-handler's notice",
        cause=("spot", "Spot"),
        state="FAILED",
        exit_code="143",
        noise="bars",
        text="[watcher] EC2 spot instance interruption notice: instance will be terminated at "
        "2031-03-01T11:22:00Z\n[watcher] sending SIGTERM to pid 4411\nTerminated",
    ),
    Composed(
        name="preempted_only_the_state_says_it",
        reason="preempted",
        after="Slurm's state PREEMPTED",
        cause=(),
        state="PREEMPTED",
        exit_code="0:0",
        noise="megatron",
        text=" iteration      120/   50000 | consumed samples:        61440 |",
    ),
    Composed(
        name="time_limit_lsf",
        reason="time_limit",
        after="LSF's TERM_RUNLIMIT",
        cause=("TERM_RUNLIMIT",),
        state="FAILED",
        exit_code="140",
        text="User defined signal 2\n\n------------------------------------------------------------\n"
        "Sender: LSF System <lsf@n1>\nSubject: Job 10042: <train> in cluster <hpc> Exited\n\n"
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.\n\n"
        "Resource usage summary:\n\n    CPU time :                                   86301.00 sec.\n"
        "    Max Memory :                                 11210 MB",
    ),
    Composed(
        name="host_oom_lsf",
        reason="host_oom",
        after="LSF's TERM_MEMLIMIT",
        cause=("TERM_MEMLIMIT",),
        exit_code="130",
        noise="bars",
        text="\n------------------------------------------------------------\nSender: LSF System <lsf@n1>\n"
        "Subject: Job 10077: <prep> in cluster <hpc> Exited\n\nTERM_MEMLIMIT: job killed after reaching "
        "LSF memory usage limit.\nExited with exit code 130.\n\n    Max Memory :   32768 MB\n"
        "    Total Requested Memory :  32768.00 MB",
    ),
    Composed(
        name="host_oom_slurm_step",
        reason="host_oom",
        after="hafs-community/HAFS#101",
        cause=("oom-kill event", "oom_kill event", "Out Of Memory"),
        state="OUT_OF_MEMORY",
        exit_code="0:125",
        text="slurmstepd: error: Detected 1 oom-kill event(s) in StepId=3495064.0 cgroup. Some of your "
        "processes may have been killed by the cgroup out-of-memory handler.\nsrun: error: n1: task 4: Out "
        "Of Memory\nsrun: Terminating StepId=3495064.0\nslurmstepd: error: *** STEP 3495064.0 ON n1 "
        "CANCELLED AT 2031-10-27T19:35:36 ***",
    ),
    Composed(
        name="host_oom_pod",
        reason="host_oom",
        after="kubeflow/kubeflow#1261",
        cause=("OOMKilled", "low on resource: memory"),
        state="FAILED",
        exit_code="137",
        noise="bars",
        text="--- pod status\n    State:          Terminated\n      Reason:       OOMKilled\n      "
        "Exit Code:    137\n  Warning  Evicted  The node was low on resource: memory.",
    ),
    Composed(
        name="cancelled_pod_deleted",
        reason="cancelled",
        after="kubernetes events of a deleted pod",
        cause=("deleted", "Killing"),
        state="CANCELLED",
        exit_code="143",
        noise="bars",
        text='--- events\n  Normal  Killing  2s  kubelet  Stopping container trainer\npod "train-0" deleted',
    ),
    Composed(
        name="hang_without_a_word",
        reason="hang",
        after="bigscience chronicles: a run that stands still",
        cause=(),
        state="RUNNING",
        exit_code="",
        hung=True,
        noise="megatron",
        text=" iteration      130/   50000 | consumed samples:        66560 |",
    ),
    Composed(
        name="hang_after_evaluation",
        reason="hang",
        after="huggingface/accelerate: barrier never left",
        cause=(),
        state="RUNNING",
        exit_code="",
        hung=True,
        noise="bars",
        text="***** Running Evaluation *****\n  Num examples = 1200\n  Batch size = 8",
    ),
]

if __name__ == "__main__":
    main(CASES)
