"""Reports describe the files of the program itself, by one clock, under its name; cost determines the severity."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait import trace
from plait.cli import main
from plait.trace import Interface, Kind, page
from plait.trace.recording.record import record

SECOND = 10**9


class HandmadeTrace:
    """A trace that a test composes call by call."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.names: dict[str, int] = {}

    def add(self, name: str, kind: Kind, start: float, duration: float, size: int = 0, **fields: int) -> None:
        """Add a call; times are in seconds."""
        file = self.names.setdefault(name, len(self.names) + 1)
        times = (int(start * SECOND), int(duration * SECOND), trace.UNKNOWN)
        request = (fields.get("offset", 0), size, size, 0)
        ids = (fields.get("process", 1), 1, file)
        interface = fields.get("interface", Interface.POSIX)
        self.rows.append((*times, *request, *ids, kind, interface, trace.Flag.LOGICAL))

    def report(self, path: Path, missed: int = 0, command: str = "./a.out", **options: Any) -> trace.Report:
        with trace.create(path) as writer:
            for process in sorted({row[7] for row in self.rows}):
                writer.add_process(process, command=command)
                for name, number in self.names.items():
                    writer.add_file(process, number, name)
            writer.write(np.array(sorted(self.rows), dtype=trace.EVENT))
            writer.finish(missed=[trace.MissedCalls("mapped", read_bytes=missed)] if missed else [])
        return trace.report(path, **options)


@pytest.fixture
def recorded_run(tmp_path: Path) -> Path:
    """Record a run of a script that writes 800,128 bytes with NumPy."""
    (tmp_path / "simulation.py").write_text(
        "import os, numpy as np\n"
        "segment = os.open('/dev/shm/ucx_shm_plait_test', os.O_RDWR | os.O_CREAT)\n"
        "os.write(segment, bytes(1 << 20))\n"
        "os.unlink('/dev/shm/ucx_shm_plait_test')\n"
        "open('/proc/self/status').read()\n"
        "np.save('out.npy', np.zeros(100_000))\n"
    )
    command = ["env", "-C", str(tmp_path), sys.executable, "-B", "simulation.py"]
    assert record(command, tmp_path / "run.plait") == 0
    return tmp_path / "run.plait"


def test_only_the_programs_own_files_count(recorded_run: Path) -> None:
    report, whole = trace.report(recorded_run), trace.report(recorded_run, all=True)
    assert sum(each["write_bytes"] for each in report["processes"]) == 800_128
    assert sum(each["write_bytes"] for each in whole["processes"]) == 800_128 + (1 << 20)
    assert {Path(each["name"]).name for each in report["files"] if each["write_bytes"]} == {"out.npy"}
    left_out = report["left_out"]
    kinds = {each["what"]: each for each in left_out["kinds"]}
    assert {"MPI's own files", "/proc and /sys", "interpreters' files", "libraries"} <= set(kinds)
    assert kinds["MPI's own files"]["write_bytes"] == 1 << 20
    for name in ("read_bytes", "write_bytes"):  # no bytes are lost
        assert left_out[name] + sum(each[name] for each in report["files"]) == sum(
            each[name] for each in whole["files"]
        )
    counted, all_ = (sum(each["count"] for each in document["calls"]) for document in (report, whole))
    assert counted + left_out["calls"] == all_
    assert not whole["left_out"]["calls"]
    assert report["trace"]["coverage"]["share"] == 1.0
    assert trace.report(recorded_run, include=["/proc/*"])["left_out"]["calls"] < left_out["calls"]
    assert trace.report(recorded_run, exclude=["*.npy"])["table1"]["io_bytes"] < 10_000
    with pytest.raises(plait.ArgumentError, match=r"expected a list of patterns such as \['\*\.py'\]"):
        trace.report(recorded_run, exclude="*.py")


def test_omitted_files_are_summarized_in_one_line(recorded_run: Path) -> None:
    done = CliRunner(env={"COLUMNS": "500"}).invoke(main, ["trace", "report", str(recorded_run)])
    lines = done.output.splitlines()
    assert lines[1].startswith(f"simulation.py ({recorded_run}): ")
    (left_out,) = (line for line in lines if line.startswith("Left out: "))
    assert "/proc and /sys: " in left_out
    assert left_out.rstrip().endswith("--all counts them.")
    page_ = page.page_text(trace.report(recorded_run))
    assert "<h1>simulation.py</h1>" in page_
    assert '<p class="left-out">Left out: ' in page_
    everything = CliRunner().invoke(main, ["trace", "report", str(recorded_run), "--all", "--exclude", "*.npy"])
    assert "(excluded files: " in " ".join(everything.output.split())
    compare = ["trace", "compare", str(recorded_run), str(recorded_run), "--include", "/proc/*"]
    assert CliRunner().invoke(main, compare).exit_code == 0


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 -u -W ignore /data/a/simulation.py --steps 3", "simulation.py"),
        ("/usr/bin/python3.11 -m mypackage.run x", "mypackage.run"),
        ("python -c print(1)", "python"),
        ("mpiexec -n 4 python x.py", "mpiexec"),
        ("/bin/bash -e ./run.sh 1", "run.sh"),
        ("sh -c 'sort a'", "sh"),
        ("/opt/solver --quick", "solver"),
        ("Rscript fit.R", "fit.R"),
    ],
)
def test_a_program_is_called_by_its_script(tmp_path: Path, command: str, name: str) -> None:
    events = HandmadeTrace()
    events.add("data", Kind.READ, 0, 1, 10)
    assert events.report(tmp_path / "a.plait", command=command)["trace"]["programs"] == [name]


def test_timeline_and_overlap_agree_in_wall_time(tmp_path: Path) -> None:
    events = HandmadeTrace()
    for i in range(10):  # the first process waits for half of its 10 s, the second for a tenth
        events.add("a", Kind.READ, i, 0.5, 10, offset=10 * i)
        events.add("b", Kind.READ, i, 0.1, 10, offset=10 * i, process=2)
    for process in (1, 2):
        events.add("end", Kind.CLOSE, 10, 0, process=process)
    report = events.report(tmp_path / "a.plait")
    assert report["trace"]["clock"] == report["timeline"]["clock"] == "wall"
    line, overlap = report["timeline"], report["overlap"]
    busy = sum(share * seconds for share, seconds in zip(line["busy"], line["present"], strict=True))
    waited = overlap["waiting_seconds"] / (overlap["io_seconds"] + overlap["compute_seconds"])
    assert busy / sum(line["present"]) == pytest.approx(waited, rel=1e-6)
    assert waited == pytest.approx(0.3, rel=1e-3)


def test_severity_follows_the_seconds(tmp_path: Path) -> None:
    events = HandmadeTrace()
    for i in range(2000):
        events.add("a", Kind.WRITE, i * 0.05, 1e-5, 4096, offset=4096 * i)
    few = {each["title"]: each for each in events.report(tmp_path / "a.plait")["conclusions"]}
    assert few["Small requests"]["severity"] == "low"
    assert few["Small requests"]["seconds"] == pytest.approx(0.02)
    assert "In all 20 ms, under 0.1 % of the processes' time." in few["Small requests"]["text"]
    events.rows = [(start, 4 * 10**7, *rest) for start, _, *rest in events.rows]
    much = {each["title"]: each for each in events.report(tmp_path / "b.plait")["conclusions"]}
    assert much["Small requests"]["severity"] == "high"
    assert all(each["seconds"] is not None for each in much.values())


@pytest.mark.parametrize(("missed", "severity"), [(17, "low"), (500, "medium"), (5000, "high")])
def test_few_missing_calls_are_a_footnote(tmp_path: Path, missed: int, severity: str) -> None:
    events = HandmadeTrace()
    events.add("a", Kind.WRITE, 0, 2, 10_000 - missed)
    conclusions = events.report(tmp_path / "a.plait", missed=missed)["conclusions"]
    (conclusion,) = (each for each in conclusions if each["evidence"] == "trace")
    assert conclusion["severity"] == severity
    assert (conclusion is conclusions[0]) == (severity == "high")


def test_advice_matches_the_call(tmp_path: Path) -> None:
    events = HandmadeTrace()
    for i in range(1500):
        events.add(f"file{i % 7}", Kind.OPEN, i * 0.01, 0.002)
    events.add("a", Kind.READ, 16, 0.1, 10)
    (conclusion,) = (
        each for each in events.report(tmp_path / "a.plait")["conclusions"] if "move no data" in each["title"]
    )
    assert conclusion["advice"].startswith("Keep files open")
    events.rows = [(*row[:-3], Kind.SEEK, *row[-2:]) if row[-3] == Kind.OPEN else row for row in events.rows]
    (conclusion,) = (
        each for each in events.report(tmp_path / "b.plait")["conclusions"] if "move no data" in each["title"]
    )
    assert "instead of seeking" in conclusion["advice"]


def test_durable_transactions_are_not_seeking(tmp_path: Path) -> None:
    events = HandmadeTrace()
    for i in range(84):
        events.add("a.db", Kind.WRITE, i * 0.1, 1e-5, 4096, offset=4096 * i)
        events.add("a.db", Kind.SEEK, i * 0.1 + 0.001, 1e-6)
        events.add("a.db", Kind.SYNC, i * 0.1 + 0.002, 0.02)
    conclusions = events.report(tmp_path / "a.plait")["conclusions"]
    (conclusion,) = (each for each in conclusions if each["title"] == "Calls wait until data are on the disk")
    assert conclusion["seconds"] == pytest.approx(84 * 0.02)
    assert conclusion["severity"] == "medium"
    assert not any("seeking" in (each["advice"] or "") for each in conclusions)
    # One cause has only one conclusion.
    assert not any(each["title"] == "The program waits for I/O" for each in conclusions)


def test_small_amounts_have_no_severe_conclusions(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import sqlite3, numpy as np\n"
        "for _ in range(3): open(__file__).read()\n"
        "np.save('out.npy', np.zeros(300_000))\n"
        "base = sqlite3.connect('a.db')\n"
        "base.execute('create table t(x)')\n"
        "for i in range(20):\n"
        "    base.execute('insert into t values (?)', (i,)); base.commit()\n"
    )
    assert record(["env", "-C", str(tmp_path), sys.executable, "work.py"], tmp_path / "run.plait") == 0
    report = trace.report(tmp_path / "run.plait")
    assert report["classes"]["swapping"]["count"] == report["classes"]["checkpoint"]["count"] == 0
    assert not any(word in each["title"] for each in report["conclusions"] for word in ("swapped", "Checkpoints"))
    assert not any("seek" in (each["advice"] or "") for each in report["conclusions"])


def test_much_data_in_omitted_files_is_reported(tmp_path: Path) -> None:
    events = HandmadeTrace()
    events.add("/data/a/model.so", Kind.WRITE, 0, 0.1, 2 << 20)
    events.add("/data/a/out.npy", Kind.WRITE, 1, 0.1, 3 << 20)
    report = events.report(tmp_path / "run.plait")
    conclusions = [
        conclusion
        for conclusion in report["conclusions"]
        if conclusion["title"] == "Much is written to files that are left out"
    ]
    assert conclusions[0]["text"].startswith("40 % of what is written (libraries: 2 MiB)")
    assert "--include" in conclusions[0]["advice"]
    whole = trace.report(tmp_path / "run.plait", include=["*.so"])
    assert "Much is written to files that are left out" not in [
        conclusion["title"] for conclusion in whole["conclusions"]
    ]


def test_options_of_the_recording_apply_to_the_report(tmp_path: Path) -> None:
    script = "import sys\nopen('data.log', 'w').write('x' * 1000)\nopen('data.out', 'w').write('y' * 2000)\n"
    (tmp_path / "work.py").write_text(script)
    target = str(tmp_path / "run.plait")
    command = ["env", "-C", str(tmp_path), sys.executable, "work.py"]
    arguments = ["trace", "record", "-o", target, "--exclude", "*.log", "--include", "*/lib/python*", "--", *command]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0
    assert "; reports leave out " in done.stderr
    assert " and files that were excluded" in done.stderr
    report = trace.report(target)
    kinds = {each["what"]: each for each in report["left_out"]["kinds"]}
    assert kinds["excluded files"]["write_bytes"] == 1000
    assert any("/lib/python" in each["name"] for each in report["files"])
    new_report = trace.report(target, exclude=["*.out"])
    assert sum(each["write_bytes"] for each in new_report["files"]) == 1000
    with trace.open(target) as opened:  # the trace holds all
        assert sum(batch[batch["kind"] == Kind.WRITE]["result"].sum() for batch in opened) == 3000
    assert CliRunner().invoke(main, ["trace", "record", "-o", target, "--all", "--", *command]).exit_code == 0
    assert not trace.report(target)["left_out"]["calls"]
    assert CliRunner().invoke(main, ["trace", "record", "-o", target, "--", *command]).exit_code == 0
    assert trace.report(target)["left_out"]["calls"]
    long = CliRunner().invoke(main, ["trace", "record", "-o", target, "--include", "x" * 4000, "--", *command])
    assert "give them to plait trace report instead" in long.stderr
    nowhere = CliRunner().invoke(main, ["trace", "record", "-o", str(tmp_path / "none/a.plait"), "--", *command])
    assert nowhere.stderr == f"Error: {tmp_path}/none: there is no such folder\n"
