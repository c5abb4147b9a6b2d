"""A log of Darshan as a file: recognizes it, checks that it is complete, and reads its records one by one.

The package of the Darshan project reads logs.  If a log is cut off or damaged, that package reads nothing, or aborts
the whole program. The regions in the log's header are therefore checked first: that the file contains them, and that
they decompress.
"""

from __future__ import annotations

import bz2
import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from plait._base.errors import ArgumentError

TRACED = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
_MAGIC = 6567223
_MAGIC_OFFSET = 8
_COMPRESSION_OFFSET = 16
# Offset of the table of regions in the header, for versions with flags of 32 and of 64 bits.
_TABLE_OFFSETS = (24, 32)
_CHUNK = 1 << 16  # bytes of a read
_MAX_REGIONS = 65  # maximum: the names, then a region for each kind of module
_DECOMPRESSORS: dict[int, Callable[[], Any]] = {0: zlib.decompressobj, 1: bz2.BZ2Decompressor}


class Region(NamedTuple):
    """A contiguous part of a log, as defined in the header."""

    begin: int
    size: int

    @property
    def end(self) -> int:
        """The offset at which the next region begins."""
        return self.begin + self.size


def _byte_order(head: bytes) -> str:
    """Return the byte order of a log, as in `struct`; empty if the file is not a log."""
    for order, mark in (("little", "<"), ("big", ">")):
        if int.from_bytes(head[_MAGIC_OFFSET : _MAGIC_OFFSET + 8], order) == _MAGIC:  # type: ignore[arg-type]
            return mark
    return ""


def is_darshan(path: str) -> bool:
    """Return True if a file begins as Darshan's logs do: eight bytes of version, then a magic number in either byte
    order.
    """
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return bool(_byte_order(file.read(_MAGIC_OFFSET + 8)))
    return False


def parse_regions(head: bytes) -> list[Region]:
    """Return the regions in a header: the names, then each module by number; empty if the header is unknown.

    An empty region has the size 0.  The other regions follow one after the other.
    """
    order = _byte_order(head)
    for table_offset in _TABLE_OFFSETS:
        regions: list[Region] = []
        end = 0
        while order and len(regions) < _MAX_REGIONS and table_offset + 16 * (len(regions) + 1) <= len(head):
            region = Region(*struct.unpack_from(f"{order}QQ", head, table_offset + 16 * len(regions)))
            if region.size and (region.begin != end if end else region.begin < table_offset + 16):
                break
            if not region.size and region.begin:
                break
            regions.append(region)
            end = region.end if region.size else end
        if regions and regions[0].size:
            return regions
    return []


def _import_backend() -> Any:
    try:
        from darshan.backend import cffi_backend
    except ImportError as error:
        message = "to read logs of Darshan, install the package darshan (plait[traces])"
        raise ArgumentError(message) from error
    return cffi_backend


def _can_decompress(file: BinaryIO, region: Region, make_decompressor: Callable[[], Any]) -> bool:
    """Return True if the part of a region that the file contains, a sequence of compressed streams, decompresses."""
    file.seek(region.begin)
    remaining, data, decompressor = region.size, b"", make_decompressor()
    try:
        while remaining or data:
            if not data:
                data = file.read(min(remaining, _CHUNK))
                remaining = remaining - len(data) if data else 0
            decompressor.decompress(data)
            data = decompressor.unused_data
            if decompressor.eof:
                decompressor = make_decompressor()
    except (zlib.error, OSError, EOFError):
        return False
    return True


class Log:
    """A log. It is opened again for each pass over the records of a module."""

    def __init__(self, path: str) -> None:
        """Open a log.  Raises ArgumentError if it is too damaged to read anything."""
        self.path = path
        self.bytes = os.path.getsize(path)
        self.stated_bytes = 0
        """Bytes of the log as stated by the header; if the file has fewer, the log is cut off."""
        self.damaged: list[str] = []
        """Modules whose records could not all be read."""
        self._checked_modules: list[
            tuple[int, bool]
        ] = []  # for each module, by number: its bytes, and whether they decompress
        self._check()
        self.backend = _import_backend()
        with self.open_log() as log:
            self.job = self.backend.log_get_job(log)
            self.command = self.backend.log_get_exe(log).strip()
            self.modules = self.backend.log_get_modules(log)
            if int(self.job["nprocs"]) < 1:
                raise ArgumentError(f"{path} is a damaged log of Darshan: what it says of its job cannot be read")
            self.names = self.backend.log_get_name_records(log)
        # Numbers of modules differ between versions of the format; their order does not.
        ordered = sorted(self.modules, key=lambda name: int(self.modules[name]["idx"]))
        if [self.modules[name]["len"] for name in ordered] == [size for size, _ in self._checked_modules]:
            self.damaged += [
                name for name, (_, can_be_read) in zip(ordered, self._checked_modules, strict=True) if not can_be_read
            ]

    def _check(self) -> None:
        """Raise if the table of names is incomplete, and record the modules that cannot be decompressed."""
        with open(self.path, "rb") as file:
            head = file.read(_TABLE_OFFSETS[-1] + 16 * _MAX_REGIONS)
            self._regions = parse_regions(head)
            if not self._regions:
                return
            self.stated_bytes = max(region.end for region in self._regions)
            name_region = self._regions[0]
            if name_region.end > self.bytes:
                raise ArgumentError(
                    f"{self.path} is cut off: it has {self.bytes:,} of {self.stated_bytes:,} bytes and lacks the "
                    "names of the files, without which nothing of it can be read; copy the log again"
                )
            make_decompressor = _DECOMPRESSORS.get(head[_COMPRESSION_OFFSET])
            if make_decompressor is None:
                return
            if not _can_decompress(file, name_region, make_decompressor):
                raise ArgumentError(
                    f"{self.path} is a damaged log of Darshan: the names of the files cannot be unpacked; copy it again"
                )
            module_regions = [region for region in self._regions[1:] if region.size]
            self._checked_modules = [
                (region.size, _can_decompress(file, region, make_decompressor)) for region in module_regions
            ]

    @property
    def cut_off(self) -> bool:
        """True if the file ends before the log does."""
        return self.stated_bytes > self.bytes

    @contextlib.contextmanager
    def open_log(self) -> Iterator[Any]:
        """Open the log with the package of the Darshan project."""
        log = self.backend.log_open(self.path)
        if not log["handle"]:
            raise ArgumentError(f"{self.path} is not a log of Darshan, or is damaged")
        try:
            yield log
        finally:
            self.backend.log_close(log)

    def records(self, module: str) -> Iterator[dict[str, Any]]:
        """Yield the records of a module, as far as they can be read."""
        if module not in self.modules or module in self.damaged:
            return
        read = self.backend.log_get_dxt_record if module in TRACED else self.backend.log_get_record
        with self.open_log() as log:
            while True:
                record = read(log, module, dtype="dict")
                if record is None:
                    break
                yield record
            if self._ended_with_error(log, module) and module not in self.damaged:
                self.damaged.append(module)

    def _ended_with_error(self, log: Any, module: str) -> bool:
        """Return True if a module's records ended with an error, which the package reports only to a further call."""
        backend = self.backend
        record = backend.ffi.new("void **")
        status = backend.libdutil.darshan_log_get_record(log["handle"], self.modules[module]["idx"], record)
        if status > 0:
            backend.libdutil.darshan_free(record[0])
        return bool(status < 0)
