"""Draws conclusions from counters of calls.

Counters contain the number of calls, their sizes, their order and the sum of their times, but not the times of single
calls.  Therefore there are no conclusions on phases, cycles, overlap, swapping or checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.severity import Conclusion

Document = dict[str, Any]

# The thresholds; docs/guides/trace-report.md lists them.
MUCH_SHARE = 0.20  # of the processes' time
META_SHARE = 0.30  # of the time in calls
MANY = 1000
SHARE_OF_SMALL = 0.10
SHARE_OF_BACK = 0.20
PRAISE_SHARE = 0.90  # worth praise
OTHER_CALLS = 0.50  # calls that transfer no data, relative to those that do
UNALIGNED_SHARE = 0.10
SLOW_RANK = 1.5  # the slowest rank's time, relative to the mean
REREAD = 2.0  # bytes read from a file, relative to its extent
MUCH_BYTES = 64 << 20
MUCH_SECONDS = 1.0  # of a process
_ADVICE_BY_CALL = {
    "opens": "Open files once and keep them open.",
    "seeks": "Use calls that name the offset instead of seeking, or access the file in order.",
    "stats": "Ask once for what is known of a file, on one rank where all want to know it.",
    "syncs": "Flush less often, where a crash may lose the last records.",
    "views": "Set a view once, and access several parts of the file by it.",
}
_NAMES = {"posix": "POSIX", "mpi-io": "MPI-IO", "stdio": "stdio"}


def counter_conclusions(counters: Document, events: bool) -> list[Conclusion]:
    """Return the conclusions that counters allow, those of one level.

    events: True if the trace holds events too.
    """
    result = list(_counted_only(counters, events))
    modules = [module for module in counters["modules"] if module["level"] == counters["totals"]["level"]]
    if not events:
        result += _time_in_calls(counters)
    result += _data_read_again(counters)
    for module in modules:
        for rule in (
            _slow_calls_without_data,
            _small_requests,
            _order_of_requests,
            _many_calls_without_data,
            _no_collective_calls,
            _unaligned_requests,
            _slow_rank,
        ):
            result += rule(counters, module)
    return result


def _conclusion(
    severity: str, title: str, text: str, advice: str | None = None, seconds: float | None = None
) -> Conclusion:
    return Conclusion(severity, title, text, "counters", advice, seconds)


def _name(module: Document) -> str:
    interface: str = module["interface"]
    return _NAMES.get(interface, interface)


def _seconds(row: Document, *names: str) -> float:
    return sum(row[f"{name}_seconds"] or 0.0 for name in names or ("read", "write", "meta"))


def _known_seconds(row: Document, *names: str) -> float | None:
    """Return the sum that `_seconds` returns, or None if none of the names was counted."""
    return _seconds(row, *names) if any(row[f"{name}_seconds"] is not None for name in names) else None


def _requests(row: Document) -> int:
    return (row["reads"] or 0) + (row["writes"] or 0)


def _data_bytes(row: Document) -> int:
    return (row["read_bytes"] or 0) + (row["write_bytes"] or 0)


def _process_seconds(counters: Document) -> float:
    """Return the time of all processes in seconds; 0 if it is unknown."""
    return float((counters["run_seconds"] or 0.0) * (counters["processes"] or 0))


def _severity_by_cost(counters: Document, spent: float | None) -> str:
    """Return the severity of a cost in seconds, from its share of the processes' time and the time of each process."""
    process_time, processes = _process_seconds(counters), counters["processes"] or 1
    if spent is None or spent / processes < MUCH_SECONDS:
        return "low"
    if not process_time:
        return "medium"
    return "high" if spent / process_time >= 0.5 else "medium" if spent / process_time >= MUCH_SHARE / 4 else "low"


def _describe_share(counters: Document, spent: float) -> str:
    """Return a time as text, with its share of the processes' time if that is known."""
    process_time = _process_seconds(counters)
    text = _amounts.seconds(spent)
    if not process_time:
        return text
    processes = _amounts.count(counters["processes"], "process")
    if spent > process_time:  # calls of several threads at once, or calls that began before the counters
        return f"{text}, more than the {_amounts.seconds(process_time)} that {processes} ran"
    return f"{text}, {_amounts.share(spent / process_time)} of the time of {processes}"


def _duration_sentence(counters: Document, subject: str, spent: float | None) -> str:
    """Return a sentence that says how long calls took, or "" if their time was not counted."""
    return "" if spent is None else f" {subject} take {_describe_share(counters, spent)}."


def _join_words(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _describe_calls(calls: Document) -> str:
    """Return the number of calls of each kind as text."""
    return ", ".join(_amounts.count(count, name.removesuffix("s")) for name, count in calls.items() if count)


def _counted_only(counters: Document, events: bool) -> Iterator[Conclusion]:
    modules_with_data = [module for module in counters["modules"] if _requests(module)]
    if not modules_with_data:
        return
    counted_requests = [
        f"{_amounts.count(_requests(module), 'request')} through {_name(module)} ({_amounts.size(_data_bytes(module))})"
        for module in modules_with_data
        if module["level"] == counters["totals"]["level"]
    ] or [f"the requests through {_name(module)}" for module in modules_with_data]
    remark = " The other conclusions are about the requests that are known one by one." if events else ""
    yield _conclusion(
        "low",
        "Calls were counted, not traced",
        f"Of {_join_words(counted_requests)} there are counters alone: when a call ran, and which ones came together, "
        f"is not known.{remark}",
        "To see each call, switch extended tracing on (DXT, for Darshan), or record with plait trace record.",
    )


def _time_in_calls(counters: Document) -> Iterator[Conclusion]:
    totals, process_time = counters["totals"], _process_seconds(counters)
    spent = _seconds(totals)
    if not process_time or not spent:
        return
    parts = [
        f"{_amounts.seconds(totals[f'{name}_seconds'])} in {what}"
        for name, what in (("read", "reads"), ("write", "writes"), ("meta", "opens and other calls without data"))
        if totals[f"{name}_seconds"]
    ]
    share = spent / process_time
    if share >= MUCH_SHARE and spent / counters["processes"] >= MUCH_SECONDS:
        yield _conclusion(
            "high" if share >= 0.5 else "medium",
            "Much of the time is spent in I/O",
            f"Calls take {_describe_share(counters, spent)}: {', '.join(parts)}.",
            seconds=spent,
        )
    elif share < MUCH_SHARE / 4:
        yield _conclusion(
            "good",
            "Little of the time is spent in I/O",
            f"Calls take {_describe_share(counters, spent)}: {', '.join(parts)}.",
            seconds=spent,
        )


def _data_read_again(counters: Document) -> Iterator[Conclusion]:
    level = counters["totals"]["level"]
    reread_files = [
        file
        for file in counters["files"]
        if file["level"] == level and file["extent"] and (file["read_bytes"] or 0) >= REREAD * file["extent"]
    ]
    reread_bytes = sum(file["read_bytes"] - file["extent"] for file in reread_files)
    read_bytes = counters["totals"]["read_bytes"]
    if not reread_files or reread_bytes < max(0.1 * read_bytes, MUCH_BYTES):
        return
    seconds = sum((file["read_seconds"] or 0.0) * (1 - file["extent"] / file["read_bytes"]) for file in reread_files)
    worst = max(reread_files, key=lambda file: file["read_bytes"] - file["extent"])
    ranks = _amounts.count(worst["processes"], "process")
    yield _conclusion(
        _severity_by_cost(counters, seconds),
        "The same data are read again",
        f"{_amounts.count(len(reread_files), 'file')} {'is' if len(reread_files) == 1 else 'are'} read {REREAD:.0f} "
        f"times over or more; most of all {_amounts.shown(worst['name'] or 'one')}: "
        f"{_amounts.size(worst['read_bytes'])} of at most {_amounts.size(worst['extent'])} by "
        f"{ranks}. Reading again takes some {_describe_share(counters, seconds)}.",
        "Let one rank read and the others receive, or keep the data in memory."
        if worst["processes"] > 1
        else "Keep the data in memory.",
        seconds,
    )


def _slow_calls_without_data(counters: Document, module: Document) -> Iterator[Conclusion]:
    call_seconds, all_seconds = module["meta_seconds"], _seconds(module)
    # If reads and writes were traced, the counters do not include their time.
    if not call_seconds or call_seconds / (counters["processes"] or 1) < 0.01 * MUCH_SECONDS:
        return
    calls = _describe_calls({name: count for name, count in module["calls"].items() if name != "collective_opens"})
    share = (
        f", {_amounts.share(call_seconds / all_seconds)} of the time of all its calls"
        if module["reads"] is not None
        else ""
    )
    if module["reads"] is not None and call_seconds < META_SHARE * all_seconds:
        return
    if module["reads"] is None and _severity_by_cost(counters, call_seconds) == "low":
        return
    yield _conclusion(
        _severity_by_cost(counters, call_seconds),
        f"Calls of {_name(module)} that move no data take long",
        f"They take {_describe_share(counters, call_seconds)}{share}{f': {calls}' if calls else ''}."
        + _describe_slowest_file(counters, module),
        _advise_on_calls(counters, module, call_seconds),
        call_seconds,
    )


def _slowest_file(counters: Document, module: Document) -> Document | None:
    """Return the file whose calls without data take longest."""
    kind = module["interface"], module["level"]
    files = [file for file in counters["files"] if (file["interface"], file["level"]) == kind and file["meta_seconds"]]
    return max(files, key=lambda file: float(file["meta_seconds"])) if files else None


def _describe_slowest_file(counters: Document, module: Document) -> str:
    slowest = _slowest_file(counters, module)
    if slowest is None:
        return ""
    name = _amounts.shown(slowest["name"] or "no named file")
    return f" Longest is {_amounts.seconds(slowest['meta_seconds'])}, on {name}."


def _advise_on_calls(counters: Document, module: Document, spent: float) -> str | None:
    """Return advice for the most frequent kind of call, because the time of each kind was not counted."""
    process_time = _process_seconds(counters)
    if process_time and spent > process_time:
        return "Look at that file first: opening a pipe, for one, waits for its other end."
    slowest = _slowest_file(counters, module)
    main_source = slowest if slowest is not None and slowest["meta_seconds"] >= spent / 2 else module
    calls = {name: count for name, count in main_source["calls"].items() if name in _ADVICE_BY_CALL and count}
    return _ADVICE_BY_CALL[max(calls, key=lambda name: int(calls[name]))] if calls else None


def _small_requests(counters: Document, module: Document) -> Iterator[Conclusion]:
    small = module["small"]
    if small is None:
        return
    count, minimum, maximum = small["count"], small["least"], small["most"]
    mean = f"The mean is {_amounts.size(_data_bytes(module) / count)}."
    if minimum >= MANY and minimum >= SHARE_OF_SMALL * count:
        exact = "" if minimum == maximum else "at least "
        advice = (
            "Ask for more at once: larger records, or collective access."
            if module["interface"] != "stdio"
            else "Read and write larger records; the buffer of stdio joins small ones where they follow each other."
        )
        seconds = _known_seconds(module, "read", "write")
        severity = _severity_by_cost(counters, seconds)
        yield _conclusion(
            severity if minimum >= 0.5 * count or severity == "low" else "medium",
            f"Small requests through {_name(module)}",
            f"{exact}{minimum:,} of {count:,} requests ({_amounts.share(minimum / count)}) are under 1 MiB. {mean}"
            + _duration_sentence(counters, "All together", seconds),
            advice,
            seconds,
        )
    elif count - maximum >= PRAISE_SHARE * count:
        exact = "" if minimum == maximum else "at least "
        yield _conclusion(
            "good",
            f"Large requests through {_name(module)}",
            f"{exact}{count - maximum:,} of {_amounts.count(count, 'request')} ({_amounts.share(1 - maximum / count)}) "
            f"are of 1 MiB or more. {mean}",
        )


def _order_of_requests(counters: Document, module: Document) -> Iterator[Conclusion]:
    for kind, order in (module["order"] or {}).items():
        count, back = order["count"], order["back"]
        if not count:
            continue
        if back["least"] >= MANY and back["least"] >= SHARE_OF_BACK * count:
            exact = "" if back["least"] == back["most"] else "at least "
            seconds = _known_seconds(module, kind)
            yield _conclusion(
                _severity_by_cost(counters, seconds),
                f"{kind.capitalize()}s through {_name(module)} go back in the file",
                f"{exact}{back['least']:,} of {count:,} {kind}s ({_amounts.share(back['least'] / count)}) begin "
                f"before the offset where the {kind} before them ended; "
                f"{_amounts.share(order['consecutive'] / count)} begin "
                "there." + _duration_sentence(counters, f"All {kind}s", seconds),
                "Sort the accesses by their offsets, or access larger parts and choose in memory.",
                seconds,
            )
        elif order["consecutive"] >= PRAISE_SHARE * count:
            yield _conclusion(
                "good",
                f"{kind.capitalize()}s through {_name(module)} are in order",
                f"{_amounts.share(order['consecutive'] / count)} of the {count:,} {kind}s begin where the {kind} "
                "before them ended.",
            )


def _many_calls_without_data(counters: Document, module: Document) -> Iterator[Conclusion]:
    calls = {name: module["calls"].get(name, 0) for name in ("opens", "seeks", "stats", "syncs")}
    other_count, requests = sum(calls.values()), _requests(module)
    if module["reads"] is None or other_count < MANY or other_count <= OTHER_CALLS * requests:
        return
    yield _conclusion(
        _severity_by_cost(counters, module["meta_seconds"]),
        f"Many calls of {_name(module)} move no data",
        f"{other_count:,} calls ({_describe_calls(calls)}) beside {_amounts.count(requests, 'request')}."
        + _duration_sentence(counters, "All calls without data", module["meta_seconds"]),
        _ADVICE_BY_CALL[max(calls, key=lambda name: int(calls[name]))],
        module["meta_seconds"],
    )


def _no_collective_calls(counters: Document, module: Document) -> Iterator[Conclusion]:
    modes = module["how"]
    if modes is None or (counters["processes"] or 1) < 2:
        return
    single, collective = modes["independent"] + modes["nonblocking"], modes["collective"] + modes["split"]
    seconds = _known_seconds(module, "read", "write")
    if single >= MANY and not collective:
        yield _conclusion(
            _severity_by_cost(counters, seconds),
            "MPI-IO is used without collective calls",
            f"All {single:,} requests are of single ranks." + _duration_sentence(counters, "They", seconds),
            "Where the ranks access one file at a time, collective calls join their requests to larger ones.",
            seconds,
        )


def _unaligned_requests(counters: Document, module: Document) -> Iterator[Conclusion]:
    alignment = module["alignment"]
    if (
        alignment is None
        or alignment["unaligned"] < MANY
        or alignment["unaligned"] < UNALIGNED_SHARE * alignment["count"]
    ):
        return
    yield _conclusion(
        "low",
        f"Requests through {_name(module)} begin inside blocks",
        f"{alignment['unaligned']:,} of {alignment['count']:,} requests "
        f"({_amounts.share(alignment['unaligned'] / alignment['count'])}) begin at an offset that is not a multiple of "
        f"the file system's {_amounts.size(alignment['block'])}.",
        "Where the file's format allows, let records begin at multiples of the block.",
    )


def _slow_rank(counters: Document, module: Document) -> Iterator[Conclusion]:
    slowest = module["slowest"]
    if slowest is None or slowest["seconds"] < MUCH_SECONDS or slowest["seconds"] < SLOW_RANK * slowest["mean_seconds"]:
        return
    run_seconds = counters["run_seconds"]
    share = slowest["seconds"] / run_seconds if run_seconds else MUCH_SHARE / 4
    if share < MUCH_SHARE / 4:
        return
    location = f" on {_amounts.shown(slowest['file'])}" if slowest["file"] else " in calls on files of its own"
    yield _conclusion(
        "medium" if share >= MUCH_SHARE else "low",
        f"One rank is much slower through {_name(module)}",
        f"Rank {slowest['rank']} spent {_amounts.seconds(slowest['seconds'])}{location}, "
        f"{_amounts.times(slowest['seconds'] / slowest['mean_seconds'])} the mean of "
        f"{_amounts.count(slowest['processes'], 'process')} ({_amounts.seconds(slowest['mean_seconds'])}).",
        "Compare what it moves with the others, then look at its node and disks.",
        slowest["seconds"] - slowest["mean_seconds"],
    )
