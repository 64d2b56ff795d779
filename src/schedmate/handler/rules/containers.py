"""Containers that do not start; the reason depends on what is missing.

An image that does not exist is like a missing file, one that may not be pulled a matter of
access, a registry that does not answer a service; a program missing inside is a wrong command.
"""

from schedmate.handler.rules.base import LazyPattern, Rule

_PULL = (
    r"(?:[Ff]ailed to pull (?:and unpack )?image|ErrImagePull|ImagePullBackOff|pulling image"
    r"|[Ee]rror response from daemon|Unable to pull|docker(?:: |://)|registry|enroot|\[ERROR\] URL"
    r"|FATAL: {1,4}(?:While|Unable|could not|Could not)|failed to resolve reference|pyxis)"
)

RULES = (
    Rule(
        name="image-pull",
        reason="auth_error",
        pattern=LazyPattern(
            _PULL + r".{0,400}(?:unauthorized|pull access denied|authentication required"
            r"|403 Forbidden|401 \(?Unauthorized|no basic auth|denied: |UNAUTHORIZED"
            r"|returned error code: 40[13])"
        ),
        confidence=0.93,
        positives=(
            (
                'Failed to pull image "team/train:1": rpc error: code = Unknown desc = failed to '
                "pull and unpack image: pull access denied, repository does not exist or may "
                "require authorization"
            ),
            (
                "slurmstepd: error: pyxis:     [ERROR] URL https://nvcr.io/proxy_auth returned "
                "error code: 401 Unauthorized"
            ),
        ),
        negatives=("Successfully pulled image in 3 s",),
    ),
    Rule(
        name="image-pull",
        reason="file_not_found",
        pattern=LazyPattern(
            _PULL + r".{0,400}(?:manifest unknown|manifest for .{1,120} not found|: not found$"
            r"|no such image|No such image|no such file or directory|No such file or directory"
            r"|could not open image|returned error code: 404)"
            r"|[Ii]mage file .{1,160}(?:not found|does not exist)"
            r"|invalid image format: .{1,160}|failed to open image: .{1,160}"
        ),
        unless=LazyPattern(
            r"executable file not found|failed to execute|(?:could not|couldn't"
            r"|cannot) (?:remove|mkdir)"
        ),
        confidence=0.92,
        positives=(
            (
                'Failed to pull image "nvcr.io/nvidia/pytorch:99.01-py3": rpc error: code = '
                "NotFound desc = failed to resolve reference: nvcr.io/nvidia/pytorch:99.01-py3: "
                "not found"
            ),
            (
                "docker: Error response from daemon: manifest for team/train:9 not found: manifest "
                "unknown: manifest unknown."
            ),
            (
                "FATAL:   could not open image /home/ada/train.sif: failed to retrieve path for "
                "/home/ada/train.sif: no such file or directory"
            ),
            "slurmstepd: error: pyxis:     [ERROR] No such file or directory: /img/train.sqsh",
        ),
        negatives=(
            "image loaded from /data/train.sqsh",
            "slurmstepd: pyxis: could not remove squashfs: No such file or directory",
        ),
    ),
    Rule(
        name="image-damaged",
        reason="data_error",
        pattern=LazyPattern(
            r"(?:container creation failed|mount).{0,300}(?:bad superblock|image is corrupted)"
            r"|[Cc]ontainer image .{0,120}(?:checksum mismatch|is corrupt|is truncated"
            r"|digest mismatch)"
            r"|FATAL ERROR: ?(?:Can't find a SQUASHFS superblock|Failed to read .{0,40}squashfs)"
        ),
        confidence=0.85,
        positives=(
            (
                "FATAL:   container creation failed: mount hook function failure: while mounting "
                "image /proc/self/fd/3: kernel reported a bad superblock for squashfs image"
            ),
            "FATAL ERROR: Can't find a SQUASHFS superblock on /img/train.sqsh",
        ),
        negatives=("image digest matches",),
    ),
    Rule(
        name="image-pull",
        reason="service_unreachable",
        pattern=LazyPattern(
            _PULL + r".{0,400}(?:i/o timeout|TLS handshake timeout|connection refused"
            r"|no such host|context deadline exceeded|toomanyrequests|429 Too Many|503 Service"
            r"|502 Bad|500 Internal|Client\.Timeout|Could not resolve|connection reset"
            r"|returned error code: (?:5\d\d|429))"
            r"|reached your (?:unauthenticated )?pull rate limit"
            r"|net/http: (?:TLS handshake timeout|request canceled)"
        ),
        confidence=0.92,
        positives=(
            (
                'Failed to pull image "nvcr.io/a:1": rpc error: code = Unknown desc = Get '
                '"https://nvcr.io/v2/": dial tcp 1.2.3.4:443: i/o timeout'
            ),
            (
                "docker: Error response from daemon: Get https://registry-1.docker.io/v2/: net/http"
                ": TLS handshake timeout."
            ),
            (
                "toomanyrequests: You have reached your pull rate limit. You may increase the "
                "limit by authenticating and upgrading"
            ),
            (
                "slurmstepd: error: pyxis:     [ERROR] URL https://registry-1.docker.io/v2/ "
                "returned error code: 503 Service Unavailable"
            ),
        ),
        negatives=("registry mirror at 10.0.0.1 in use", "docker: pulled in 3 s"),
    ),
    Rule(
        name="image-pull-back-off",
        reason="service_unreachable",
        pattern=LazyPattern(r"\b(?:ErrImagePull|ImagePullBackOff)\b|Back-off pulling image"),
        confidence=0.45,
        positives=(
            "    Reason:       ImagePullBackOff",
            '  Normal  BackOff  9s  kubelet  Back-off pulling image "team/train:1"',
        ),
        negatives=('  Normal  Pulling  9s  kubelet  Pulling image "team/train:1"',),
    ),
    Rule(
        name="container-entry-point",
        reason="command_not_found",
        pattern=LazyPattern(
            r"executable file not found in \$PATH|enroot-switchroot: failed to execute: "
            r"|exec: \"[^\"]{1,200}\": (?:stat .{1,200}: )?(?:executable file not found"
            r"|no such file)"
            r"|exec(?:ve)? \S{1,200}: no such file or directory$"
            r"|FATAL: {1,4}(?:stat )?.{0,20}\"?[\w./\-]{1,120}\"?: executable file not found"
        ),
        confidence=0.92,
        positives=(
            (
                "Error: failed to create containerd task: OCI runtime create failed: runc create "
                'failed: unable to start container process: exec: "pythn": executable file not '
                "found in $PATH: unknown"
            ),
            (
                "slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No "
                "such file or directory"
            ),
            'FATAL:   "trainn": executable file not found in $PATH',
            "exec /usr/local/bin/start.sh: no such file or directory",
            'standard_init_linux.go:228: exec user process caused: exec: "x": no such file',
        ),
        negatives=("exec python train.py",),
    ),
)
