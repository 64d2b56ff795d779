"""A machine with GPUs that are not there: a stand-in nvidia-smi that shows what a test says."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

_TOOL = """\
#!/bin/sh
echo "$*" >> {root}/asked
case "$*" in
-L) cat {root}/list ;;
--query-gpu=*) cat {root}/state ;;
--query-compute-apps=*) cat {root}/apps ;;
"-q -x") cat {root}/report ;;
*) echo "Option $* is not recognized"; exit 2 ;;
esac
"""
KIND = "NVIDIA H100 80GB HBM3"
MEMORY_MB = 81559


@dataclass
class GpuBox:
    """`busy` are processes by the number of their GPU; `memory` what it holds without one."""

    root: Path
    count: int = 8
    kinds: dict[int, str] = field(default_factory=dict)
    busy: dict[int, list[int]] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    ecc: dict[int, int] = field(default_factory=dict)
    parts: dict[int, list[str]] = field(default_factory=dict)
    busy_parts: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self):
        (self.root / "bin").mkdir(parents=True)
        self.tool.write_text(_TOOL.format(root=self.root))
        self.tool.chmod(0o755)
        (self.root / "asked").touch()
        (self.root / "asked").chmod(0o666)
        self.show()

    @property
    def tool(self) -> Path:
        return self.root / "bin" / "nvidia-smi"

    @property
    def path(self) -> str:
        """To be a job's PATH."""
        return f"{self.root / 'bin'}:{os.environ['PATH']}"

    @property
    def times_asked(self) -> int:
        return len((self.root / "asked").read_text().splitlines())

    def uuid(self, number: int) -> str:
        return f"GPU-{self.root.stat().st_ino:08x}-{number}"

    def show(self, **changes) -> None:
        """Every file is whole at any moment: a program may be reading it."""
        for name, value in changes.items():
            setattr(self, name, value)
        self._write("list", self._list())
        self._write("state", "".join(self._state(number) for number in range(self.count)))
        apps = [
            f"{self.uuid(number)}, {pid}, 30000\n"
            for number, pids in self.busy.items()
            for pid in pids
        ]
        self._write("apps", "".join(apps))
        self._write("report", self._report())

    def fail(self, script: str) -> None:
        """Let the tool do something else: hang, print nonsense, end with an error."""
        self.tool.write_text(f"#!/bin/sh\n{script}\n")

    def _write(self, name: str, text: str) -> None:
        draft = self.root / f"{name}.draft"
        draft.write_text(text)
        draft.chmod(draft.stat().st_mode | stat.S_IROTH)
        draft.replace(self.root / name)

    def _list(self) -> str:
        lines = []
        for number in range(self.count):
            lines.append(
                f"GPU {number}: {self.kinds.get(number, KIND)} (UUID: {self.uuid(number)})"
            )
            lines += [
                f"  MIG {profile}     Device  {at}: (UUID: MIG-{self.uuid(number)}-{at})"
                for at, profile in enumerate(self.parts.get(number, []))
            ]
        return "\n".join(lines) + "\n"

    def _state(self, number: int) -> str:
        used = 30000 * len(self.busy.get(number, [])) + self.memory.get(number, 4)
        busy = 97 if self.busy.get(number) else 0
        pci = f"00000000:{0x3B + number:02X}:00.0"
        ecc = self.ecc.get(number, 0)
        return f"{self.uuid(number)}, {busy}, {used}, {MEMORY_MB}, {ecc}, {pci}\n"

    def _report(self) -> str:
        gpus = []
        for number in range(self.count):
            parts = "".join(
                f"<mig_device><index>{at}</index><gpu_instance_id>{at + 7}</gpu_instance_id>"
                "<compute_instance_id>0</compute_instance_id><fb_memory_usage>"
                "<total>9984 MiB</total><used>12 MiB</used></fb_memory_usage></mig_device>"
                for at in range(len(self.parts.get(number, [])))
            )
            processes = "".join(
                f"<process_info><gpu_instance_id>{at + 7}</gpu_instance_id>"
                f"<compute_instance_id>0</compute_instance_id><pid>{pid}</pid><type>C</type>"
                "<used_memory>4000 MiB</used_memory></process_info>"
                for (whole, at), pid in self.busy_parts.items()
                if whole == number
            )
            gpus.append(
                f"<gpu id='00000000:0{number}:00.0'><uuid>{self.uuid(number)}</uuid>"
                f"<mig_devices>{parts or 'None'}</mig_devices>"
                "<fb_memory_usage><total>81559 MiB</total><used>40 MiB</used></fb_memory_usage>"
                "<utilization><gpu_util>N/A</gpu_util></utilization>"
                "<ecc_errors><volatile><dram_uncorrectable>0</dram_uncorrectable></volatile>"
                f"</ecc_errors><processes>{processes}</processes></gpu>"
            )
        return f"<?xml version='1.0' ?><nvidia_smi_log>{''.join(gpus)}</nvidia_smi_log>"
