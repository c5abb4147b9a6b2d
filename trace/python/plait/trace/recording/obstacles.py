"""Programs that cannot be recorded: the reasons, and advice."""

from __future__ import annotations

import os
import re
import stat
import struct
from pathlib import Path
from typing import BinaryIO

ADVICE = (
    "Trace it with strace: strace -f -ttt -T -y -o strace.out COMMAND, then plait trace import strace.out run.plait."
)
UNRECORDED = "unrecorded program"
"""The beginning of the reason that a trace states for such a program (trace/formats/binary/unrecorded.cpp)."""
UNFOLLOWED = "child processes that could not be followed"
"""The reason in traces that do not contain the names of the programs."""

_MAPPED = "bytes of mapped files"  # the beginning of the recorder's reason
LIBRARY = Path(__file__).parents[2] / "libplait_capture.so"
"""The recording library."""

_SILENT_VERSION = 32  # minor version: loaders of glibc up to 2.32 do not contain their version
_64_BIT = 2  # ELFCLASS64
_INTERPRETER = 3  # PT_INTERP
_GLIBC_LOADERS = ("ld-linux", "ld-lsb", "ld-2.", "ld.so")
_MAX_SCRIPTS = 4  # scripts that name each other as interpreter by #!


def is_about_program(reason: str) -> bool:
    """Return True if the reason is that a program was not recorded, so that the missing amount is unknown."""
    return reason.startswith((UNRECORDED, UNFOLLOWED))


def is_about_mappings(reason: str) -> bool:
    """Return True if the reason is loads and stores on mapped files, of which only the size of the files is known."""
    return reason.startswith(_MAPPED)


def find_obstacle(program: str, depth: int = 0) -> str | None:
    """Return the reason why a program cannot be recorded; None if it can."""
    try:
        status = os.stat(program)
        with open(program, "rb") as file:
            head = file.read(4096)
            is_elf = head.startswith(b"\x7fELF") and len(head) >= 64
            loader = _read_loader(file, head, status.st_size) if is_elf and head[4] == _64_BIT else None
    except OSError:
        return None
    if _has_more_rights(program, status):
        return f"{program} runs with another user's rights (setuid), so that the loader ignores the recording library"
    if head.startswith(b"#!"):
        words = head[2:].split(b"\n", 1)[0].split()
        return find_obstacle(os.fsdecode(words[0]), depth + 1) if words and depth < _MAX_SCRIPTS else None
    if not is_elf:
        return None
    if head[4] != _64_BIT or head[18:20] != _machine_of_this_process():
        return f"{program} is built for another architecture than the recording library"
    name = os.path.basename(program)
    if name.startswith("ld-linux"):
        return None  # the loader, called to run a program
    if name.startswith("ld-musl-"):
        return f"{program} is the loader of musl, and programs that it runs are linked with musl instead of glibc"
    if loader is None:
        return f"{program} is statically linked: no library can be loaded into it"
    if os.path.basename(loader).startswith(_GLIBC_LOADERS):
        return f"{program} is linked with a glibc that is too old for the recorder" if _is_too_old(loader) else None
    library = "musl" if os.path.basename(loader).startswith("ld-musl-") else "another C library"
    return f"{program} is linked with {library} instead of glibc (its loader is {loader})"


def _read_loader(file: BinaryIO, head: bytes, size: int) -> str | None:
    """Return the loader that an ELF program names; None if the program is statically linked."""
    (table_offset,) = struct.unpack_from("<Q", head, 32)
    entry_size, entry_count = struct.unpack_from("<HH", head, 54)
    file.seek(table_offset if table_offset < size else 0)
    table = file.read(entry_size * entry_count)
    for position in range(0, len(table) - 55, max(entry_size, 1)):
        (kind,) = struct.unpack_from("<I", table, position)
        if kind == _INTERPRETER:
            (offset,) = struct.unpack_from("<Q", table, position + 8)
            (length,) = struct.unpack_from("<Q", table, position + 32)
            file.seek(offset if offset < size else 0)
            return os.fsdecode(file.read(min(length, 4096)).split(b"\0", 1)[0])
    return None


def _is_too_old(loader: str) -> bool:
    """Return True if a loader's glibc is too old for the recording library, so that the program would not start."""
    try:
        with open("/proc/self/exe", "rb") as file:
            own_loader = _read_loader(file, file.read(64), os.fstat(file.fileno()).st_size)
        if own_loader is not None and os.path.samefile(own_loader, loader):
            return False
        version_text = re.search(rb"release version 2\.(\d+)", Path(loader).read_bytes())
        needed_versions = re.findall(rb"GLIBC_2\.(\d+)", LIBRARY.read_bytes())
    except OSError:
        return False
    version = int(version_text[1]) if version_text else _SILENT_VERSION
    return version < max(map(int, needed_versions), default=0)


def _has_more_rights(program: str, status: os.stat_result) -> bool:
    """Return True if a program runs with more rights than this process has."""
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return True
    if status.st_mode & stat.S_ISGID and status.st_mode & stat.S_IXGRP and status.st_gid != os.getegid():
        return True
    try:
        return os.geteuid() != 0 and bool(os.getxattr(program, "security.capability"))
    except OSError:
        return False


def _machine_of_this_process() -> bytes:
    """Return the field e_machine of the ELF header of the running interpreter."""
    with open("/proc/self/exe", "rb") as file:
        return file.read(20)[18:20]
