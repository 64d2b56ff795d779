"""Events and states of pods, as `kubectl describe` and the operators print them."""

from schedmate.handler.rules.base import LazyPattern, Rule

RULES = (
    Rule(
        name="kubernetes-deadline",
        reason="time_limit",
        pattern=LazyPattern(
            r"[Aa]ctive (?:on the node )?longer than (?:the )?specified deadline"
            r"|\bDeadlineExceeded\b.{0,60}(?:[Jj]ob|[Pp]od)|Reason: {1,12}DeadlineExceeded"
        ),
        confidence=0.96,
        positives=(
            (
                "  Warning  DeadlineExceeded  12s  job-controller  Job was active longer than "
                "specified deadline"
            ),
            "Job was active on the node longer than specified deadline",
            "Message: Pod was active on the node longer than the specified deadline",
            "    Reason:       DeadlineExceeded",
        ),
        negatives=("activeDeadlineSeconds: 86400", "deadline for this step: 10 s"),
    ),
    Rule(
        name="kubernetes-empty-dir",
        reason="disk_quota",
        pattern=LazyPattern(r"Usage of EmptyDir volume .{1,60} exceeds"),
        confidence=0.93,
        positives=('Message: Usage of EmptyDir volume "scratch" exceeds the limit "10Gi".',),
        negatives=("emptyDir: {}", "EmptyDir volume usage: 3Gi of 10Gi"),
    ),
    Rule(
        name="kubernetes-volume",
        reason="storage_io",
        pattern=LazyPattern(
            r"MountVolume\.\w{1,30} failed for volume|Unable to attach or mount volumes"
            r"|FailedAttachVolume|mount(?:\.\w{1,10})?: .{0,120}(?:Connection timed out"
            r"|mount failed"
            r"|Protocol not supported|can't read superblock)"
        ),
        unless=LazyPattern(
            r"(?:configmap|secret|persistentvolumeclaim) \"[^\"]{1,120}\" not found|retrying"
        ),
        confidence=0.85,
        positives=(
            (
                '  Warning  FailedMount  2m  kubelet  MountVolume.SetUp failed for volume "data" : '
                "mount failed: exit status 32"
            ),
            (
                "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes="
                "[data]: timed out waiting for the condition"
            ),
            "mount.nfs: Connection timed out",
        ),
        negatives=("Mounts: /data from data (rw)", "mount: /data mounted"),
    ),
    Rule(
        name="kubernetes-container-config",
        reason="argument_error",
        pattern=LazyPattern(
            r"CreateContainerConfigError|InvalidImageName|couldn't parse image reference"
            r"|(?:configmap|secret|persistentvolumeclaim) \"[^\"]{1,120}\" not found"
        ),
        confidence=0.9,
        positives=(
            'Error: secret "wandb-key" not found',
            '  Warning  InspectFailed  9s  kubelet  couldn\'t parse image reference "a:B:c"',
            "    Reason:       CreateContainerConfigError",
        ),
        negatives=("secret wandb-key mounted",),
    ),
)
