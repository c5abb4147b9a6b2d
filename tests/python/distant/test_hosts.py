"""Hosts in network namespaces: private and shared resources, limits, and a complete cleanup."""

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from several_hosts_here import (
    HOSTS,
    hosts_script_output,
    needs_hosts,
    needs_hosts_and_mpi,
    run_hosts_script,
    skip_without,
)

sys.path.append(str(HOSTS.parent))
from several_hosts import launch, spec, state

MB = 10**6


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (spec.size, "64MB", 64 * MB),
        (spec.size, "1GiB", 1 << 30),
        (spec.size, "512", 512),
        (spec.disk_rate, "50MB/s", 50 * MB),
        (spec.disk_rate, "1.5 MiB/s", 3 << 19),
        (spec.link_rate, "100mbit", 100 * MB),
        (spec.link_rate, "1Gbit", 1000 * MB),
        (spec.seconds, "100us", 1e-4),
        (spec.seconds, "2 ms", 2e-3),
    ],
)
def test_units_are_parsed(parse, text, expected):
    assert parse(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parse", "text"),
    [(spec.size, "0"), (spec.size, "-1MB"), (spec.disk_rate, "fast"), (spec.link_rate, "100MB"), (spec.seconds, "3")],
)
def test_invalid_units_are_errors(parse, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}' is not a"):
        parse(text)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["--hosts", "0", "--", "true"], "--hosts is 0; expected 1 to 32"),
        (["--ranks", "0", "--", "true"], "--ranks is 0; expected 1 or more"),
        (["--local", "/no/such", "--", "true"], "'/no/such' is not a folder"),
        (["--link", "5", "--", "true"], "'5' is not a link's rate such as 100mbit"),
    ],
)
def test_wrong_arguments_are_reported(arguments, output):
    result = run_hosts_script("run", *arguments)
    assert result.returncode == 2
    assert output in result.stderr
    assert "Traceback" not in result.stderr


def test_ranks_are_counted_over_all_programs_of_a_job():
    assert launch.count_ranks(["-n", "4", "python", "x"]) == 4
    assert launch.count_ranks(["-n", "1", "a", ":", "-np", "5", "b"]) == 6
    assert launch.count_ranks(["--version"]) == 0


def test_ranks_fill_the_hosts_or_are_distributed():
    assert launch.list_host_slots(spec.Spec(hosts=3), 7) == ["host0:3", "host1:3", "host2:3"]
    assert launch.list_host_slots(spec.Spec(hosts=2, place="cyclic"), 6) == ["host0:1", "host1:1"]


def create_leftovers(folder, name):
    """Create the files of a run that was killed after it had changed a system file whose content was `before`."""
    system = folder / f"{name}.system"
    leftovers = folder / f"plait-hosts-{name}"
    leftovers.mkdir()
    (leftovers / "lock").touch()
    system.write_text("changed")
    (leftovers / "undo.jsonl").write_text(json.dumps([str(system), "before"]) + '\n["cut off')
    return leftovers, system


def test_changes_of_a_killed_run_are_undone(tmp_path):
    dead, changed = create_leftovers(tmp_path, "dead")
    alive, in_use = create_leftovers(tmp_path, "alive")
    (tmp_path / "plait-hosts.txt").touch()
    with (alive / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state.clear_leftovers(tmp_path)
        assert not dead.exists()
        assert changed.read_text() == "before"
        assert alive.is_dir()
        assert in_use.read_text() == "changed"
    state.clear_leftovers(tmp_path)
    assert not alive.exists()
    assert in_use.read_text() == "before"
    assert (tmp_path / "plait-hosts.txt").exists()


def list_leftovers(folder):
    """Return the names of the files that runs left in a temporary folder, and the loop devices on its files."""
    return [path.name for path in folder.glob("plait-hosts-*")], state.find_loop_devices(folder)


def wait_until_gone(mark, seconds=60):
    """Wait until no process has `mark` in its command line, and return whether that was within `seconds`."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
        if not any(mark.encode() in line for line in lines):
            return True
        time.sleep(0.05)
    return False


@needs_hosts
def test_hosts_have_names_and_addresses():
    script = "hostname; for host in host0 host1 host2; do on-host $host 'hostname; ip -o -4 addr show eth0'; done"
    output = hosts_script_output("exec", "--hosts", 3, "--", "sh", "-c", script + "; getent hosts host2")
    assert output.split("\n")[0] == "head"
    assert re.findall(r"^host\d$", output, re.MULTILINE) == ["host0", "host1", "host2"]
    addresses = re.findall(r"inet (\S+)/24", output)
    assert len(set(addresses)) == 3
    assert re.search(rf"^{re.escape(addresses[2])}\s+host2$", output, re.MULTILINE)


@needs_hosts
def test_the_network_of_the_machine_is_unreachable():
    output = hosts_script_output("exec", "--", "sh", "-c", "ip -o link; ip route; on-host host1 'ip -o link; ip route'")
    devices = {name.split("@")[0] for name in re.findall(r"^\d+: (\S+):", output, re.MULTILINE)}
    assert devices - {"ifb0", "ifb1", "tunl0", "sit0"} == {"lo", "br0", "to-host0", "to-host1", "eth0"}
    assert not re.search("^default", output, re.MULTILINE)


@needs_hosts
def test_private_and_shared_resources_of_hosts(tmp_path, monkeypatch):
    base = tmp_path / "own"  # hosts of other tests may run at the same time
    base.mkdir()
    monkeypatch.setenv("TMPDIR", str(base))
    script = f"""
for folder in /var/tmp /dev/shm {tmp_path}; do
  on-host host0 "echo mine >$folder/plait-seen-by"
  on-host host1 "cat $folder/plait-seen-by 2>/dev/null || echo nothing in $folder"
  on-host host0 "cat $folder/plait-seen-by; rm $folder/plait-seen-by"
done
on-host host1 'find "${{TMPDIR:-/tmp}}"/plait-hosts-*/disks -mindepth 1'
"""
    output = hosts_script_output("exec", "--", "sh", "-c", script).split("\n")
    assert output == ["nothing in /var/tmp", "mine", "nothing in /dev/shm", "mine", "mine", "mine", ""]


@needs_hosts
def test_chosen_folders_are_private_or_shared(tmp_path):
    local, shared = tmp_path / "local", tmp_path / "local" / "deep" / "shared"
    shared.mkdir(parents=True)
    (local / "hidden").touch()
    script = f"""
on-host host0 'echo a >{local}/a; echo b >{shared}/b'
on-host host1 'find {local} -type f; cat {shared}/b'
"""
    output = hosts_script_output("exec", "--local", local, "--shared", shared, "--", "sh", "-c", script).split()
    assert output == [f"{shared}/b", "b"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["b", "hidden"]


@needs_hosts
@pytest.mark.long
def test_the_exit_status_is_that_of_the_command():
    assert run_hosts_script("exec", "--", "sh", "-c", "exit 7").returncode == 7
    assert run_hosts_script("exec", "--", "sh", "-c", "kill -9 $$").returncode == 137
    result = run_hosts_script("exec", "--", "no-such-program")
    assert (result.returncode, result.stderr) == (127, "hosts: no-such-program: No such file or directory\n")
    result = run_hosts_script("exec", "--", "on-host", "host7", "true")
    assert result.returncode == 2
    assert "there is no host 'host7'; there are: host0 host1" in result.stderr


@needs_hosts
@pytest.mark.sampled(1)
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_remains_after_a_run(signal_number, tmp_path):
    mark = f"plait-mark-{os.getpid()}-{int(signal_number)}"
    # A process of a host that ignores signals, so that only removing the host ends it.
    script = f"trap '' INT TERM HUP; echo here >{tmp_path}/there; exec -a {mark} sleep 600"
    (tmp_path / "script").write_text(script + "\n")
    command = [sys.executable, HOSTS, "exec", "--", "on-host", "host1", f"exec bash {tmp_path}/script"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    # The process that runs the tests may ignore signals, as background jobs of a shell do.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    limit = time.monotonic() + 180
    while not (tmp_path / "there").exists():
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.05)
    assert list_leftovers(tmp_path)[0]
    process.send_signal(signal_number)
    status = process.wait(timeout=300)
    assert status == (-signal_number if signal_number == signal.SIGKILL else 128 + signal_number)
    assert wait_until_gone(mark)
    if signal_number == signal.SIGKILL:
        hosts_script_output(
            "exec", "--", "true", environment=environment
        )  # the next start removes the leftovers of this run
    assert list_leftovers(tmp_path) == ([], [])


# Prints the seconds of a round trip of 1 byte, and the bytes per second of a round trip of sys.argv[1] bytes.
TRANSFER = """
import socket, sys, time
from mpi4py import MPI
import numpy as np
comm = MPI.COMM_WORLD
byte, large = np.zeros(1, "u1"), np.zeros(int(sys.argv[1]), "u1")

def measure_round_trip(array, count):
    comm.Barrier()
    begin = time.perf_counter()
    for _ in range(count):
        for sender in range(2):
            comm.Send(array, 1 - sender) if comm.rank == sender else comm.Recv(array, sender)
    return (time.perf_counter() - begin) / count

measure_round_trip(byte, 3)  # connects the ranks
trip = min(measure_round_trip(byte, 1) for _ in range(20))
if comm.rank == 0:
    print(trip, 2 * large.nbytes / measure_round_trip(large, 1))
else:
    measure_round_trip(large, 1)
"""


def measure_link(size, *limits):
    """Return the seconds of a round trip and the bytes per second between two hosts with such links."""
    output = hosts_script_output("run", "--ranks", 2, *limits, "--", sys.executable, "-c", TRANSFER, size)
    return [float(word) for word in output.split()]


@skip_without("link rates")
@needs_hosts_and_mpi
@pytest.mark.long
def test_links_have_the_requested_rate():
    _, rate = measure_link(3 * MB, "--link", "80mbit")
    assert MB < rate < 10.5 * MB  # 10 MB/s; a busy machine may be slower


@skip_without("link rates", "link delays")
@needs_hosts_and_mpi
def test_links_have_the_requested_delay():
    trip, rate = measure_link(2 * MB, "--link", "80mbit", "--delay", "3ms")
    assert 0.006 <= trip < 1
    assert MB < rate < 10.5 * MB


@skip_without("disk rates")
@pytest.mark.long
def test_disks_have_the_requested_rate():
    # Direct writes, synced writes through the page cache, and direct reads, by both hosts at once.
    script = """
for host in host0 host1; do
  on-host $host 'cd /var/tmp; exec 2>&1
    for mode in oflag=direct conv=fsync; do dd if=/dev/zero of=data bs=1M count=16 $mode; done
    dd if=data of=/dev/null bs=1M iflag=direct' &
done
wait
"""
    output = hosts_script_output("exec", "--disk", "40MB/s", "--", "sh", "-c", script)
    seconds = [float(text) for text in re.findall(r"copied, ([\d.e-]+) s", output)]
    assert len(seconds) == 6
    # The kernel lets an idle disk transfer the bytes of 0.1 s without a delay.
    assert min(seconds) > 0.95 * (16 * 1.048576 / 40 - 0.1), output
    assert sum(seconds) > 0.95 * 6 * (16 * 1.048576 / 40) - 2 * 0.1, output
    assert max(seconds) < 60


@skip_without("disk sizes")
def test_disks_have_the_requested_size(tmp_path):
    fill = "dd if=/dev/zero of=/var/tmp/data bs=1M count"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    script = f"on-host host0 {fill}=64; on-host host1 {fill}=16"
    result = run_hosts_script("exec", "--disk-size", "32MB", "--", "sh", "-c", script, environment=environment)
    assert result.stderr.count("No space left on device") == 1
    assert result.returncode == 0
    assert list_leftovers(tmp_path) == ([], [])


@needs_hosts_and_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("place", "hosts"), [("block", [0, 0, 1, 1]), ("cyclic", [0, 1, 0, 1])])
def test_ranks_are_placed(place, hosts):
    script = "import os, socket; from mpi4py import MPI; "
    script += "os.write(1, f'{MPI.COMM_WORLD.rank} {socket.gethostname()}\\n'.encode())"
    output = hosts_script_output("run", "--ranks", 4, "--place", place, "--", sys.executable, "-c", script)
    assert sorted(output.split("\n")[:-1]) == [f"{rank} host{host}" for rank, host in enumerate(hosts)]
