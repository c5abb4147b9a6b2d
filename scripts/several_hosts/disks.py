"""Each host's disk: a folder, or a separate file system on a loop device, whose rate the kernel limits.

The limit applies to the block device, that is, to all data that any program writes to it or reads from it, directly or
through the page cache.  As with a real disk, data in the page cache is read without a limit.  Writes into the page
cache may run ahead of a limited disk by at most `DIRTY_BYTES`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from several_hosts.needs import BLKIO, environment
from several_hosts.spec import Spec
from several_hosts.state import change_file, record_change

UNBOUNDED_SIZE = 1 << 30
DIRTY_BYTES = 16 << 20


def run(*command: str | Path) -> str:
    """Runs a system tool and returns its output.  errors  RuntimeError: the tool fails; the error has its message"""
    done = subprocess.run(
        [str(word) for word in command], env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def make_disks(spec: Spec, state: Path) -> list[Path]:
    """Returns the folder of each host's disk."""
    folders = []
    for name in spec.names():
        folder = state / "disks" / name
        folder.mkdir(parents=True)
        if spec.disk or spec.disk_size:
            mount(spec, state, folder)
        folder.chmod(0o1777)
        folders.append(folder)
    return folders


def mount(spec: Spec, state: Path, folder: Path) -> None:
    """Mounts a new file system of the requested size and rate."""
    image = folder.with_suffix(".ext4")
    with image.open("wb") as file:
        file.truncate(spec.disk_size or UNBOUNDED_SIZE)
    # Without a journal and lazily initialized tables the file system writes nothing on its own behalf, which would
    # consume a part of the limited rate.
    run(
        "mkfs.ext4",
        "-q",
        "-F",
        "-b",
        "4096",
        "-m",
        "0",
        "-O",
        "^has_journal",
        "-E",
        "lazy_itable_init=0,nodiscard",
        image,
    )
    run("mount", "-o", "loop,noatime", image, folder)
    (folder / "lost+found").rmdir()
    if spec.disk:
        limit(state, run("findmnt", "-n", "-o", "MAJ:MIN", "--mountpoint", folder).strip(), spec.disk)


def limit(state: Path, device: str, rate: int) -> None:
    """Limits reads and writes of a device for the whole machine.

    The rules are set in the root group, because the kernel's write-back belongs to that group.
    """
    for direction in ("read", "write"):
        change_file(state, BLKIO / f"blkio.throttle.{direction}_bps_device", f"{device} {rate}", f"{device} 0")
    cache = Path("/sys/class/bdi") / device
    if (cache / "max_bytes").exists():  # Linux 6.2
        # undo() restores max_ratio, the bound in percent: writing it also resets max_bytes, the bound in bytes.
        record_change(state, cache / "max_ratio", (cache / "max_ratio").read_text(encoding="utf-8").strip())
        change_file(state, cache / "strict_limit", "1", (cache / "strict_limit").read_text(encoding="utf-8").strip())
        (cache / "max_bytes").write_text(str(DIRTY_BYTES), encoding="utf-8")
