"""Traces as Parquet, by pyarrow: one row per event; the description is JSON in the schema's metadata."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from plait._base.errors import ArgumentError, StoreError, store_error
from plait._trace import INTERFACE_NAMES, KIND_NAMES
from plait.trace._event import EVENT, UNKNOWN, Counters, MissedCalls, Process, TracedFile
from plait.trace._reader import Description, Trace
from plait.trace.formats.format import Functions, ImportedTrace, Progress, ReportWork

_ROWS = 1 << 18  # rows of a row group
_METADATA_KEY = b"plait.trace"
_MAGIC = b"PAR1"
_MAY_BE_UNKNOWN = ("duration", "cpu", "offset")
_DICTIONARY_COLUMNS = ["kind", "interface", "name"]


def _import_pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ArgumentError("traces in Parquet need the package pyarrow; install plait[traces]") from error
    return pyarrow, parquet


def _schema(pa: Any) -> Any:
    numbers = {"i8": pa.int64(), "u8": pa.uint64(), "u4": pa.uint32(), "u2": pa.uint16()}
    fields = []
    for name in EVENT.names or ():
        if name in ("kind", "interface"):
            fields.append(pa.field(name, pa.dictionary(pa.int8(), pa.string()), nullable=False))
        else:
            type_ = numbers[EVENT[name].str[1:]]
            fields.append(pa.field(name, type_, nullable=name in _MAY_BE_UNKNOWN))
    return pa.schema([*fields, pa.field("name", pa.dictionary(pa.int32(), pa.string()))])


def _table(pa: Any, schema: Any, events: npt.NDArray[np.void], names: dict[int, str]) -> Any:
    columns = []
    for name in EVENT.names or ():
        values = np.ascontiguousarray(events[name])
        if name == "kind":
            columns.append(pa.DictionaryArray.from_arrays(pa.array(values.astype("i1")), pa.array(KIND_NAMES)))
        elif name == "interface":
            columns.append(pa.DictionaryArray.from_arrays(pa.array(values.astype("i1")), pa.array(INTERFACE_NAMES)))
        else:
            columns.append(pa.array(values, mask=values == UNKNOWN if name in _MAY_BE_UNKNOWN else None))
    file_keys = (events["process"].astype(np.uint64) << np.uint64(32)) | events["file"]
    distinct_files, file_indices = np.unique(file_keys, return_inverse=True)
    file_names = [names.get(int(file)) for file in distinct_files]
    texts = pa.array([text or "" for text in file_names], pa.string())
    has_name = np.array([text is not None for text in file_names], bool)
    indices = pa.array(file_indices.astype(np.int32), mask=~has_name[file_indices] if len(distinct_files) else None)
    columns.append(pa.DictionaryArray.from_arrays(indices, texts))
    return pa.Table.from_arrays(columns, schema=schema)


def _printable(text: str) -> str:
    """Return a text that UTF-8 can encode: bytes that are not UTF-8 become \\xNN."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _encode_metadata(description: Description) -> str:
    metadata = description._asdict()
    del metadata["format"]
    return json.dumps({"version": 1, **metadata})  # lone surrogates, which represent bytes, are escaped


def write(trace: Trace, target: str, progress: Progress | None = None) -> tuple[int, int]:
    """Write the remaining events of a trace; return their number, and the bytes of the file."""
    if target == "-":
        raise ArgumentError("Parquet is not written to the standard output; name a file")
    pa, parquet = _import_pyarrow()
    schema = _schema(pa)
    names: dict[int, str] = {}
    described_files = events_written = 0
    folder, base = os.path.split(os.path.abspath(target))
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{base}.", dir=folder)
    except OSError as error:
        raise store_error(f"cannot write the trace {target}: {error.strerror}", error.errno) from error
    os.close(descriptor)
    try:
        with parquet.ParquetWriter(temporary, schema, compression="zstd", use_dictionary=_DICTIONARY_COLUMNS) as out:
            while len(events := trace.read(_ROWS)):
                _, files = trace.described_after(0, described_files)
                for file in files:
                    names[file.process << 32 | file.number] = _printable(file.name)
                described_files += len(files)
                out.write_table(_table(pa, schema, events, names))
                events_written += len(events)
                if progress:
                    progress(*trace.progress)
            trace.close()
            out.add_key_value_metadata({_METADATA_KEY.decode(): _encode_metadata(trace.description)})
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        size = os.stat(temporary).st_size
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return events_written, size


class _ParquetTrace:
    """A trace in Parquet being read: its description is known from the start."""

    def __init__(self, path: str) -> None:
        """Open the file.  Raises plait.ArgumentError if its columns are not those of a trace."""
        self._pa, parquet = _import_pyarrow()
        try:
            self._file = parquet.ParquetFile(path)
        except (OSError, self._pa.ArrowException) as error:
            raise StoreError(f"cannot read the trace {path}: {error}") from error
        self._path = path
        columns = set(self._file.schema_arrow.names)
        missing = [name for name in ("start", "kind", "length") if name not in columns]
        if missing:
            raise ArgumentError(f"{path} is a Parquet file, but not a trace: it lacks the columns {', '.join(missing)}")
        self._columns = [name for name in EVENT.names or () if name in columns]
        encoded = (self._file.metadata.metadata or {}).get(_METADATA_KEY)
        try:
            metadata: dict[str, Any] = json.loads(encoded) if encoded else {}
        except ValueError as error:
            raise ArgumentError(f"what {path} says of its trace is not JSON: {error}") from error
        if metadata.get("version", 1) != 1:
            raise ArgumentError(f"{path} is of version {metadata['version']}; this Plait reads version 1")
        self.events = int(self._file.metadata.num_rows)
        self.description = Description(
            format="parquet",
            zero=metadata.get("zero", 0),
            tick=metadata.get("tick", 1),
            complete=metadata.get("complete", True),
            processes=[Process(*fields) for fields in metadata.get("processes", [])],
            files=[TracedFile(*fields) for fields in metadata.get("files", [])],
            missed=[MissedCalls(*fields) for fields in metadata.get("missed", [])],
            notes=metadata.get("notes", []),
            counters=[Counters(*fields) for fields in metadata.get("counters", [])],
        )

    earliest = 0

    def finish(self) -> None:
        """Do nothing: the description is complete before the events are read."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def in_order(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield the events in batches."""
        for batch in self._file.iter_batches(_ROWS, columns=self._columns):
            events = np.zeros(batch.num_rows, EVENT)
            for name in _MAY_BE_UNKNOWN:
                events[name] = UNKNOWN
            events["flags"] = 0x80
            for name in self._columns:
                events[name] = self._values(name, batch.column(name))
            if "result" not in self._columns:
                events["result"] = events["length"]
            yield events

    def _values(self, name: str, column: Any) -> npt.NDArray[Any]:
        if name in ("kind", "interface"):
            labels = KIND_NAMES if name == "kind" else INTERFACE_NAMES
            dictionary_column = column if self._pa.types.is_dictionary(column.type) else column.dictionary_encode()
            try:
                values_of_codes = [labels.index(str(text).lower()) for text in dictionary_column.dictionary.to_pylist()]
            except ValueError as error:
                expected = ", ".join(labels)
                raise ArgumentError(f"{self._path}: the column {name} holds other words than {expected}") from error
            codes: npt.NDArray[np.int64] = np.asarray(
                dictionary_column.indices.fill_null(0).to_numpy(zero_copy_only=False)
            )
            return np.take(np.asarray(values_of_codes or [0], np.uint8), codes)
        missing = UNKNOWN if name in _MAY_BE_UNKNOWN else 0
        try:
            type_ = self._pa.from_numpy_dtype(EVENT[name])
            return np.asarray(column.cast(type_).fill_null(missing).to_numpy(zero_copy_only=False))
        except self._pa.ArrowException as error:
            raise ArgumentError(f"{self._path}: the column {name} cannot be read: {error}") from error


def _read(paths: Sequence[str], report_work: ReportWork) -> ImportedTrace:
    report_work(paths[0])
    trace = _ParquetTrace(paths[0])
    description = trace.description._asdict()
    return ImportedTrace(spool=trace, **description)


FUNCTIONS = Functions(recognize=lambda path, head: head.startswith(_MAGIC), read=_read, write=write)
