"""Calls that were counted, not traced: every format stores them, and they are never treated as single requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait import trace
from plait.cli import main
from plait.trace import Counters, Flag, Interface

SECOND = 10**9
PROGRAM_TOTALS = Counters(0, 0, Interface.UNKNOWN, Flag.LOGICAL, {"run_ns": 100 * SECOND, "processes": 4})


def write_counters(path: Path, *rows: dict[str, int], interface: Interface = Interface.POSIX, events: int = 0) -> Path:
    """Write a trace with a record of counters per rank, and events of another interface."""
    with trace.create(path) as writer:
        for rank in range(max(len(rows), 1)):
            writer.add_process(rank + 1, rank=rank)
            writer.add_file(rank + 1, 1, "/data/=% one")
        data = np.zeros(events, trace.EVENT)
        data["process"] = data["file"] = 1
        data["interface"] = Interface.STDIO
        data["length"] = data["result"] = 100
        data["offset"] = 100 * np.arange(events)
        data["flags"] = Flag.LOGICAL
        writer.write(data)
        counters = [Counters(rank + 1, 1, interface, Flag.LOGICAL, values) for rank, values in enumerate(rows)]
        writer.finish(counters=[PROGRAM_TOTALS, *counters])
    return path


def titles(report: trace.Report) -> dict[str, str]:
    return {conclusion["title"]: conclusion["severity"] for conclusion in report["conclusions"]}


MANY_READS = {
    "reads": 10_000,
    "writes": 0,
    "read_bytes": 10_000 << 20,
    "write_bytes": 0,
    "read_ns": 50 * SECOND,
    "meta_ns": SECOND,
    "opens": 1,
    "consecutive_reads": 10,
    "sequential_reads": 990,
    "reads_of_102401_to_1048576": 10_000,
    "calls_of_1048576": 10_000,
    "read_extent": 1 << 30,
    "odd name = %": -5,
}


@pytest.mark.parametrize("ending", [".csv", ".1992", ".parquet", ".plait"])
def test_formats_preserve_counters(ending: str, tmp_path: Path) -> None:
    source = write_counters(tmp_path / "one.plait", MANY_READS, {"reads": 3, "writes": -(2**62)}, events=3)
    with trace.open(source) as opened:
        events = opened.read()
    counters = opened.description.counters
    assert counters == [
        PROGRAM_TOTALS,
        Counters(1, 1, 1, 0x80, MANY_READS),
        Counters(2, 1, 1, 0x80, {"reads": 3, "writes": -(2**62)}),
    ]
    assert trace.convert(source, tmp_path / f"two{ending}").lost == []
    trace.convert(tmp_path / f"two{ending}", tmp_path / "three.plait")
    with trace.open(tmp_path / "three.plait") as opened:
        assert np.array_equal(opened.read(), events)
    assert opened.description.counters == counters
    assert trace.convert(source, tmp_path / "two.json").lost == [
        "3 records of counters: calls that were counted, not traced"
    ]


def test_counters_are_not_requests(tmp_path: Path) -> None:
    report = trace.report(write_counters(tmp_path / "one.plait", MANY_READS, MANY_READS))
    assert report["trace"]["events"] == 0
    assert report["trace"]["coverage"]["share"] == 1
    assert "No call is known one by one" in report["trace"]["coverage"]["text"]
    table, counters = report["table1"], report["counters"]
    assert (table["ios"], table["io_bytes"], table["data_bytes"]) == (20_000, 20_000 << 20, 1 << 30)
    assert (table["running_seconds"], report["trace"]["wall_seconds"]) == (100, 100)
    (module,) = counters["modules"]
    assert module["small"] == {
        "least": 0,
        "most": 0,
        "count": 20_000,
    }  # all have 1 MiB, which Darshan's bin hides
    assert module["order"]["read"]["back"] == {"least": 17_998, "most": 18_000}
    assert titles(report) == {
        "Reads through POSIX go back in the file": "medium",
        "Much of the time is spent in I/O": "medium",
        "The same data are read again": "medium",
        "Calls were counted, not traced": "low",
        "Large requests through POSIX": "good",
    }
    text = " ".join(report.text(200).split())
    assert "100 s in reads, 2 s in opens and other calls" in text
    assert "102 s, 25.5 % of the time of 4 processes" in text
    assert "17,998 to 18,000" in text
    assert "This is from counters" in report.page()
    assert report["timeline"]["read_bytes"] == []
    assert report["files"] == report["cycles"] == []


def test_conclusions_that_counters_do_not_support_are_omitted(tmp_path: Path) -> None:
    bare = {"reads": 5000, "writes": 0, "read_bytes": 5000 << 19, "write_bytes": 0}
    report = trace.report(write_counters(tmp_path / "one.plait", bare, interface=Interface.STDIO))
    (module,) = report["counters"]["modules"]
    # At most 2500 requests of 1 MiB fit these bytes, but the trace does not show their number.
    assert module["small"] == {"least": 2500, "most": 5000, "count": 5000}
    assert module["sizes"] is module["order"] is module["alignment"] is module["meta_seconds"] is None
    assert titles(report) == {"Calls were counted, not traced": "low", "Small requests through stdio": "low"}
    text = report.text(300)
    assert "At least 2,500 of 5,000 requests (50 %) are under 1 MiB. The mean is 512 KiB. →" in text


def test_counters_and_events(tmp_path: Path) -> None:
    path = write_counters(tmp_path / "one.plait", MANY_READS, events=1000)
    report = trace.report(path)
    assert (report["table1"]["ios"], report["table1"]["io_bytes"]) == (1000, 100_000)
    assert [call["interface"] for call in report["calls"]] == ["stdio"]
    assert "of 9.77 GiB no single call is known" in report["trace"]["coverage"]["text"].lower().replace("gib", "GiB")
    assert report["counters"]["modules"][0]["reads"] == 10_000
    with trace.open(path) as opened:
        with pytest.raises(plait.Error, match="read the trace first"):
            _ = opened.coverage
        opened.read()
        assert opened.coverage == (1000 / 11_000, 100_000 / (100_000 + (10_000 << 20)))


def test_parts_of_counters(tmp_path: Path) -> None:
    path = write_counters(tmp_path / "one.plait", MANY_READS, {**MANY_READS, "reads": 7})
    assert trace.report(path, file="*none*")["counters"] is None
    assert trace.report(path, file="/data/*")["counters"]["totals"]["reads"] == 10_007
    alone = trace.report(path, process=2)["counters"]
    assert (alone["totals"]["reads"], alone["processes"]) == (7, 1)
    assert trace.report(path, level="physical")["counters"]["totals"]["reads"] == 0
    assert trace.report(path, exclude=["/data/*"])["counters"] is None


def test_counters_of_libraries_are_omitted(tmp_path: Path) -> None:
    with trace.create(tmp_path / "one.plait") as writer:
        for number, name in enumerate(("/data/one", "/opt/lib/libm.so.6"), 1):
            writer.add_file(1, number, name)
        rows = [Counters(1, number, Interface.POSIX, Flag.LOGICAL, {"reads": number, "writes": 0}) for number in (1, 2)]
        writer.finish(counters=rows)
    report = trace.report(tmp_path / "one.plait")
    assert (report["counters"]["totals"]["reads"], report["counters"]["files_not_counted"]) == (1, 1)
    assert any("1 file of the system" in note for note in report["trace"]["notes"])
    assert trace.report(tmp_path / "one.plait", all=True)["counters"]["totals"]["reads"] == 3
    assert trace.report(tmp_path / "one.plait", include=["*.so*"])["counters"]["totals"]["reads"] == 3


def test_other_conclusions_of_counters(tmp_path: Path) -> None:
    busy = {
        "reads": 0,
        "writes": 2000,
        "read_bytes": 0,
        "write_bytes": 2000 * 300,
        "write_ns": SECOND,
        "meta_ns": 60 * SECOND,
        "opens": 3000,
        "stats": 4000,
        "writes_of_101_to_1024": 2000,
        "consecutive_writes": 1999,
        "sequential_writes": 0,
        "unaligned": 1990,
        "alignment": 4096,
        "independent_writes": 2000,
    }
    quiet = {"reads": 1, "writes": 0, "read_bytes": 1, "write_bytes": 0, "meta_ns": SECOND}
    severities = titles(trace.report(write_counters(tmp_path / "one.plait", busy, quiet, quiet, quiet)))
    assert severities == {
        "Calls of POSIX that move no data take long": "medium",
        "Many calls of POSIX move no data": "medium",
        "One rank is much slower through POSIX": "medium",
        "Small requests through POSIX": "low",
        "MPI-IO is used without collective calls": "low",
        "Requests through POSIX begin inside blocks": "low",
        "Writes through POSIX are in order": "good",
        "Calls were counted, not traced": "low",
    }


def test_comparing_counters(tmp_path: Path) -> None:
    first = write_counters(tmp_path / "one.plait", MANY_READS)
    more = write_counters(tmp_path / "more.plait", {**MANY_READS, "read_ns": 70 * SECOND})
    events = write_counters(tmp_path / "events.plait", events=1000)
    same = trace.compare(first, first)
    assert [row["title"] for row in same["conclusions"]] == ["Much the same"]
    changed = trace.compare(first, more)
    assert [row["title"] for row in changed["conclusions"]] == ["More time in calls that were counted"]
    rows = {(row["section"], row["name"]): row for row in changed["rows"]}
    assert rows["counters", "posix logical read_seconds"]["b"] == 70
    mixed = trace.compare(first, events)
    assert "Events against counters" in [row["title"] for row in mixed["conclusions"]]
    assert not any(row["section"] in ("order", "overlap", "calls") for row in mixed["rows"])
    assert "Events against counters" in mixed.page()


def test_coverage_without_sizes_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "lost.plait"
    lost = trace.MissedCalls("asynchronous requests whose completion was not seen", 2866)
    events = np.zeros(32, trace.EVENT)
    events["result"] = 4096
    events["flags"] = Flag.LOGICAL
    for complete, expected in ((True, (32 / 2898, None)), (False, (None, None))):
        with trace.create(path) as writer:
            writer.write(events)
            writer.finish(missed=[lost], complete=complete)
        with trace.open(path) as opened:
            opened.read()
            assert opened.coverage == expected
        assert trace.report(path)["trace"]["coverage"]["share"] is None


def darshan_logs() -> list[Path]:
    darshan = pytest.importorskip("darshan", reason="the package darshan is not installed")
    return sorted({path.name: path for path in Path(darshan.__file__).parent.rglob("*.darshan")}.values())


def read_records(path: Path, module: str) -> list[dict[str, Any]]:
    from darshan.backend import cffi_backend as backend

    log = backend.log_open(str(path))
    dumped = []
    while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
        dumped.append(record)
    backend.log_close(log)
    return dumped


SUMS = ("reads", "writes", "read_bytes", "write_bytes", "read_seconds", "write_seconds", "meta_seconds")


def sum_counters(records: list[dict[str, Any]], *names: str) -> float:
    return sum(
        max(float({**record["counters"], **record["fcounters"]}.get(name, 0)), 0)
        for record in records
        for name in names
    )


def find_log(name: str) -> Path:
    logs = [path for path in darshan_logs() if path.name == name]
    if not logs:
        pytest.skip(f"the package darshan comes without its example log {name}")
    return logs[0]


def test_reports_of_darshan_logs_agree_with_their_counters(tmp_path: Path) -> None:
    prefixes = {"posix": "POSIX", "stdio": "STDIO", "mpi-io": "MPIIO"}
    for path in darshan_logs():
        trace.import_trace(path, tmp_path / "log.plait")
        report = trace.report(tmp_path / "log.plait", all=True)
        sums: dict[str, dict[str, float]] = {}
        for module in report["counters"]["modules"] if report["counters"] else []:
            totals = sums.setdefault(module["interface"], {})
            for name in SUMS:
                totals[name] = totals.get(name, 0) + (module[name] or 0)
            if module["sizes"]:
                for kind in ("read", "write"):
                    assert sum(bin_["count"] for bin_ in module["sizes"][kind]) == module[f"{kind}s"]
        for interface, totals in sums.items():
            prefix = prefixes[interface]
            dumped = read_records(path, "MPI-IO" if interface == "mpi-io" else prefix)
            assert totals["meta_seconds"] == pytest.approx(sum_counters(dumped, f"{prefix}_F_META_TIME"), abs=1e-6), (
                path
            )
            if not (totals["reads"] or totals["writes"]):
                continue  # traced by DXT
            call_prefixes = ("INDEP_", "COLL_", "SPLIT_", "NB_") if interface == "mpi-io" else ("",)
            for name, counters in (
                ("reads", [f"{prefix}_{each}READS" for each in call_prefixes]),
                ("writes", [f"{prefix}_{each}WRITES" for each in call_prefixes]),
                ("read_bytes", [f"{prefix}_BYTES_READ"]),
                ("write_bytes", [f"{prefix}_BYTES_WRITTEN"]),
            ):
                assert totals[name] == sum_counters(dumped, *counters), (path, name)
            for name, counter in (("read_seconds", "F_READ_TIME"), ("write_seconds", "F_WRITE_TIME")):
                assert totals[name] == pytest.approx(sum_counters(dumped, f"{prefix}_{counter}"), abs=1e-6), (
                    path,
                    name,
                )


def test_a_darshan_log_with_stdio_only(tmp_path: Path) -> None:
    path = find_log("noposix.darshan")
    summary = trace.import_trace(path, tmp_path / "log.plait")
    assert (summary.events, summary.counted_reads, summary.counted_writes) == (0, 199_687, 2_190_437)
    report = trace.report(tmp_path / "log.plait")
    assert report["table1"]["mean_io_bytes"] == pytest.approx(770.6, abs=0.1)
    severities = titles(report)
    assert not [title for title in severities if "Large" in title or "waits" in title or "order" in title]
    assert severities["Small requests through stdio"] == "low"
    text = " ".join(report.text(200).split())
    assert "All together take 33.8 s" in text
    assert "365 s, under 0.1 % of the time of 512 processes, 91.5 % of the time of all its calls" in text
    assert "Longest is 365 s, on /global/cscratch1/4028781608. → Use calls that name the offset" in text


def test_a_darshan_log_with_a_slow_rank(tmp_path: Path) -> None:
    trace.import_trace(find_log("sample-badost.darshan"), tmp_path / "log.plait")
    report = trace.report(tmp_path / "log.plait")
    assert titles(report)["One rank is much slower through POSIX"] == "medium"
    posix = next(module for module in report["counters"]["modules"] if module["interface"] == "posix")
    assert posix["order"]["write"] == {
        "count": 131_072, "consecutive": 129_024, "sequential": 0, "back": {"least": 0, "most": 2048},
    }  # fmt: skip


def test_sums_are_not_listed_as_accesses(tmp_path: Path) -> None:
    trace.import_trace(find_log("dxt.darshan"), tmp_path / "log.plait")
    report = trace.report(tmp_path / "log.plait", all=True)
    assert {call["interface"] for call in report["calls"]} == {"posix"}
    modules = {module["interface"]: module for module in report["counters"]["modules"]}
    assert modules["stdio"]["reads"] == 39
    assert modules["posix"]["reads"] is None  # events, not counters, have the reads
    assert modules["posix"]["calls"]["stats"] == 1379


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", [0.001, 0.01, 0.1, 0.29, 0.5, 0.84, 0.9, 0.99, 0.99999])
def test_a_truncated_darshan_log(part: float, tmp_path: Path) -> None:
    whole = find_log("sample-badost.darshan").read_bytes()
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(whole[: int(part * len(whole))])
    done = CliRunner().invoke(main, ["trace", "import", str(cut), "-o", str(tmp_path / "out.plait")])
    if done.exit_code:
        assert "cut.darshan" in done.output
        assert "cut off" in done.output or "damaged" in done.output
        assert not (tmp_path / "out.plait").exists()
        assert part < 0.86
        return
    assert part > 0.83
    assert "The trace is not complete." in done.output
    assert f"is cut off: it has {len(cut.read_bytes()):,} of {len(whole):,} bytes" in done.output
    report = trace.report(tmp_path / "out.plait")
    assert report["counters"]["totals"]["writes"] >= 131_072
    assert "The trace does not hold everything" in titles(report)


def test_a_darshan_log_with_truncated_accesses(tmp_path: Path) -> None:
    whole = find_log("dxt.darshan").read_bytes()
    (tmp_path / "cut.darshan").write_bytes(whole[:50_000])
    summary = trace.import_trace(tmp_path / "cut.darshan", tmp_path / "out.plait")
    assert not summary.complete
    posix = read_records(find_log("dxt.darshan"), "POSIX")
    assert summary.events == 0
    assert summary.counted_reads >= sum_counters(posix, "POSIX_READS") > 0  # the counters are whole


def test_damaged_darshan_logs(tmp_path: Path) -> None:
    whole = bytearray(find_log("noposix.darshan").read_bytes())
    whole[2000:2100] = bytes(100)
    (tmp_path / "bad.darshan").write_bytes(whole)
    with pytest.raises(plait.Error, match="names of the files cannot be unpacked"):
        trace.import_trace(tmp_path / "bad.darshan", tmp_path / "out.plait")
    whole = bytearray(find_log("dxt.darshan").read_bytes())
    whole[-1000:-900] = bytes(100)
    (tmp_path / "bad.darshan").write_bytes(whole)
    summary = trace.import_trace(tmp_path / "bad.darshan", tmp_path / "out.plait")
    assert summary.notes[0] == "the log is damaged: records of DXT_POSIX are missing"
    assert not summary.complete
    assert summary.counted_reads > 0
