"""Draws the conclusions of a report: sentences that follow from its numbers, the most important first.

Each rule is a function that yields conclusions.  Example: if 5,000 of 8,000 requests are under 1 MiB and take half of
the time of all requests, _small_requests() yields a conclusion with that text, a severity and advice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.counter_conclusions import counter_conclusions
from plait.trace.analysis.coverage import find_hidden_writes
from plait.trace.analysis.severity import (
    MUCH_BYTES,
    MUCH_SECONDS,
    TRIFLING_BYTES,
    TRIFLING_SECONDS,
    Conclusion,
    cost_if_timed,
    process_seconds,
    severity_by_cost,
)
from plait.trace.recording.obstacles import ADVICE, is_about_program

Document = dict[str, Any]

# The thresholds; docs/guides/trace-report.md lists them.
SMALL_SHARE = 0.10  # of requests under 1 MiB
SMALL_COUNT = 1000  # fewer requests are not worth a conclusion; so for the other counts
SMALL_MEAN = 64 * 1024  # mean size up to which small requests can be of high severity
RANDOM_SHARE = 0.20  # of requests that begin before the end of the previous one
RANDOM_COUNT = 1000
UNALIGNED_SHARE = 0.10
UNALIGNED_COUNT = 1000
LARGE_SHARE = 0.90  # share of requests of 1 MiB and more, and of consecutive ones, that is worth praise
OTHER_CALLS = 0.50  # calls that transfer no data, relative to those that do
OTHER_TIME = 0.10  # of the time in calls
FAILED_SHARE = 0.05
FAILED_COUNT = 100
REREAD = 2.0  # bytes read from a file, relative to its extent
ONE_PROCESS = 0.50  # of the bytes, if that is at least twice the mean of all processes
STRAGGLER = 1.5  # time in I/O, relative to the median
IMBALANCE = 0.30  # 1 - mean / maximum of the processes' times in I/O
WAITING = 0.20  # of the processes' time
SWAPPING = 0.50  # of the bytes
AMPLIFIED = 1.2  # bytes that reached devices, relative to the requested ones
SYNC = 0.02  # of the processes' time, in calls that make data durable
DURABLE = 0.50  # of the waiting time
FOOTNOTE = 0.99  # share of the bytes from which a trace counts as complete
PARTIAL = 0.90
CYCLE_SECONDS = 0.01  # a program cannot plan for a shorter period,
CYCLES_SECONDS = 1.0  # or if all cycles together are shorter
_SEVERITY_ORDER = {"high": 0, "medium": 1, "low": 2, "good": 3}
# Advice against calls that transfer no data, by the kind of call that takes the most time.
_ADVICE_BY_CALL = {
    "open": "Keep files open instead of opening them again for each access.",
    "close": "Keep files open instead of opening them again for each access.",
    "seek": "Use calls that name the offset (pread, pwrite) instead of seeking.",
    "truncate": "Set the size of a file once.",
    "duplicate": "Keep one descriptor of each file.",
    "map": "Map larger parts of the file, and keep them mapped.",
    "unmap": "Map larger parts of the file, and keep them mapped.",
    "metadata": "Ask about files once, and keep the answers.",
    "sync": "Make data durable less often, or in a thread of its own.",
}


def draw_conclusions(report: Document, totals: Document) -> list[Document]:
    """Return the conclusions of a report; ``totals`` has further sums over its events."""
    all_conclusions = [
        *_coverage(report),
        *(conclusion for rule in _RULES for conclusion in rule(report, totals) if not conclusion.is_trifling),
    ]
    all_conclusions += filter(None, [find_hidden_writes(report)])
    if report["counters"] is not None:
        all_conclusions += counter_conclusions(report["counters"], bool(report["trace"]["events"]))
    # Missing data comes first within its severity.
    all_conclusions.sort(
        key=lambda conclusion: (
            _SEVERITY_ORDER[conclusion.severity],
            conclusion.evidence != "trace",
            -(conclusion.seconds or 0.0),
        )
    )
    return [conclusion.document(process_seconds(report)) for conclusion in all_conclusions]


def _coverage(report: Document) -> Iterator[Conclusion]:
    trace = report["trace"]
    share = trace["coverage"]["share"]
    if share == 1.0 or not (trace["events"] or report["counters"]):
        return
    yield Conclusion(
        "high" if share is None or share < PARTIAL else "medium" if share < FOOTNOTE else "low",
        "The trace does not hold everything",
        trace["coverage"]["text"] + " What follows is about the part that it holds.",
        "trace",
        _advice(trace["coverage"]),
    )


def _advice(coverage: Document) -> str | None:
    """Return advice for the gaps of a trace; None if little is missing."""
    if any(is_about_program(gap["reason"]) for gap in coverage["missed"]):
        return f"{ADVICE.removesuffix('.')}, or build the program with glibc as a dynamically linked one."
    if coverage["share"] is not None and coverage["share"] >= FOOTNOTE:
        return None
    return "Look at what is missing before trusting the sums."


def _small_requests(report: Document, totals: Document) -> Iterator[Conclusion]:
    requests, small_count = report["table1"]["ios"], totals["small"]
    if not requests:
        return
    share = small_count / requests
    if small_count >= SMALL_COUNT and share >= SMALL_SHARE:
        spent = totals["data_seconds"]
        time_share = totals["small_seconds"] / spent if spent else 0.0
        text = f"{small_count:,} of {requests:,} requests ({_amounts.share(share)}) are under 1 MiB"
        text += f" and take {_amounts.share(time_share)} of the time of all requests." if spent else "."
        mean_size = _amounts.size(report["table1"]["mean_io_bytes"])
        matters = share >= 0.5 and time_share >= 0.5 and report["table1"]["mean_io_bytes"] <= SMALL_MEAN
        severity = severity_by_cost(report, totals, totals["small_seconds"], "high" if matters else "medium")
        yield Conclusion(
            severity if matters or severity == "low" else "medium",
            "Small requests",
            f"{text} The mean is {mean_size}.",
            "sizes",
            "Ask for more at once: larger records, a buffer, or collective access.",
            cost_if_timed(totals["small_seconds"], totals),
        )
    elif 1 - share >= LARGE_SHARE:
        yield Conclusion(
            "good",
            "Large requests",
            f"{_amounts.share(1 - share)} of the {_amounts.count(requests, 'request')} are of 1 MiB or more.",
            "sizes",
            seconds=cost_if_timed(totals["data_seconds"] - totals["small_seconds"], totals),
        )


def _random_access(report: Document, totals: Document) -> Iterator[Conclusion]:
    for kind, verb in (("read", "Reads"), ("write", "Writes")):
        order = report["order"][kind]
        if not order["count"]:
            continue
        count = round(order["random"] * order["count"])
        if order["random"] >= RANDOM_SHARE and count >= RANDOM_COUNT:
            seconds = totals["random_seconds"][kind]
            yield Conclusion(
                severity_by_cost(report, totals, seconds, "high" if order["random"] >= 0.5 else "medium"),
                f"{verb} go back in the file",
                f"{_amounts.share(order['random'])} of the {order['count']:,} {kind}s begin before the offset where "
                f"the access before them ended; {_amounts.share(order['consecutive'])} begin there.",
                "order",
                "Sort the accesses by their offsets, or read larger parts and choose in memory."
                if kind == "read"
                else "Sort the accesses by their offsets, or gather them in memory and write larger parts.",
                cost_if_timed(seconds, totals),
            )
        elif order["consecutive"] >= LARGE_SHARE:
            yield Conclusion(
                "good",
                f"{verb} are in order",
                f"{_amounts.share(order['consecutive'])} of the {order['count']:,} {kind}s begin where the access "
                "before them ended.",
                "order",
                seconds=cost_if_timed(sum(call["seconds"] for call in report["calls"] if call["kind"] == kind), totals),
            )


def _calls_without_data(report: Document, totals: Document) -> Iterator[Conclusion]:
    calls = [call for call in report["calls"] if call["kind"] not in ("start", "fork", "exec", "exit", "phase")]
    data_calls = [call for call in calls if call["kind"] in ("read", "write")]
    other_calls = [call for call in calls if call["kind"] not in ("read", "write")]
    yield from _calls_that_sync(report, totals, [call for call in other_calls if call["kind"] == "sync"])
    other_calls = [call for call in other_calls if call["kind"] != "sync"]
    data_count, other_count = (sum(call["count"] for call in group) for group in (data_calls, other_calls))
    all_seconds, other_seconds = sum(call["seconds"] for call in calls), sum(call["seconds"] for call in other_calls)
    take_long = all_seconds and other_seconds / all_seconds > OTHER_TIME
    if other_count >= SMALL_COUNT and (other_count > OTHER_CALLS * data_count or take_long):
        slowest = max(other_calls, key=lambda call: (call["seconds"], call["count"]))
        text = f"{other_count:,} calls move no data, beside {data_count:,} reads and writes"
        text += f", and take {_amounts.share(other_seconds / all_seconds)} of the time in calls" if all_seconds else ""
        yield Conclusion(
            severity_by_cost(report, totals, other_seconds, "medium"),
            "Many calls that move no data",
            f"{text}; most of it {slowest['kind']} ({slowest['count']:,} calls).",
            "calls",
            _ADVICE_BY_CALL.get(slowest["kind"]),
            cost_if_timed(other_seconds, totals),
        )
    failed, count = sum(call["failed"] for call in calls), sum(call["count"] for call in calls)
    if failed >= FAILED_COUNT and failed >= FAILED_SHARE * count:
        worst = max(calls, key=lambda call: call["failed"])
        yield Conclusion(
            "low",
            "Many calls fail",
            f"{failed:,} of {count:,} calls ({_amounts.share(failed / count)}) failed, most of them {worst['kind']} "
            f"({worst['failed']:,} of {worst['count']:,}).",
            "calls",
            "Look for files that are looked for in many folders." if worst["kind"] in ("open", "metadata") else None,
            cost_if_timed(sum(call["failed_seconds"] for call in calls), totals),
        )


def _calls_that_sync(report: Document, totals: Document, calls: list[Document]) -> Iterator[Conclusion]:
    """Report the cost of waiting until data are on the disk."""
    count, seconds = (sum(call[name] for call in calls) for name in ("count", "seconds"))
    if seconds < TRIFLING_SECONDS or seconds < SYNC * process_seconds(report):
        return
    yield Conclusion(
        severity_by_cost(report, totals, seconds, "low"),
        "Calls wait until data are on the disk",
        f"{_amounts.count(count, 'call')} of fsync and its like take {_amounts.seconds(seconds / count)} each.",
        "calls",
        "Make several records or transactions durable by one call, where a crash may lose the last of them.",
        seconds,
    )


def _unaligned_requests(report: Document, totals: Document) -> Iterator[Conclusion]:
    alignment = report["alignment"]
    count = sum(alignment[kind]["count"] for kind in ("read", "write"))
    unaligned = sum(alignment[kind]["unaligned"] for kind in ("read", "write"))
    if unaligned >= UNALIGNED_COUNT and unaligned >= UNALIGNED_SHARE * count:
        yield Conclusion(
            "low",
            "Requests begin inside blocks",
            f"{unaligned:,} of {count:,} requests ({_amounts.share(unaligned / count)}) begin at an offset that is not "
            f"a multiple of {alignment['block']} bytes.",
            "alignment",
            "Where the file's format allows, let records begin at multiples of the block.",
            cost_if_timed(totals["unaligned_seconds"], totals),
        )


def _classes(report: Document, totals: Document) -> Iterator[Conclusion]:
    swapping, checkpoint = report["classes"]["swapping"], report["classes"]["checkpoint"]
    is_swapping = swapping["share"] >= SWAPPING
    if is_swapping and swapping["bytes"] >= TRIFLING_BYTES:
        yield Conclusion(
            severity_by_cost(report, totals, swapping["seconds"], "high" if swapping["bytes"] >= MUCH_BYTES else "low"),
            "Data are swapped through files",
            f"{_amounts.share(swapping['share'])} of the bytes ({_amounts.size(swapping['bytes'])}) go to and from "
            f"files again and again. {swapping['evidence']}",
            "classes",
            "Keep the data in memory if there is enough, or more ranks to hold them.",
            cost_if_timed(swapping["seconds"], totals),
        )
    if checkpoint["bytes"] >= TRIFLING_BYTES:
        yield Conclusion(
            severity_by_cost(report, totals, checkpoint["seconds"], "low"),
            "Checkpoints are written",
            f"{_amounts.share(checkpoint['share'])} of the bytes ({_amounts.size(checkpoint['bytes'])}) are "
            f"checkpoints. {checkpoint['evidence']}",
            "classes",
            "Write them in the background while the next steps are computed.",
            cost_if_timed(checkpoint["seconds"], totals),
        )
    if is_swapping:
        return
    reread = [file for file in report["files"] if file["extent"] and file["read_bytes"] >= REREAD * file["extent"]]
    reread_bytes = sum(file["read_bytes"] - file["extent"] for file in reread)
    read_bytes = sum(file["read_bytes"] for file in report["files"])
    if reread and reread_bytes >= max(0.1 * read_bytes, TRIFLING_BYTES):
        worst = max(reread, key=lambda file: file["read_bytes"] - file["extent"])
        ranks = _amounts.count(worst["processes"], "process")
        seconds = sum(file["read_seconds"] * (1 - file["extent"] / file["read_bytes"]) for file in reread)
        yield Conclusion(
            severity_by_cost(report, totals, seconds, "medium" if reread_bytes >= MUCH_BYTES else "low"),
            "The same data are read again",
            f"{_amounts.count(len(reread), 'file')} {'is' if len(reread) == 1 else 'are'} read more than "
            f"{REREAD:.0f} times over; most of all {_amounts.shown(worst['name'])}: "
            f"{_amounts.size(worst['read_bytes'])} read of {_amounts.size(worst['extent'])} by {ranks}.",
            "files",
            "Let one rank read and the others receive, or keep the data in memory."
            if worst["processes"] > 1
            else "Keep the data in memory.",
            cost_if_timed(seconds, totals),
        )


def _uneven_processes(report: Document, totals: Document) -> Iterator[Conclusion]:
    stragglers = report["stragglers"]
    mover_count, moved_bytes = stragglers["processes"], report["table1"]["io_bytes"]
    if mover_count < 2 or moved_bytes < TRIFLING_BYTES:
        return
    heaviest = stragglers["heaviest"]
    share = heaviest["bytes"] / moved_bytes
    name = f"Rank {heaviest['rank']}" if heaviest["rank"] >= 0 else f"Process {heaviest['process']}"
    if share >= ONE_PROCESS and share * mover_count >= 2:
        seconds = next(
            (process["io_seconds"] for process in report["processes"] if process["number"] == heaviest["process"]), 0.0
        )
        yield Conclusion(
            severity_by_cost(report, totals, seconds, "medium"),
            f"{name} moves most of the data",
            f"{name} moves {_amounts.share(share)} of the bytes; {_amounts.count(mover_count, 'process')} move any.",
            "processes",
            "Let the others share the work, with collective access." if heaviest["rank"] >= 0 else None,
            cost_if_timed(seconds, totals),
        )
    longest = stragglers["rows"][0]["io_seconds"]
    if stragglers["slow"] and stragglers["imbalance"] >= IMBALANCE and mover_count >= 3 and longest >= MUCH_SECONDS:
        # The other processes wait for the slowest one at each collective operation, so its delay costs all of them.
        seconds = (longest - stragglers["median_seconds"]) * mover_count
        yield Conclusion(
            severity_by_cost(report, totals, seconds, "medium"),
            "Some processes spend much longer in I/O",
            f"{stragglers['text']} The median is {_amounts.seconds(stragglers['median_seconds'])}; "
            f"{_amounts.count(stragglers['slow'], 'process')} took {STRAGGLER} times the median or more.",
            "stragglers",
            "Compare what they move with the others, then look at their nodes and disks.",
            longest - stragglers["median_seconds"],
        )


def _waiting_for_io(report: Document, _: Document) -> Iterator[Conclusion]:
    overlap = report["overlap"]
    process_time = overlap["io_seconds"] + overlap["compute_seconds"]
    if not process_time or not report["table1"]["ios"]:
        return
    share = overlap["waiting_seconds"] / process_time
    waiting = overlap["waiting_seconds"]
    sync_seconds = sum(call["seconds"] for call in report["calls"] if call["kind"] == "sync")
    if waiting and sync_seconds >= DURABLE * waiting:
        return  # the wait is caused by making data durable, which _calls_that_sync() reports
    if share >= WAITING and waiting >= TRIFLING_SECONDS:
        slowest_kind = max(report["calls"], key=lambda call: call["seconds"])["kind"] if report["calls"] else "read"
        default_advice = "Start reads before the data are needed, and writes while the next step is computed."
        yield Conclusion(
            "low" if waiting < MUCH_SECONDS else "high" if share >= 0.5 else "medium",
            "The program waits for I/O",
            f"In {_amounts.seconds(waiting)}, {_amounts.share(share)} of the processes' time, a synchronous call ran; "
            f"{_amounts.share(overlap['asynchronous_share'])} of the bytes were asked for asynchronously.",
            "overlap",
            _ADVICE_BY_CALL.get(slowest_kind, default_advice),
            waiting,
        )
    elif overlap["asynchronous_share"] >= 0.5 and overlap["hidden_seconds"]:
        yield Conclusion(
            "good",
            "I/O runs beside the computation",
            f"{_amounts.share(overlap['asynchronous_share'])} of the bytes are asked for asynchronously, and "
            f"{_amounts.seconds(overlap['hidden_seconds'])} of CPU time was used meanwhile.",
            "overlap",
            seconds=overlap["hidden_seconds"],
        )


def _cycles(report: Document, totals: Document) -> Iterator[Conclusion]:
    all_cycles = [cycle for cycle in report["cycles"] if cycle["what"] == "all"]
    cycles = all_cycles or [cycle for cycle in report["cycles"] if cycle["what"] in ("reads", "writes")]
    if not cycles:
        return
    strongest = cycles[0]
    if strongest["period_seconds"] < CYCLE_SECONDS or strongest["period_seconds"] * strongest["count"] < CYCLES_SECONDS:
        return
    clock = report["timeline"]["clock"].replace("cpu", "CPU")
    subject = "" if strongest["what"] == "all" else f" of {strongest['what']}"
    text = (
        f"The data rate{subject} repeats every {_amounts.seconds(strongest['period_seconds'])} of {clock} time, "
        f"{strongest['count']} times, with {_amounts.size(strongest['bytes_per_cycle'])} each "
        f"(correlation {strongest['strength']:.2f})."
    )
    further_periods = [_amounts.seconds(cycle["period_seconds"]) for cycle in cycles[1:3]]
    if further_periods:
        text += f" Further periods: {', '.join(further_periods)}."
    yield Conclusion(
        "low",
        "I/O comes in cycles",
        text,
        "cycles",
        "Plan the next burst while the program computes: it comes on time.",
        cost_if_timed(totals["data_seconds"], totals),
    )


def _amplification(report: Document, _: Document) -> Iterator[Conclusion]:
    amplification = report["amplification"]
    if amplification is None or amplification["ratio"] is None or amplification["ratio"] < AMPLIFIED:
        return
    yield Conclusion(
        "medium",
        "More reaches the devices than was asked for",
        f"{_amounts.size(amplification['physical_bytes'])} moved for "
        f"{_amounts.size(amplification['logical_bytes'])} asked for: "
        f"{_amounts.times(amplification['ratio'])}.",
        "amplification",
        "Let requests cover whole blocks, chunks and stripes.",
    )


_RULES = (
    _classes, _waiting_for_io, _small_requests, _random_access, _uneven_processes, _calls_without_data, _amplification,
    _unaligned_requests, _cycles,
)  # fmt: skip
