"""A disk with a limited number of bytes and requests per second: a separate file system on a loop device.

The limits apply to the block device: as with any disk, data in the page cache is read without limits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import plait

_CGROUP = Path("/sys/fs/cgroup/blkio")
_UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_EXPECTED = "expected bytes and requests a second such as 40MB/s,400"


@dataclass(frozen=True)
class Limits:
    """The limits of a disk per second, for reads and for writes."""

    rate: int
    """Bytes per second."""
    requests: int

    @classmethod
    def parse(cls, text: str) -> Limits:
        """Return the limits that a text such as ``40MB/s,400`` states.  errors  plait.ArgumentError"""
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kMG]B|[KMG]iB)/s\s*,\s*([0-9]+)\s*", text)
        if match is None or float(match[1]) * _UNITS[match[2]] < 1e6 or int(match[3]) < 10:
            raise plait.ArgumentError(f"found '{text}'; {_EXPECTED}, at least 1MB/s and 10 requests")
        return cls(int(float(match[1]) * _UNITS[match[2]]), int(match[3]))

    def text(self) -> str:
        """Return the limits in the form that `parse` accepts."""
        return f"{self.rate / 1e6:g}MB/s,{self.requests}"


def find_obstacle() -> str | None:
    """Return why this machine cannot have a limited disk, and what to do about it; None if it can."""
    if os.geteuid() != 0:
        return "only the superuser may make loop devices and limit them; run this as root"
    for tool, package in (("mkfs.ext4", "e2fsprogs"), ("mount", "mount"), ("umount", "mount")):
        if shutil.which(tool, path=_search_path()) is None:
            return f"{tool} is missing; install (Debian's package): {package}"
    if not Path("/dev/loop-control").exists():
        return "there is no /dev/loop-control, of which loop devices are had; load the kernel's module loop"
    if not (_CGROUP / "blkio.throttle.read_iops_device").exists():
        return f"the controller blkio of cgroup version 1 is not at {_CGROUP}; mount it there"
    groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    if not any(group.split(":")[1:] == ["blkio", "/"] for group in groups):
        return "this process is not in the root group of the controller blkio; run this outside of containers"
    return None


def _search_path() -> str:
    """Return PATH with the folders of the superuser's programs, which PATH may lack."""
    return f"{os.environ.get('PATH') or os.defpath}:/usr/sbin:/sbin"


def _run(*command: str | Path) -> str:
    """Run a program and return its output.  errors  plait.StoreError: the program fails"""
    process = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "PATH": _search_path()},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        raise plait.StoreError(f"{' '.join(map(str, command))}: {process.stderr.strip() or process.returncode}")
    return process.stdout


class LimitedDisk:
    """A mounted file system below a folder; it is unmounted at the end of the `with`.

    errors  plait.StoreError: a tool of the system fails, with its message
    """

    def __init__(self, folder: Path, size: int) -> None:
        """``size`` is in bytes; a sparse file in the folder holds the blocks, which are allocated on first use."""
        reason = find_obstacle()
        if reason is not None:
            raise plait.StoreError(f"there can be no disk of limited rates here: {reason}")
        self.folder = folder / "disk"
        self._image = folder / "disk.ext4"
        self._size = size
        self._device = ""

    def __enter__(self) -> LimitedDisk:
        """Make and mount the file system, without limits."""
        with self._image.open("wb") as file:
            file.truncate(self._size)
        # Without a journal and lazily initialized tables the file system writes nothing on its own behalf, which would
        # consume a part of the limits.
        features = ["-b", "4096", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard"]
        _run("mkfs.ext4", "-q", "-F", *features, self._image)
        self.folder.mkdir()
        try:
            self._mount()
        except BaseException:
            self._unmount()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Unmount the file system."""
        self._unmount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop,noatime", self._image, self.folder)
        device = os.stat(self.folder).st_dev
        self._device = f"{os.major(device)}:{os.minor(device)}"

    def _unmount(self) -> None:
        try:
            if self._device:
                self._limit(0, 0)
        finally:
            self._device = ""
            if os.path.ismount(self.folder):
                _run("umount", self.folder)

    def begin_cold(self, limits: Limits) -> None:
        """Drop the disk from the page cache by remounting it, and limit it from now on."""
        self._unmount()
        self._mount()
        self._limit(limits.rate, limits.requests)

    def remove_limits(self) -> None:
        """Remove the limits."""
        self._limit(0, 0)

    def _limit(self, rate: int, requests: int) -> None:
        """Limit the disk for all processes of the machine; 0 removes a limit.

        The rule is set in the root group, because the kernel's write-back belongs to that group.
        """
        for operation in ("read", "write"):
            for unit, value in (("bps", rate), ("iops", requests)):
                (_CGROUP / f"blkio.throttle.{operation}_{unit}_device").write_text(
                    f"{self._device} {value}", encoding="utf-8"
                )
