"""Programs that are part of any system and never what a job is about."""

from __future__ import annotations

from schedmate.advisor.sources.words import words

COMMONPLACE = words(
    "[ alias apt apt-get awk aws azcopy basename bc bg blkid bunzip2 bzip2 cal cat chgrp "
    "chmod chown clear cmp comm conda cp cpio crontab csplit curl cut date dc dd declare df "
    "diff dig dirname disown dmesg dnf du echo egrep emacs expand expr export false fg fgrep "
    "file find flock fmt fold free ftp fuser fusermount gcloud gcc g++ getent getopt getconf "
    "git grep groups gsutil gunzip gzip hash head help history host hostid hostname "
    "hostnamectl id ifconfig info install ip ipcs jobs join jq kill killall kubectl last ldd "
    "less link ln local locale locate logger login logout ls lsblk lscpu lsof lspci make man "
    "mamba md5sum mkdir mkfifo mktemp ml modprobe module more mount mv mvn nano nc netstat "
    "nmap node npm npx nproc nslookup nvcc nvidia-smi nvtop od open openssl parted paste "
    "patch pgrep pidof ping pip pip3 pixi pkill pr printenv printf prlimit ps pwd rclone "
    "readlink realpath reboot rename renice reset resize rm rmdir rocm-smi rocminfo rsync "
    "sacct sattach scancel scontrol scp screen sdiff sed seq service set sftp sha1sum "
    "sha256sum shopt shred shuf sinfo sleep sort spack split sprio sqlite3 squeue srm ss "
    "sstat stat stress strings stty sum sync sysctl systemctl tac tail tar tee tmux top touch "
    "tput tr trap tree true truncate tsort tty type ulimit umask umount unalias uname "
    "unexpand uniq unlink unset unsquashfs unzip update-alternatives uptime useradd users uv "
    "vdir vi vim vmstat w wait wall wc wget whereis which who whoami xz yes yum zcat zip zstd "
    "zgrep qstat qdel bjobs bkill cmake ninja cargo rustc go java javac perl ruby mpicc "
    "nvidia-cuda-mps-control wandb huggingface-cli hf git-lfs 7z pigz pv parallel-ssh autossh "
    "sshfs lfs quota rocm_agent_enumerator ibstat ibv_devinfo nvidia-persistenced nvidia- "
    "modprobe docker-compose docker podman singularity apptainer enroot ray redis-server "
    "redis-cli mongod postgres tensorboard jupyter jupyter-lab jupyter-notebook code notify- "
    "send mail mailx sendmail slack telegram-send vtune virtualenv source . eval exit return "
    "break continue shift if then else fi do done case esac newgrp chroot sg gpustat nvitop "
    "htop btop pre-commit black ruff flake8 isort mypy pytest tox nox latex pdflatex bibtex "
    "ffmpeg convert gs R Rscript matlab octave julia"
)
