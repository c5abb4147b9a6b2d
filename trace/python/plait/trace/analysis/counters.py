"""The part of a report on calls that were counted, not traced: sums by interface and by file.

Counters cannot be converted to events, because they lack the start of each call, its overlap with others, and its
predecessor.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Document = dict[str, Any]
_MAX_FILES = 1000  # in a report
_SMALL_BYTES = 1 << 20
# Names of values: `reads_of_100_to_1024` (a bin of sizes), `calls_of_4096` (a frequent size).
_BIN = re.compile(r"(read|write)s_of_(\d+)_(?:to_(\d+)|up)")
_COMMON_SIZE = re.compile(r"calls_of_(\d+)")
# How the values of several records are combined: by maximum, by minimum; all others are added.
_MAXIMA = ("read_extent", "write_extent", "read_end_ns", "write_end_ns")
_TIMES = ("read_ns", "write_ns", "meta_ns")
_MINIMA = ("read_begin_ns", "write_begin_ns")
_CALLS_WITHOUT_DATA = ("opens", "collective_opens", "seeks", "stats", "syncs", "maps", "views")
_MPI_MODES = ("independent", "collective", "split", "nonblocking")
_MAX_COMMON = 8


class _RecordSums:
    """The sums of the values of several records."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.records = 0
        self.files: set[str | None] = set()
        self.blocks: set[int] = set()
        # For each direction: the requests whose order was counted, and how many of them were the first of their open.
        self.ordered = {"read": [0, 0], "write": [0, 0]}
        self.slowest: Document | None = None
        self.ranks: dict[int, list[int]] = {}  # time in calls in ns and bytes, for each rank with its own records

    def add(self, row: Document) -> None:
        """Add the values of one record."""
        values = row["values"]
        self.records += 1
        self.files.add(row["file"])
        for name, value in values.items():
            if name in _MAXIMA:
                self.values[name] = max(value, self.values.get(name, value))
            elif name in _MINIMA:
                self.values[name] = min(value, self.values.get(name, value))
            elif name == "alignment":
                self.blocks.add(value)
            else:
                self.values[name] = self.values.get(name, 0) + value
        for kind, ordered in self.ordered.items():
            if f"consecutive_{kind}s" in values:
                ordered[0] += values[f"{kind}s"]
                # The first request of each open has no predecessor, so beginning at 0 is not a step back.
                ordered[1] += min(values[f"{kind}s"], max(values.get("opens", 0), values.get("ranks", 1)))
        if row["rank"] >= 0:
            totals = self.ranks.setdefault(row["rank"], [0, 0])
            totals[0] += sum(values.get(name, 0) for name in _TIMES)
            totals[1] += values.get("read_bytes", 0) + values.get("write_bytes", 0)
        if "slowest_ns" in values and values.get("ranks", 0) > 1:
            self._update_slowest(row, values)

    def _update_slowest(self, row: Document, values: dict[str, int]) -> None:
        """Use the slowest rank of a record of all ranks if that is slower than those of the records before."""
        slowest = values["slowest_ns"] * 1e-9
        if self.slowest is None or slowest > self.slowest["seconds"]:
            spent = sum(values.get(name, 0) for name in _TIMES) * 1e-9
            self.slowest = {
                "file": row["file"],
                "rank": values.get("slowest_rank", -1),
                "seconds": slowest,
                "bytes": values.get("slowest_bytes"),
                "mean_seconds": spent / values["ranks"],
                "processes": values["ranks"],
            }

    def slowest_rank(self) -> Document | None:
        """Return the slowest rank: on a file of all ranks, or on all files of a rank that has its own records."""
        active_ranks = {rank: sums for rank, sums in self.ranks.items() if sums[0]}
        if len(active_ranks) < 2:
            return self.slowest
        rank, (spent, transferred) = max(active_ranks.items(), key=lambda entry: (entry[1][0], -entry[0]))
        if self.slowest is not None and self.slowest["seconds"] >= spent * 1e-9:
            return self.slowest
        return {
            "file": None,
            "rank": rank,
            "seconds": spent * 1e-9,
            "bytes": transferred,
            "mean_seconds": sum(rank_sums[0] for rank_sums in active_ranks.values()) * 1e-9 / len(active_ranks),
            "processes": len(active_ranks),
        }

    def seconds(self, name: str) -> float | None:
        """Return a time, which the record has in ns, in seconds; None: not measured."""
        return self.values[name] * 1e-9 if name in self.values else None

    def traffic(self) -> Document:
        """Return calls, bytes and times; None: not counted."""
        row: Document = {
            name: self.values.get(name) for name in ("reads", "writes", "read_bytes", "write_bytes", "opens")
        }
        return row | {f"{name}_seconds": self.seconds(f"{name}_ns") for name in ("read", "write", "meta")}

    def calls(self) -> dict[str, int]:
        """Return the numbers of calls that transfer no data, by name."""
        return {name: self.values[name] for name in _CALLS_WITHOUT_DATA if name in self.values}

    def extent(self) -> int | None:
        """Return the end of the last access in the file; None: unknown."""
        extents = [self.values[name] for name in ("read_extent", "write_extent") if name in self.values]
        return max(extents) if extents else None


def _request_sizes(sums: _RecordSums) -> Document | None:
    """Return the requests by size, in the bins of the source; None: some requests are in no bin."""
    bins: dict[str, list[Document]] = {"read": [], "write": []}
    common = []
    for name, value in sums.values.items():
        if match := _BIN.fullmatch(name):
            end = None if match[3] is None else int(match[3]) + 1
            bins[match[1]].append({"from": int(match[2]), "to": end, "count": value})
        elif match := _COMMON_SIZE.fullmatch(name):
            common.append({"bytes": int(match[1]), "count": value})
    for kind, rows in bins.items():
        if sum(row["count"] for row in rows) != sums.values.get(f"{kind}s", 0):
            return None
        rows.sort(key=lambda row: row["from"])
    common.sort(key=lambda row: (-row["count"], row["bytes"]))
    return {**bins, "common": common[:_MAX_COMMON]} if bins["read"] or bins["write"] else None


def _bound_small_requests(sums: _RecordSums, sizes: Document | None) -> Document | None:
    """Return lower and upper bounds of the requests below 1 MiB: sizes are known only as bins and means."""
    count = sums.values.get("reads", 0) + sums.values.get("writes", 0)
    transferred = sums.values.get("read_bytes", 0) + sums.values.get("write_bytes", 0)
    if not count:
        return None
    # At most transferred // 1 MiB requests can have 1 MiB or more.
    minimum, maximum = max(count - transferred // _SMALL_BYTES, 0), count
    if sizes is not None:
        rows = [*sizes["read"], *sizes["write"]]
        small_in_bins = sum(row["count"] for row in rows if row["to"] is not None and row["to"] <= _SMALL_BYTES)
        straddling_bins = [
            row for row in rows if row["from"] < _SMALL_BYTES and (row["to"] is None or row["to"] > _SMALL_BYTES)
        ]
        common = {"small": 0, "large": 0}  # of the requests in bins that extend across 1 MiB
        for name, value in sums.values.items():
            size = int(match[1]) if (match := _COMMON_SIZE.fullmatch(name)) else -1
            if any(row["from"] <= size and (row["to"] is None or size < row["to"]) for row in straddling_bins):
                common["small" if size < _SMALL_BYTES else "large"] += value
        minimum = max(minimum, small_in_bins + common["small"])
        maximum = small_in_bins + sum(row["count"] for row in straddling_bins) - common["large"]
    return {"least": min(minimum, maximum), "most": maximum, "count": count}


def _order_of_requests(sums: _RecordSums) -> Document | None:
    """Return the numbers of requests by their start relative to the end of the previous one of the same direction,
    file and rank.
    """
    result: Document = {}
    for kind, (count, first_requests) in sums.ordered.items():
        consecutive = sums.values.get(f"consecutive_{kind}s", 0)
        sequential = sums.values.get(f"sequential_{kind}s", 0)
        back = max(count - consecutive - sequential, 0)
        result[kind] = {
            "count": count,
            "consecutive": consecutive,
            "sequential": sequential,
            "back": {"least": max(back - first_requests, 0), "most": back},
        }
    return result if any(counts["count"] for counts in result.values()) else None


def _module(interface: str, level: str, sums: _RecordSums) -> Document:
    sizes = _request_sizes(sums)
    values = sums.values
    alignment = None
    if "unaligned" in values and len(sums.blocks) == 1:
        count = values.get("reads", 0) + values.get("writes", 0)
        alignment = {"block": next(iter(sums.blocks)), "unaligned": values["unaligned"], "count": count}
    modes = {name: values.get(f"{name}_reads", 0) + values.get(f"{name}_writes", 0) for name in _MPI_MODES}
    return {
        "interface": interface,
        "level": level,
        "records": sums.records,
        "files": len(sums.files),
        **sums.traffic(),
        "calls": sums.calls(),
        "sizes": sizes,
        "small": _bound_small_requests(sums, sizes),
        "order": _order_of_requests(sums),
        "alignment": alignment,
        "how": modes if any(modes.values()) else None,
        "slowest": sums.slowest_rank(),
    }


def _file(name: str | None, interface: str, level: str, sums: _RecordSums) -> Document:
    row = {"name": name, "interface": interface, "level": level, "processes": sums.values.get("ranks", 1)}
    begins = [sums.seconds(each) for each in _MINIMA]
    ends = [sums.seconds(each) for each in ("read_end_ns", "write_end_ns")]
    return {
        **row,
        **sums.traffic(),
        "calls": sums.calls(),
        "extent": sums.extent(),
        "begin": min((time for time in begins if time is not None), default=None),
        "end": max((time for time in ends if time is not None), default=None),
    }


def _sort_key(row: Document) -> tuple[float, float, str]:
    """Return the key that sorts files by bytes, then by time, both descending, then by name."""
    spent = sum(row[f"{name}_seconds"] or 0.0 for name in ("read", "write", "meta"))
    return -((row["read_bytes"] or 0) + (row["write_bytes"] or 0)), -spent, row["name"] or ""


def _totals(level: str, modules: list[Document], files: list[Document]) -> Document:
    """Return the sums of one level, with the extents of its files."""
    modules_of_level = [module for module in modules if module["level"] == level]
    names = ("reads", "writes", "read_bytes", "write_bytes", "read_seconds", "write_seconds", "meta_seconds")
    extents: dict[str, int] = {}
    names_with_data = {file["name"] for file in files if file["level"] == level and (file["reads"] or file["writes"])}
    for file in files:
        if file["name"] is not None and file["name"] in names_with_data and file["extent"] is not None:
            extents[file["name"]] = max(extents.get(file["name"], 0), file["extent"])
    return {
        "level": level,
        **{name: sum(module[name] or 0 for module in modules_of_level) for name in names},
        "data_bytes": sum(extents.values()) if extents else None,
    }


class Selection(NamedTuple):
    """The records that a report includes according to its options."""

    file: str | None
    process: int | None
    include: Sequence[str]
    exclude: Sequence[str]
    all: bool

    def includes(self, row: Document) -> bool:
        """Return True if a record is of the selected process and file."""
        if self.process is not None and row["process"] != self.process:
            return False
        return not self.file or (row["file"] is not None and fnmatch.fnmatchcase(row["file"], self.file))

    def excludes_file(self, row: Document) -> bool:
        """Return True if a record is of a file that is excluded, or that does not hold data of the program."""
        name = row["file"]
        if name is None:
            return False
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.exclude):
            return True
        if self.all or self.file or not row["foreign"]:
            return False
        return not any(fnmatch.fnmatchcase(name, pattern) for pattern in self.include)


def sum_counters(rows: Iterable[Document], selection: Selection, level: str, is_level_chosen: bool) -> Document | None:
    """Return the sums of the records of counters; None if there are none.

    level             the level of the requests that the report counts: logical or physical
    is_level_chosen   True if the caller or the events determine that level; otherwise the sums are those of the level
                      that has reads or writes
    """
    run_values: dict[str, int] = {}
    modules: dict[tuple[str, str], _RecordSums] = {}
    files: dict[tuple[str | None, str, str], _RecordSums] = {}
    left_out: set[str] = set()
    for row in rows:
        if row["process"] == 0 and row["interface"] == "unknown":
            run_values = row["values"]
            continue
        if not selection.includes(row):
            continue
        if selection.excludes_file(row):
            left_out.add(row["file"])
            continue
        key = row["interface"], row["level"]
        modules.setdefault(key, _RecordSums()).add(row)
        files.setdefault((row["file"], *key), _RecordSums()).add(row)
    if not modules:
        return None
    # A record of a single rank contains the time of one process.
    is_one_rank = selection.process is not None and any(sums.ranks for sums in modules.values())
    module_rows = [_module(*key, sums) for key, sums in sorted(modules.items(), key=lambda entry: entry[0])]
    file_rows = sorted((_file(*key, sums) for key, sums in files.items()), key=_sort_key)
    levels_with_data = {module["level"] for module in module_rows if module["reads"] or module["writes"]}
    if not is_level_chosen and levels_with_data == {"physical"}:
        level = "physical"
    return {
        "run_seconds": run_values["run_ns"] * 1e-9 if "run_ns" in run_values else None,
        "processes": 1 if is_one_rank else run_values.get("processes"),
        "totals": _totals(level, module_rows, file_rows),
        "modules": module_rows,
        "files": file_rows[:_MAX_FILES],
        "files_left_out": max(len(file_rows) - _MAX_FILES, 0),
        "files_not_counted": len(left_out),
    }
