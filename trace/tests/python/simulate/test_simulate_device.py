"""Files on the simulated device: selection by name, durable writes, and volumes with limits."""

import errno
import os
import threading
import time
import types

import pytest
from small_traces import BLOCK, MS, spaced_requests, write_trace

import plait
from plait import simulate, trace
from plait.simulate import _measuring
from plait.simulate._calibrate import _device
from plait.simulate._measuring import DeviceSample, Times
from plait.simulate._run import replay_all
from plait.trace import Flag, Kind

MACHINE = """
[simulate.cache]
size = "1 MiB"
write = "full"
[simulate.device]
kind = "server"
service = "10 ms"
flush = "3 ms"
flush_writes = 1
"""


def make_sample(**changes):
    """Return a possible result of the measurements of a device; `changes` replaces some of its values."""
    times = Times(0.0025, 0.0001, 0.0002, 0.02, 0.03)
    measurements = {
        "call": 1e-6, "copy_rate": 5e9, "switch": 2e-6, "read": times, "write": times, "read_rate": 40e6,
        "write_rate": 30e6, "reads_at_once": 400.0, "writes_at_once": 390.0, "credit": 0.1, "read_unit": 1 << 19,
        "write_unit": 1 << 20,
        "flush": 0.001, "flush_writes": 2, "direct": True,
    }  # fmt: skip
    return DeviceSample(**{**measurements, **changes})


def test_durable_writes_cost_a_flush(tmp_path):
    machine = simulate.parse(MACHINE)
    plain = [(1, 6 * k, 1, Kind.WRITE, k * BLOCK, BLOCK, 0) for k in range(10)]
    durable = [(*request[:6], Flag.DURABLE) for request in plain]
    synced = [*plain, (1, 60, 1, Kind.SYNC, 0, 0, 0)]
    elapsed = {
        name: simulate.run(write_trace(tmp_path / f"{name}.plait", requests), machine)
        for name, requests in (("plain", plain), ("durable", durable), ("synced", synced))
    }
    assert elapsed["plain"].elapsed == pytest.approx(0.045)
    assert elapsed["durable"].elapsed == pytest.approx(0.045 + 10 * (0.010 + 0.010 + 0.003))
    assert elapsed["synced"].elapsed == pytest.approx(0.045 + 0.005 + 0.010 + 0.010 + 0.003)
    assert elapsed["durable"]["devices"][0]["flushes"] == 10
    without_flushes = simulate.run(tmp_path / "durable.plait", machine, flush=0.0, flush_writes=0)
    assert without_flushes.elapsed == pytest.approx(0.045 + 10 * 0.010)
    advice = simulate.advise(tmp_path / "durable.plait", machine)
    flushes = next(change for change in advice.changes if change.what == "no flushes")
    assert flushes.gain == pytest.approx(10 * 0.013)
    assert not [
        change for change in simulate.advise(tmp_path / "plain.plait", machine).changes if change.what == "no flushes"
    ]


def test_a_volume_gives_credit_for_a_while(tmp_path):
    path = write_trace(tmp_path / "read.plait", spaced_requests(50, 4))
    volume = '[simulate.device]\nkind = "volume"\nread_requests = 100\nburst = "{}"\nread_latency = "0 s"'
    # Requests use up credit, which the volume regains while the program computes.
    saved = simulate.run(path, simulate.parse(volume.format("100 ms"))).elapsed
    unsaved = simulate.run(path, simulate.parse(volume.format("0 s"))).elapsed
    assert unsaved == pytest.approx(49 * 0.004 + 50 * 0.010, abs=1e-3)
    assert saved == pytest.approx(49 * 0.010 - 0.100 + 0.010, abs=0.012)


def test_calls_on_other_files_take_their_recorded_time(tmp_path):
    requests = [(1, 10 * k, 2, Kind.READ, k * BLOCK, BLOCK, 0) for k in range(10)]
    requests += [(2, 10 * k + 1, 3, Kind.READ, k * BLOCK, BLOCK, 0) for k in range(10)]
    path = write_trace(tmp_path / "both.plait", requests)
    machine = simulate.parse('[simulate.processors]\ncount = 2\n[simulate.device]\nkind = "server"\nservice = "5 ms"')
    alone = simulate.record(path, file="file1")
    assert (alone.requests, alone.programs) == (10, 2)
    result = simulate.run(alone, machine)
    first, second = result["processes"]
    assert first["end"] == pytest.approx(9 * 0.008 + 10 * 0.005)
    assert second["end"] - second["start"] == pytest.approx(0.093)
    assert result["devices"][0]["reads"] == 10
    assert simulate.record(path).requests == simulate.record(path, file="file*").requests == 20
    with pytest.raises(plait.ArgumentError, match="of files whose names match 'none'"):
        simulate.record(path, file="none")


def test_asynchronous_calls_on_other_files_take_no_time(tmp_path):
    requests = [(1, 10 * k, 8, Kind.READ, k * BLOCK, BLOCK, Flag.ASYNCHRONOUS) for k in range(10)]
    requests.append((2, 0, 1, Kind.READ, 0, BLOCK, 0))
    path = write_trace(tmp_path / "both.plait", requests)
    result = simulate.run(simulate.record(path, file="file2"), "laptop-nvme", measured=True)
    assert result["processes"][0]["end"] == pytest.approx(0.090)


def test_calibration_tells_a_limited_volume_from_an_ssd():
    volume = simulate.parse("[simulate.device]" + _device(make_sample()).split("[simulate.device]")[1])
    assert volume.kind("device") == "volume"
    assert volume.get("device", "read_requests") == 400
    assert volume.get("device", "burst") == pytest.approx(0.1)
    assert volume.get("device", "read_latency") == pytest.approx(0.0001)
    assert volume.get("device", "flush_writes") == 2
    for changes in ({"credit": 0.0}, {"credit": 0.001, "reads_at_once": 4000.0}):
        text = _device(make_sample(**changes))
        machine = simulate.parse("[simulate.device]" + text.split("[simulate.device]")[1])
        assert machine.kind("device") == "ssd"
        assert machine.get("device", "read_latency") == pytest.approx(0.0025 - 4096 / 40e6, rel=1e-3)
        assert "median" in text
        assert "99 %" in text


def test_credit_saved_during_a_pause_is_measured():
    class Volume:
        """A volume that needs 10 ms per request and saves up to 30 ms of credit during pauses."""

        def __init__(self):
            self.clock = self.paid = 0.0

        def ask(self, _):
            self.paid = max(self.paid, self.clock - 0.030) + 0.010
            self.clock = max(self.clock, self.paid)

    volume = Volume()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_measuring.time, "perf_counter", lambda: volume.clock)
        patch.setattr(_measuring.time, "sleep", lambda seconds: setattr(volume, "clock", volume.clock + seconds))
        assert _measuring._measure_credit(volume.ask, 0.010, 10.0) == pytest.approx(0.030, rel=0.1)


def test_a_slow_device_gets_a_smaller_file_and_is_read_within_it(tmp_path, monkeypatch):
    reads = []

    def slow_pwritev(file, parts, offset):
        time.sleep(0.002)
        return os.pwritev(file, parts, offset)

    def watched_preadv(file, parts, offset):
        reads.append((os.preadv(file, parts, offset), sum(memoryview(part).nbytes for part in parts)))
        return reads[-1][0]

    calls = types.SimpleNamespace(**{**vars(os), "pwritev": slow_pwritev, "preadv": watched_preadv})
    monkeypatch.setattr(_measuring, "os", calls)
    measurements = _measuring.measure(tmp_path / "file", 0.02, 256 << 20, lambda *_: None)
    assert (tmp_path / "file").stat().st_size < 128 << 20
    assert measurements.read_rate > 0
    assert {done == requested for done, requested in reads} == {True}


def test_an_exception_in_one_replay_ends_all(tmp_path):
    recording = simulate.record(write_trace(tmp_path / "long.plait", spaced_requests(70_000, 0.001, passes=2)))
    machine = simulate.parse(MACHINE)
    barrier = threading.Barrier(2)

    def stop():
        barrier.wait(300)  # both replays are running
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay_all(recording, [(machine, {}), (machine, {})], 2, None, stop)


@pytest.mark.parametrize("progress", [None, lambda text, share: None])
def test_too_little_memory_is_a_store_error(tmp_path, monkeypatch, progress):
    def without_memory(*_):
        raise MemoryError

    path = write_trace(tmp_path / "read.plait", spaced_requests(3, 1))
    monkeypatch.setattr(simulate._run._simulation, "replay", without_memory)
    with pytest.raises(plait.StoreError, match="there is not enough memory") as raised:
        simulate.run(path, progress=progress)
    assert raised.value.errno == errno.ENOMEM


def test_times_near_the_end_of_the_clock_are_left_out_and_counted(tmp_path):
    path = write_trace(tmp_path / "far.plait", [(1, 0, 1, Kind.READ, 0, BLOCK, 0), (1, 5, 1, Kind.READ, 0, BLOCK, 0)])
    with trace.open(path) as opened:
        events = opened.read()
    events["start"][1] = 2**63 - 5 * MS
    with trace.create(tmp_path / "odd.plait") as writer:
        writer.add_process(1)
        writer.add_file(1, 1, "file")
        writer.write(events)
    recording = simulate.record(tmp_path / "odd.plait")
    assert recording.requests == 1
    assert any("36 years" in note for note in recording.notes)
    assert 0 < simulate.run(recording).elapsed < 1
