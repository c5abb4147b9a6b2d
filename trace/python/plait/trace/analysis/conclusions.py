"""Draws the conclusions of a report: sentences that follow from its numbers, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.counter_conclusions import counter_conclusions
from plait.trace.analysis.coverage import hidden
from plait.trace.analysis.severity import (
    MUCH_BYTES,
    MUCH_SECONDS,
    TRIFLING_BYTES,
    TRIFLING_SECONDS,
    Conclusion,
    by_cost,
    if_timed,
    process_seconds,
)
from plait.trace.recording.obstacles import ADVICE, is_of_a_program

Document = dict[str, Any]

# The thresholds; docs/guides/trace-report.md lists them.
SMALL_SHARE = 0.10  # of requests under 1 MiB
SMALL_COUNT = 1000
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
IMBALANCE = 0.30
WAITING = 0.20  # of the processes' time
SWAPPING = 0.50  # of the bytes
AMPLIFIED = 1.2
SYNC = 0.02  # of the processes' time, in calls that make data durable
DURABLE = 0.50  # of the waiting time
FOOTNOTE = 0.99  # share of the bytes from which a trace counts as complete
PARTIAL = 0.90
# A program cannot plan for shorter periods, or in a shorter run.
CYCLE_SECONDS = 0.01
CYCLES_SECONDS = 1.0
_RANK = {"high": 0, "medium": 1, "low": 2, "good": 3}
# Advice against calls that transfer no data, by the kind of call that takes the most time.
_INSTEAD = {
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


def conclusions(report: Document, totals: Document) -> list[Document]:
    """Return the conclusions of a report."""
    all_conclusions = [
        *_coverage(report),
        *(conclusion for rule in _RULES for conclusion in rule(report, totals) if not conclusion.trifling),
    ]
    all_conclusions += filter(None, [hidden(report)])
    if report["counters"] is not None:
        all_conclusions += counter_conclusions(report["counters"], bool(report["trace"]["events"]))
    # Missing data comes first within its severity.
    all_conclusions.sort(
        key=lambda conclusion: (
            _RANK[conclusion.severity],
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
    if any(is_of_a_program(gap["reason"]) for gap in coverage["missed"]):
        return f"{ADVICE.removesuffix('.')}, or build the program with glibc as a dynamically linked one."
    if coverage["share"] is not None and coverage["share"] >= FOOTNOTE:
        return None
    return "Look at what is missing before trusting the sums."


def _small(report: Document, totals: Document) -> Iterator[Conclusion]:
    requests, small = report["table1"]["ios"], totals["small"]
    if not requests:
        return
    share = small / requests
    if small >= SMALL_COUNT and share >= SMALL_SHARE:
        spent = totals["data_seconds"]
        time = totals["small_seconds"] / spent if spent else 0.0
        text = f"{small:,} of {requests:,} requests ({_amounts.share(share)}) are under 1 MiB"
        text += f" and take {_amounts.share(time)} of the time of all requests." if spent else "."
        mean = _amounts.size(report["table1"]["mean_io_bytes"])
        weighs = share >= 0.5 and time >= 0.5 and report["table1"]["mean_io_bytes"] <= SMALL_MEAN
        severity = by_cost(report, totals, totals["small_seconds"], "high" if weighs else "medium")
        yield Conclusion(
            severity if weighs or severity == "low" else "medium",
            "Small requests",
            f"{text} The mean is {mean}.",
            "sizes",
            "Ask for more at once: larger records, a buffer, or collective access.",
            if_timed(totals["small_seconds"], totals),
        )
    elif 1 - share >= LARGE_SHARE:
        yield Conclusion(
            "good",
            "Large requests",
            f"{_amounts.share(1 - share)} of the {_amounts.count(requests, 'request')} are of 1 MiB or more.",
            "sizes",
            seconds=if_timed(totals["data_seconds"] - totals["small_seconds"], totals),
        )


def _random(report: Document, totals: Document) -> Iterator[Conclusion]:
    for kind, verb in (("read", "Reads"), ("write", "Writes")):
        order = report["order"][kind]
        if not order["count"]:
            continue
        count = round(order["random"] * order["count"])
        if order["random"] >= RANDOM_SHARE and count >= RANDOM_COUNT:
            spent = totals["random_seconds"][kind]
            yield Conclusion(
                by_cost(report, totals, spent, "high" if order["random"] >= 0.5 else "medium"),
                f"{verb} go back in the file",
                f"{_amounts.share(order['random'])} of the {order['count']:,} {kind}s begin before the offset where "
                f"the access before them ended; {_amounts.share(order['consecutive'])} begin there.",
                "order",
                "Sort the accesses by their offsets, or read larger parts and choose in memory."
                if kind == "read"
                else "Sort the accesses by their offsets, or gather them in memory and write larger parts.",
                if_timed(spent, totals),
            )
        elif order["consecutive"] >= LARGE_SHARE:
            yield Conclusion(
                "good",
                f"{verb} are in order",
                f"{_amounts.share(order['consecutive'])} of the {order['count']:,} {kind}s begin where the access "
                "before them ended.",
                "order",
                seconds=if_timed(sum(call["seconds"] for call in report["calls"] if call["kind"] == kind), totals),
            )


def _calls(report: Document, totals: Document) -> Iterator[Conclusion]:
    calls = [call for call in report["calls"] if call["kind"] not in ("start", "fork", "exec", "exit", "phase")]
    data = [call for call in calls if call["kind"] in ("read", "write")]
    other = [call for call in calls if call["kind"] not in ("read", "write")]
    yield from _durable(report, totals, [call for call in other if call["kind"] == "sync"])
    other = [call for call in other if call["kind"] != "sync"]
    transfers, rest = (sum(call["count"] for call in group) for group in (data, other))
    spent, idle = sum(call["seconds"] for call in calls), sum(call["seconds"] for call in other)
    if rest >= SMALL_COUNT and (rest > OTHER_CALLS * transfers or (spent and idle / spent > OTHER_TIME)):
        first = max(other, key=lambda call: (call["seconds"], call["count"]))
        text = f"{rest:,} calls move no data, beside {transfers:,} reads and writes"
        text += f", and take {_amounts.share(idle / spent)} of the time in calls" if spent else ""
        yield Conclusion(
            by_cost(report, totals, idle, "medium"),
            "Many calls that move no data",
            f"{text}; most of it {first['kind']} ({first['count']:,} calls).",
            "calls",
            _INSTEAD.get(first["kind"]),
            if_timed(idle, totals),
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
            if_timed(sum(call["failed_seconds"] for call in calls), totals),
        )


def _durable(report: Document, totals: Document, calls: list[Document]) -> Iterator[Conclusion]:
    """Report the cost of waiting until data are on the disk."""
    count, spent = (sum(call[name] for call in calls) for name in ("count", "seconds"))
    if spent < TRIFLING_SECONDS or spent < SYNC * process_seconds(report):
        return
    yield Conclusion(
        by_cost(report, totals, spent, "low"),
        "Calls wait until data are on the disk",
        f"{_amounts.count(count, 'call')} of fsync and its like take {_amounts.seconds(spent / count)} each.",
        "calls",
        "Make several records or transactions durable by one call, where a crash may lose the last of them.",
        spent,
    )


def _unaligned(report: Document, totals: Document) -> Iterator[Conclusion]:
    alignment = report["alignment"]
    count = sum(alignment[kind]["count"] for kind in ("read", "write"))
    unaligned = sum(alignment[kind]["unaligned"] for kind in ("read", "write"))
    if unaligned >= UNALIGNED_COUNT and unaligned >= UNALIGNED_SHARE * count:
        yield Conclusion(
            "low",
            "Requests begin inside blocks",
            f"{unaligned:,} of {count:,} requests ({_amounts.share(unaligned / count)}) begin at an offset that is not "
            "a "
            f"multiple of {alignment['block']} bytes.",
            "alignment",
            "Where the file's format allows, let records begin at multiples of the block.",
            if_timed(totals["unaligned_seconds"], totals),
        )


def _classes(report: Document, totals: Document) -> Iterator[Conclusion]:
    swapping, checkpoint = report["classes"]["swapping"], report["classes"]["checkpoint"]
    swapped = swapping["share"] >= SWAPPING
    if swapped and swapping["bytes"] >= TRIFLING_BYTES:
        yield Conclusion(
            by_cost(report, totals, swapping["seconds"], "high" if swapping["bytes"] >= MUCH_BYTES else "low"),
            "Data are swapped through files",
            f"{_amounts.share(swapping['share'])} of the bytes ({_amounts.size(swapping['bytes'])}) go to and from "
            f"files again and again. {swapping['evidence']}",
            "classes",
            "Keep the data in memory if there is enough, or more ranks to hold them.",
            if_timed(swapping["seconds"], totals),
        )
    if checkpoint["bytes"] >= TRIFLING_BYTES:
        yield Conclusion(
            by_cost(report, totals, checkpoint["seconds"], "low"),
            "Checkpoints are written",
            f"{_amounts.share(checkpoint['share'])} of the bytes ({_amounts.size(checkpoint['bytes'])}) are "
            f"checkpoints. {checkpoint['evidence']}",
            "classes",
            "Write them in the background while the next steps are computed.",
            if_timed(checkpoint["seconds"], totals),
        )
    if swapped:
        return
    heavy = [file for file in report["files"] if file["extent"] and file["read_bytes"] >= REREAD * file["extent"]]
    reread = sum(file["read_bytes"] - file["extent"] for file in heavy)
    read = sum(file["read_bytes"] for file in report["files"])
    if heavy and reread >= max(0.1 * read, TRIFLING_BYTES):
        first = max(heavy, key=lambda file: file["read_bytes"] - file["extent"])
        spent = sum(file["read_seconds"] * (1 - file["extent"] / file["read_bytes"]) for file in heavy)
        yield Conclusion(
            by_cost(report, totals, spent, "medium" if reread >= MUCH_BYTES else "low"),
            "The same data are read again",
            f"{_amounts.count(len(heavy), 'file')} {'is' if len(heavy) == 1 else 'are'} read more than {REREAD:.0f} "
            f"times over; most of all {_amounts.shown(first['name'])}: {_amounts.size(first['read_bytes'])} read of "
            f"{_amounts.size(first['extent'])} by {_amounts.count(first['processes'], 'process')}.",
            "files",
            "Let one rank read and the others receive, or keep the data in memory."
            if first["processes"] > 1
            else "Keep the data in memory.",
            if_timed(spent, totals),
        )


def _processes(report: Document, totals: Document) -> Iterator[Conclusion]:
    stragglers = report["stragglers"]
    movers, moved = stragglers["processes"], report["table1"]["io_bytes"]
    if movers < 2 or moved < TRIFLING_BYTES:
        return
    heaviest = stragglers["heaviest"]
    share = heaviest["bytes"] / moved
    name = f"Rank {heaviest['rank']}" if heaviest["rank"] >= 0 else f"Process {heaviest['process']}"
    if share >= ONE_PROCESS and share * movers >= 2:
        spent = next(
            (process["io_seconds"] for process in report["processes"] if process["number"] == heaviest["process"]), 0.0
        )
        yield Conclusion(
            by_cost(report, totals, spent, "medium"),
            f"{name} moves most of the data",
            f"{name} moves {_amounts.share(share)} of the bytes; {_amounts.count(movers, 'process')} move any.",
            "processes",
            "Let the others share the work, with collective access." if heaviest["rank"] >= 0 else None,
            if_timed(spent, totals),
        )
    longest = stragglers["rows"][0]["io_seconds"]
    if stragglers["slow"] and stragglers["imbalance"] >= IMBALANCE and movers >= 3 and longest >= MUCH_SECONDS:
        # The other processes wait for the slowest one at each collective operation, so its delay costs all of them.
        spent = (longest - stragglers["median_seconds"]) * movers
        yield Conclusion(
            by_cost(report, totals, spent, "medium"),
            "Some processes spend much longer in I/O",
            f"{stragglers['text']} The median is {_amounts.seconds(stragglers['median_seconds'])}; "
            f"{_amounts.count(stragglers['slow'], 'process')} took {STRAGGLER} times the median or more.",
            "stragglers",
            "Compare what they move with the others, then look at their nodes and disks.",
            longest - stragglers["median_seconds"],
        )


def _waiting(report: Document, _: Document) -> Iterator[Conclusion]:
    overlap = report["overlap"]
    whole = overlap["io_seconds"] + overlap["compute_seconds"]
    if not whole or not report["table1"]["ios"]:
        return
    share = overlap["waiting_seconds"] / whole
    waiting = overlap["waiting_seconds"]
    durable = sum(call["seconds"] for call in report["calls"] if call["kind"] == "sync")
    if waiting and durable >= DURABLE * waiting:
        return  # the wait is caused by making data durable, which _durable() reports
    if share >= WAITING and waiting >= TRIFLING_SECONDS:
        longest = max(report["calls"], key=lambda call: call["seconds"])["kind"] if report["calls"] else "read"
        overlapped = "Start reads before the data are needed, and writes while the next step is computed."
        yield Conclusion(
            "low" if waiting < MUCH_SECONDS else "high" if share >= 0.5 else "medium",
            "The program waits for I/O",
            f"In {_amounts.seconds(waiting)}, {_amounts.share(share)} of the processes' time, a synchronous call ran; "
            f"{_amounts.share(overlap['asynchronous_share'])} of the bytes were asked for asynchronously.",
            "overlap",
            _INSTEAD.get(longest, overlapped),
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
    overall = [cycle for cycle in report["cycles"] if cycle["what"] == "all"]
    cycles = overall or [cycle for cycle in report["cycles"] if cycle["what"] in ("reads", "writes")]
    if not cycles:
        return
    first = cycles[0]
    if first["period_seconds"] < CYCLE_SECONDS or first["period_seconds"] * first["count"] < CYCLES_SECONDS:
        return
    clock = report["timeline"]["clock"].replace("cpu", "CPU")
    what = "" if first["what"] == "all" else f" of {first['what']}"
    text = (
        f"The data rate{what} repeats every {_amounts.seconds(first['period_seconds'])} of {clock} time, "
        f"{first['count']} times, with {_amounts.size(first['bytes_per_cycle'])} each "
        f"(correlation {first['strength']:.2f})."
    )
    others = [_amounts.seconds(cycle["period_seconds"]) for cycle in cycles[1:3]]
    if others:
        text += f" Further periods: {', '.join(others)}."
    yield Conclusion(
        "low",
        "I/O comes in cycles",
        text,
        "cycles",
        "Plan the next burst while the program computes: it comes on time.",
        if_timed(totals["data_seconds"], totals),
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


_RULES = (_classes, _waiting, _small, _random, _processes, _calls, _amplification, _unaligned, _cycles)
