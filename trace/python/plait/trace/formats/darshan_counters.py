"""Converts the counters of one record of Darshan to the names of counters in traces."""

from __future__ import annotations

from typing import Any

PREFIX = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}
_MPI_MODES = {"INDEP": "independent", "COLL": "collective", "SPLIT": "split", "NB": "nonblocking"}  # of MPI-IO
# The largest size in each of Darshan's bins, except the last bin.
_BIN_ENDS = {
    "0_100": 100,
    "100_1K": 1 << 10,
    "1K_10K": 10 << 10,
    "10K_100K": 100 << 10,
    "100K_1M": 1 << 20,
    "1M_4M": 4 << 20,
    "4M_10M": 10 << 20,
    "10M_100M": 100 << 20,
    "100M_1G": 1 << 30,
}
_CALLS_WITHOUT_DATA = {
    "opens": ("OPENS", "FDOPENS", "INDEP_OPENS", "COLL_OPENS"),
    "collective_opens": ("COLL_OPENS",),
    "seeks": ("SEEKS",),
    "stats": ("STATS",),
    "syncs": ("FSYNCS", "FDSYNCS", "FLUSHES", "SYNCS"),
    "maps": ("MMAPS",),
    "views": ("VIEWS",),
}
_SECOND = 1_000_000_000
Values = dict[str, int]


class _Record:
    """The counters of a record, by names without the module's prefix; -1: Darshan did not count."""

    def __init__(self, module: str, record: dict[str, Any]) -> None:
        self.prefix = PREFIX[module]
        self.counters = record["counters"]
        self.times = record["fcounters"]

    def count(self, *names: str) -> int | None:
        """Return the sum of the counters that have values, or None if no counter has a value."""
        values = [int(self.counters.get(f"{self.prefix}_{name}", -1)) for name in names]
        values = [value for value in values if value >= 0]
        return sum(values) if values else None

    def time(self, name: str) -> int | None:
        """Return a time in ns, or None if it was not measured."""
        value = float(self.times.get(f"{self.prefix}_F_{name}", -1))
        return round(value * _SECOND) if value >= 0 else None


def calls_and_bytes(module: str, record: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the numbers of reads and writes of a record, each with its bytes."""
    counters = _Record(module, record)
    result = []
    for calls, bytes_name in (("READS", "BYTES_READ"), ("WRITES", "BYTES_WRITTEN")):
        names = [f"{mode}_{calls}" for mode in _MPI_MODES] if module == "MPI-IO" else [calls]
        result.append((counters.count(*names) or 0, counters.count(bytes_name) or 0))
    return result


def read_values(module: str, record: dict[str, Any], processes: int, with_data: bool) -> Values:
    """Return the values of a record.

    processes: number of processes of the job, over which a record without a rank was summed.
    with_data: True to include reads and writes, False for other calls only.
    """
    counters = _Record(module, record)
    values: dict[str, int | None] = {name: counters.count(*sources) for name, sources in _CALLS_WITHOUT_DATA.items()}
    values["meta_ns"] = counters.time("META_TIME")
    shared = int(record["rank"]) < 0
    values["ranks"] = processes if shared else 1
    if with_data:
        values |= _data_values(module, record, counters)
    if with_data and shared:
        values["slowest_rank"] = counters.count("SLOWEST_RANK")
        values["slowest_ns"] = counters.time("SLOWEST_RANK_TIME")
        values["fastest_ns"] = counters.time("FASTEST_RANK_TIME")
        values["slowest_bytes"] = counters.count("SLOWEST_RANK_BYTES")
    return {name: value for name, value in values.items() if value is not None}


def _data_values(module: str, record: dict[str, Any], counters: _Record) -> dict[str, int | None]:
    values: dict[str, int | None] = {}
    for (calls, byte_count), (word, kind, bytes_word) in zip(
        calls_and_bytes(module, record), (("READ", "read", "READ"), ("WRITE", "write", "WRITTEN")), strict=True
    ):
        values[f"{kind}s"] = calls
        values[f"{kind}_bytes"] = byte_count
        values[f"{kind}_ns"] = counters.time(f"{word}_TIME")
        if not calls:
            continue
        for mode, name in _MPI_MODES.items():
            values[f"{name}_{kind}s"] = counters.count(f"{mode}_{word}S")
        begin, end = counters.time(f"{word}_START_TIMESTAMP"), counters.time(f"{word}_END_TIMESTAMP")
        if begin is not None and end is not None and 0 <= begin <= end and end > 0:
            values[f"{kind}_begin_ns"], values[f"{kind}_end_ns"] = begin, end
        highest = counters.count(f"MAX_BYTE_{bytes_word}")
        values[f"{kind}_extent"] = None if highest is None else highest + 1
        consecutive, sequential = counters.count(f"CONSEC_{word}S"), counters.count(f"SEQ_{word}S")
        if consecutive is not None and sequential is not None:
            # Darshan counts a consecutive access as a sequential one too, so it is subtracted there.
            values[f"consecutive_{kind}s"] = consecutive
            values[f"sequential_{kind}s"] = max(sequential - consecutive, 0)
        values |= _size_values(counters, word, kind)
    values["switches"] = counters.count("RW_SWITCHES")
    unaligned, alignment = counters.count("FILE_NOT_ALIGNED"), counters.count("FILE_ALIGNMENT")
    if unaligned is not None and alignment:
        values["unaligned"], values["alignment"] = unaligned, alignment
    for index in range(1, 5):
        size, count = counters.count(f"ACCESS{index}_ACCESS"), counters.count(f"ACCESS{index}_COUNT")
        if size is not None and count:
            values[f"calls_of_{size}"] = count
    return values


def _size_values(counters: _Record, word: str, kind: str) -> dict[str, int | None]:
    """Return the number of calls in each range of sizes, under the names of the counters in traces."""
    infix = "AGG_" if counters.prefix == "MPIIO" else ""
    result: dict[str, int | None] = {}
    lower = 0
    for name, upper in _BIN_ENDS.items():
        result[f"{kind}s_of_{lower}_to_{upper}"] = counters.count(f"SIZE_{word}_{infix}{name}") or None
        lower = upper + 1
    result[f"{kind}s_of_{lower}_up"] = counters.count(f"SIZE_{word}_{infix}1G_PLUS") or None
    return result
