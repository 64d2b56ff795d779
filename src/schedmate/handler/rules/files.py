"""Disks and file systems that take no more."""

from schedmate.handler.rules.base import Lazy, Rule

_SHARED_MEMORY = r"</torch_|/dev/shm|shared memory|inotify|file watchers"

RULES = (
    Rule(
        name="quota-exceeded",
        reason="disk_quota",
        pattern=Lazy(
            r"[Dd]isk [Qq]uota [Ee]xceeded|\bEDQUOT\b|\[Errno (?:122|27)\]"
            r"|(?:user|group|project|block|file|inode|storage) (?:block |file )?quota .{0,40}"
            r"(?:exceeded|reached)|\bcode: 122, kind: "
            r"|exceeds the total limit of containers|exceeded its local ephemeral storage limit"
            r"|ephemeral local storage usage exceeds|File size limit exceeded|: File too large\b"
        ),
        confidence=0.95,
        positives=(
            "OSError: [Errno 122] Disk quota exceeded: 'out/ckpt.pt'",
            "cp: failed to close 'ckpt/model.pt': Disk quota exceeded",
            "RuntimeError: write(): fd 29 failed with Disk quota exceeded",
            "tar: model/x.bin: Cannot write: Disk quota exceeded",
            "ERROR: Could not install packages due to an OSError: [Errno 122] Disk quota exceeded",
            "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi.",
        ),
        negatives=("Disk quota: 80 % used", "request quota exceeded for project 12, try later"),
    ),
    Rule(
        name="no-space-left",
        reason="disk_full",
        pattern=Lazy(
            r"[Nn]o space left on (?:the )?(?:device|disk)|\bENOSPC\b|\[Errno 28\]"
            r"|[Nn]ot enough (?:free )?(?:disk )?space(?: on| left|\. Needed| to (?:write|save))"
            r"|(?:disk|filesystem|file system|device) is full\b"
            r"|There is not enough space on the disk"
            r"|OutOfDiskError|\bcode: 28, kind: |low on resource: ephemeral-storage"
            r"|\b\d{1,15} requested and \d{1,15} written|DiskPressure|StorageFull"
        ),
        unless=Lazy(_SHARED_MEMORY + r"|when the (?:disk|device) is full|if .{0,40}is full"),
        confidence=0.96,
        positives=(
            "OSError: [Errno 28] No space left on device",
            "cp: error writing 'out/ckpt.pt': No space left on device",
            "RuntimeError: write(): fd 40 failed with No space left on device",
            (
                "OSError: Not enough disk space. Needed: 13.85 GiB (download: 5.1 GiB, "
                "generated: 8 GiB)"
            ),
            "sqlite3.OperationalError: database or disk is full",
            "OSError: 262144 requested and 98304 written",
            'Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "x" })',
            'rsync: [receiver] write failed on "/data/x": No space left on device (28)',
            "tee: /scratch/log.txt: No space left on device",
            "ray.exceptions.OutOfDiskError: Local disk is full",
            "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi",
        ),
        negatives=(
            "space left on device: 12 GB",
            "old checkpoints are removed when the disk is full",
            "OSError: [Errno 28] No space left on device: '/dev/shm/nccl-x'",
        ),
    ),
    Rule(
        # a short write: mostly a full disk or quota, now and then the file system itself
        name="torch-writer",
        reason="disk_full",
        pattern=Lazy(
            r"PytorchStreamWriter failed writing (?:file|central directory)"
            r"|inline_container\.cc:\d{1,5}\] ?\.? ?unexpected pos \d{1,20} vs \d{1,20}"
            r"|\bunexpected pos \d{1,20} vs \d{1,20}|No usable temporary directory found"
            r"|(?:Can't|Unable to"
            r"|unable to) (?:synchronously )?write (?:raw )?data \(.{0,40}write failed"
            r"|file write failed: .{0,200}errno = 28"
        ),
        confidence=0.75,
        positives=(
            (
                "RuntimeError: [enforce fail at inline_container.cc:445] . PytorchStreamWriter "
                "failed writing file data/176: file write failed"
            ),
            "RuntimeError: [enforce fail at inline_container.cc:325] . unexpected pos 704 vs 598",
            (
                "FileNotFoundError: [Errno 2] No usable temporary directory found in "
                "['/tmp', '/var/tmp']"
            ),
            (
                "OSError: Can't write data (file write failed: time = x, filename = "
                "'a.h5', errno = 28)"
            ),
        ),
        negatives=("PytorchStreamReader failed reading file data/1", "unexpected position"),
    ),
)
