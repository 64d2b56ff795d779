"""File systems of the cluster and object stores that fail to read or write."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_SHARED_MEMORY = r"</torch_|/dev/shm|shared memory|inotify|file watchers"

_FILES = (
    Rule(
        name="quota-exceeded",
        reason="disk_quota",
        pattern=LazyPattern(
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
        pattern=LazyPattern(
            r"[Nn]o space left on (?:the )?(?:device|disk)|\bENOSPC\b|\[Errno 28\]"
            r"|[Nn]ot enough (?:free )?(?:disk )?space(?: on| left|\. Needed| to (?:write|save))"
            r"|(?:disk|filesystem|file system|device) is full\b"
            r"|There is not enough space on the disk"
            r"|OutOfDiskError|\bcode: 28, kind: |low on resource: ephemeral-storage"
            r"|\b\d{1,15} requested and \d{1,15} written|DiskPressure|StorageFull"
        ),
        unless=LazyPattern(_SHARED_MEMORY + r"|when the (?:disk|device) is full|if .{0,40}is full"),
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
        pattern=LazyPattern(
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


_STORAGE = (
    Rule(
        name="file-system",
        reason="storage_io",
        pattern=LazyPattern(
            r"Cannot send after transport endpoint shutdown|Transport endpoint is not connected"
            r"|Remote I/O error|Stale (?:NFS )?file handle|Structure needs cleaning"
            r"|[Bb]uffer I/O error|I/O error, dev \w{2,20}|blk_update_request: .{0,40}error"
            r"|metadata I/O error|EXT4-fs error|XFS \(\w{1,20}\): .{0,80}(?:error|[Cc]orruption"
            r"|[Ss]hutting down)|BTRFS (?:error|critical)|nvme\w{1,8}: (?:controller is down"
            r"|I/O \d{1,6} (?:\(\S{1,20}\) )?QID \d{1,5} timeout|Removing after probe failure)"
            r"|LustreError: |Lustre: .{0,160}was evicted|This client was evicted by"
            r"|nfs: server \S{1,120} (?:timed out|not responding, timed out)|NFS.{0,60}Stale"
            r"|libceph: .{0,80}(?:socket error|session lost|fault)|ceph: .{0,80}(?:I/O error|hung)"
            r"|wekafs.{0,80}(?:error|disconnect|timed? ?out)|mmfs.{0,80}(?:unmounted|panic|E_)"
            r"|Communication error on send|\bESTALE\b|\bESHUTDOWN\b"
            r"|(?:[Ee]rr(?:or|no)|code|returned|status)[ :=('\"-]{1,4}EIO\b"
            r"|: -?EIO\b|[ (\[]-EIO\b|\(EIO\)|\[EIO\]"
            r"|OperationalError\b.{0,40}(?:disk I/O error|database is locked)|\[Errno 524\]"
            r"|\bInput/output error\b|\[Errno (?:5|70|112|116|107|108|121|117)\]"
            r"|\[Errno 110\] Connection timed out: ['\"]/"
            r"|errno = (?:5|11|37|116|108), error message = |unable to lock file, errno"
            r"|mount\.(?:nfs4?|lustre|cifs|ceph|glusterfs): .{0,120}(?:denied|failed|timed out"
            r"|unreachable)"
        ),
        unless=LazyPattern(r"UCX|NCCL|gloo|errors?: 0\b|retrying|reconnected|\bOK$"),
        confidence=0.9,
        positives=(
            "cp: error reading '/lustre/data/a.bin': Cannot send after transport endpoint shutdown",
            "ls: cannot access '/mnt/data': Transport endpoint is not connected",
            "LustreError: 11-0: fs-OST0001-osc: operation ost_read to node 10.0.0.1@o2ib failed",
            "blk_update_request: I/O error, dev nvme0n1, sector 123456 op 0x0:(READ)",
            "nfs: server 10.0.0.1 not responding, timed out",
            "h5py: errno = 5, error message = 'Input/output error', buf = 0x55",
            "zpool: pool tank: EIO",
            "sqlite3.OperationalError: disk I/O error",
            "Error: EIO: i/o error, read",
            "[Errno EIO] read of /data/a.bin",
            "read returned -EIO for block 12",
            "libceph: osd3 10.0.0.3:6801 socket error on read",
            "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm python",
        ),
        negatives=(
            "nfs: server 10.0.0.1 OK",
            "input/output errors: 0",
            "disk I/O: 120 MB/s",
            "q8fK/EIO+Zs1",
        ),
    ),
    Rule(
        # object stores that answer, but not with the object
        name="object-store",
        reason="storage_io",
        pattern=LazyPattern(
            r"An error occurred \((?:SlowDown|InternalError|ServiceUnavailable|RequestTimeout"
            r"|503|500|RequestTimeTooSkewed|BadDigest|IncompleteBody|OperationAborted"
            r"|Throttling\w{0,30}"
            r"|TooManyRequests\w{0,20})\)|ResponseStreamingError|IncompleteReadError"
            r"|\bFSTimeoutError\b|[Gg]csfs\.retry\.HttpError|DataCorruption|FlexibleChecksumError|ResumableUploadAbort"
            r"|S3 (?:upload|download|read|write|put|get)\w{0,10} failed|S3UploadFailedError"
            r"|AzureBlob.{0,60}(?:ServerBusy|OperationTimedOut)|\bServerBusy\b"
            r"|google\.(?:api_core|cloud)\.\S{0,60}(?:DeadlineExceeded|RetryError"
            r"|InternalServerError)"
        ),
        unless=LazyPattern(r"AccessDenied|Forbidden|NoSuch|404|retrying|will retry"),
        confidence=0.86,
        positives=(
            (
                "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the "
                "PutObject operation (reached max retries: 4): Please reduce your request rate."
            ),
            (
                "botocore.exceptions.ClientError: An error occurred (InternalError) when calling "
                "the UploadPart operation: We encountered an internal error. Please try again."
            ),
            (
                "boto3.exceptions.S3UploadFailedError: Failed to upload a.pt to b/a.pt: An error "
                "occurred (RequestTimeout) when calling the PutObject operation"
            ),
            "gcsfs.retry.HttpError: Backend Error, 503",
            "google.api_core.exceptions.RetryError: Timeout of 120.0s exceeded",
        ),
        negatives=(
            "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling Get",
            "uploading to S3 finished",
        ),
    ),
    Rule(
        name="object-store",
        reason="auth_error",
        pattern=LazyPattern(r"An error occurred \((?:Unauthorized|AuthFailure|401)\)"),
        confidence=0.93,
        positives=(
            (
                "botocore.exceptions.ClientError: An error occurred (Unauthorized) when calling "
                "the ListObjectsV2 operation: Unauthorized"
            ),
            "An error occurred (AuthFailure) when calling the DescribeInstances operation",
        ),
        negatives=("An error occurred (SlowDown) when calling the PutObject operation",),
    ),
    Rule(
        name="object-store",
        reason="file_not_found",
        pattern=LazyPattern(r"[Oo]bject (?:s3|gs)://\S{1,300} not found"),
        confidence=0.85,
        positives=("[ClientError('Object s3://b/train/index.json not found! Check the path')]",),
        negatives=("s3://b/train/index.json found",),
    ),
    Rule(
        # the kernel waits, nearly always for a disk or a mount
        name="blocked-task",
        reason="storage_io",
        pattern=LazyPattern(r"INFO: task \S{1,60} blocked for more than \d{1,6} seconds"),
        confidence=0.45,
        weight=Weight.SYMPTOM,
        positives=(
            "INFO: task python:8123 blocked for more than 120 seconds.",
            "kernel: INFO: task python3:99 blocked for more than 241 seconds.",
        ),
        negatives=("task 12 blocked, waiting for data",),
    ),
)

RULES = (*_FILES, *_STORAGE)
