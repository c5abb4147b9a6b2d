"""Describes the machine of a benchmark."""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata
from pathlib import Path


def describe_machine(folder: Path) -> dict[str, str]:
    """Return descriptions of processor, cores, memory, system, file system of `folder`, and versions."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "file system": file_system(folder),
        "plait": _plait_version(),
        "python": platform.python_version(),
    }


def shorten_library(version: str) -> str:
    """Return the name and version of an MPI library from its long description."""
    words = " ".join(version.split())
    mpich = re.search(r"MPICH Version:\s*(\S+)", words)
    if mpich:
        return f"MPICH {mpich.group(1)}"
    openmpi = re.search(r"Open MPI v?([\d.]+\w*)", words)
    if openmpi:
        return f"Open MPI {openmpi.group(1)}"
    return words[:60]


def file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on."""
    longest_mount, kind = "", "unknown"
    path = str(folder.resolve())
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return kind
    for line in lines:
        _, mount, name, *_ = line.split(" ")
        mount = mount.replace("\\040", " ")
        is_inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        # Of nested mounts, the longest path is the innermost one; of equal paths, the last mount hides the others.
        if is_inside and len(mount) >= len(longest_mount):
            longest_mount, kind = mount, name
    return kind


def _plait_version() -> str:
    try:
        return metadata.version("plait")
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return model.group(1).strip() if model else platform.machine()


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.0f} GiB"
