"""Reading and writing traces from Python."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import plait
from plait import trace


def make_events(count, seed=0):
    """Return events in the order of their starts, with values of all sizes."""
    random = np.random.default_rng(seed)
    events = np.zeros(count, trace.EVENT)
    events["start"] = np.cumsum(random.integers(0, 5000, count)) - 1000
    events["duration"] = random.integers(-1, 1000, count)
    events["cpu"] = random.integers(-1, 1 << 40, count)
    for field in ("offset", "length", "result"):
        events[field] = random.integers(-(1 << 63), 1 << 63, count, dtype="i8")
    events["operation"] = random.integers(0, 1 << 64, count, dtype="u8")
    events["process"] = random.integers(1, 4, count)
    events["thread"] = random.integers(0, 1 << 32, count, dtype="u4")
    events["file"] = random.integers(0, 50, count)
    events["kind"] = random.integers(0, len(trace.Kind), count)
    events["interface"] = random.integers(0, len(trace.Interface), count)
    events["flags"] = random.integers(0, 1 << 16, count)
    return events


def test_event_has_the_layout_of_the_core():
    assert trace.EVENT.itemsize == 72
    assert [trace.EVENT.fields[name][1] for name in ("start", "operation", "process", "kind", "flags")] == [
        0,
        48,
        56,
        68,
        70,
    ]


@pytest.mark.parametrize("count", [0, 1, 70000, 200000])
def test_written_events_are_read(tmp_path, count):
    path = tmp_path / "t.plait"
    events = make_events(count)
    missed = [trace.MissedCalls("lost on the way", 3, 10, 20), trace.MissedCalls("more")]
    with trace.create(path) as writer:
        writer.add_process(1, rank=2, host="node", command="a.out é", cpu=5)
        writer.add_process(2, parent=1)
        writer.add_file(1, 7, "/data/in\udcff")
        writer.write(events[: count // 2])
        writer.write(events[count // 2 :])
        writer.finish(zero=123, tick=10, complete=False, missed=missed, notes=["a note"])
    with trace.open(path) as opened:
        batches = list(opened)
        assert all(len(batch) for batch in batches)
        actual = np.concatenate(batches) if batches else np.empty(0, trace.EVENT)
        assert actual.dtype == trace.EVENT
        assert np.array_equal(actual, events)
        assert len(opened.read(5)) == 0
        progress = opened.progress
        assert progress[0] == progress[1] == path.stat().st_size
    assert opened.description == trace.Description(
        format="plait",
        zero=123,
        tick=10,
        complete=False,
        processes=[trace.Process(1, 0, 2, "node", "a.out é", 5), trace.Process(2, 1)],
        files=[trace.TracedFile(1, 7, "/data/in\udcff")],
        missed=missed,
        notes=["a note"],
    )
    assert opened.processes == opened.description.processes
    assert opened.files == opened.description.files
    assert opened.missed == missed
    assert opened.notes == ["a note"]


def test_reading_in_parts(tmp_path):
    path = tmp_path / "t.plait"
    events = make_events(1000)
    with trace.create(path) as writer:
        writer.write(events)
    with trace.open(path) as opened:
        assert np.array_equal(opened.read(10), events[:10])
        assert len(opened.read(0)) == 0
        assert np.array_equal(opened.read(), events[10:])
        with pytest.raises(plait.ArgumentError, match="cannot read -1 events"):
            opened.read(-1)


def test_a_stretch_of_time(tmp_path):
    path = tmp_path / "t.plait"
    events = make_events(300000)
    with trace.create(path) as writer:
        writer.write(events)
    start = events["start"]
    for begin, end in [
        (start[1000], start[1500]),
        (None, start[20]),
        (start[-20], None),
        (start[-1] + 1, None),
        (5, 5),
    ]:
        expected = events[
            (start >= (start[0] if begin is None else begin)) & (start < (start[-1] + 1 if end is None else end))
        ]
        with trace.open(path, begin=begin, end=end) as opened:
            assert np.array_equal(opened.read(), expected)


def test_coverage_counts_one_level(tmp_path):
    path = tmp_path / "t.plait"
    events = np.zeros(4, trace.EVENT)
    events["kind"] = [trace.Kind.READ, trace.Kind.READ, trace.Kind.WRITE, trace.Kind.OPEN]
    events["result"] = [100, 100, 50, 7]
    events["flags"] = [trace.Flag.LOGICAL, 0, trace.Flag.LOGICAL, trace.Flag.LOGICAL]
    with trace.create(path) as writer:
        writer.write(events)
        writer.finish(missed=[trace.MissedCalls("lost", 1, 30, 20)])
    with trace.open(path) as opened:
        with pytest.raises(plait.Error, match="read the trace first"):
            _ = opened.coverage
        opened.read()
        assert opened.coverage == trace.Coverage(4 / 5, 150 / 200)
    with trace.create(path) as writer:
        writer.write(events)
    with trace.open(path) as opened:
        opened.read()
        assert opened.coverage == (1, 1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_compressed_traces_are_unpacked(tmp_path, how):
    path = tmp_path / "t.plait"
    events = make_events(200000)
    descriptors = len(os.listdir("/dev/fd"))
    with trace.create(path) as writer:
        writer.write(events)
    if how == "gzip":
        packed = gzip.compress(path.read_bytes(), 1)
    else:
        packed = pytest.importorskip("zstandard", reason="zstandard is not installed").compress(path.read_bytes())
    other = tmp_path / "packed"  # the format does not depend on the name
    other.write_bytes(packed)
    with trace.open(other) as opened:
        assert np.array_equal(opened.read(), events)
        assert opened.description.complete
    other.write_bytes(packed[: len(packed) // 2])
    with trace.open(other) as opened:
        actual = opened.read()
        assert 0 < len(actual) < len(events)
        assert np.array_equal(actual, events[: len(actual)])
    assert not opened.description.complete
    assert any("in part only" in note or "cut" in note for note in opened.notes)
    threads = threading.active_count()
    with trace.open(other) as opened:  # not read to its end
        opened.read(1)
    assert threading.active_count() <= threads
    assert len(os.listdir("/dev/fd")) <= descriptors + 2


def test_standard_input(tmp_path):
    path = tmp_path / "t.plait"
    with trace.create(path) as writer:
        writer.write(make_events(1000))
    program = "import plait.trace; print(len(plait.trace.open('-').read()))"
    with path.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", program], stdin=file, capture_output=True, check=True)
    assert done.stdout == b"1000\n"
    feeder = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
    done = subprocess.run([sys.executable, "-c", program], stdin=feeder.stdout, capture_output=True, check=True)
    feeder.wait()
    assert done.stdout == b"1000\n"


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(plait.StoreError, match="missing"):
        trace.open(tmp_path / "missing")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(plait.ArgumentError, match="empty"):
        trace.open(tmp_path / "empty")
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"\x00\x01\x02"))
    with pytest.raises(plait.ArgumentError, match=r"other\.gz"):
        trace.open(tmp_path / "other.gz")
    with pytest.raises(plait.ArgumentError, match=rf"the trace {tmp_path}/other\.gz;"):
        trace.report(tmp_path / "other.gz")
    with pytest.raises(plait.ArgumentError, match="there is no trace format 'nonsense'"):
        trace.open(tmp_path / "empty", "nonsense")
    with pytest.raises(plait.ArgumentError, match="does not tell the trace's format"):
        trace.create(tmp_path / "name")
    with pytest.raises(plait.ArgumentError, match="a separator is one character"):
        trace.create(tmp_path / "name.plait", separator="::")
    writer = trace.create(tmp_path / "t.plait")
    bad = np.zeros(1, trace.EVENT)
    bad["kind"] = 99
    with pytest.raises(plait.ArgumentError, match="kind is 99"):
        writer.write(bad)
    writer.close()
    with pytest.raises(plait.ArgumentError, match="finished or closed"):
        writer.write(bad)
    assert not (tmp_path / "t.plait").exists()


def test_no_trace_appears_after_an_error(tmp_path):
    path = tmp_path / "t.plait"

    def fail():
        with trace.create(path) as writer:
            writer.write(make_events(10))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_closed_trace_keeps_its_description(tmp_path):
    path = tmp_path / "t.plait"
    with trace.create(path) as writer:
        writer.add_process(3)
    opened = trace.open(path)
    opened.close()
    opened.close()
    assert opened.processes == [trace.Process(3)]
    with pytest.raises(plait.ArgumentError, match="closed"):
        opened.read()


def test_other_threads_run_while_a_trace_is_read(tmp_path):
    """A reader that waits for a pipe must not hold the interpreter's lock."""
    path = tmp_path / "t.plait"
    with trace.create(path) as writer:
        writer.write(make_events(10))
    end, feeder = os.pipe()

    def write_late():
        with open(feeder, "wb") as pipe:
            shutil.copyfileobj(io.BytesIO(path.read_bytes()), pipe)

    thread = threading.Timer(0.1, write_late)
    thread.start()
    with trace.open(f"/dev/fd/{end}") as opened:
        assert len(opened.read()) == 10
    thread.join()
    os.close(end)
