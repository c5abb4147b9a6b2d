"""Pipes between hosts that scripts/hosts.py creates: the bytes on the network, and the effects of network failures."""

import random
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from launching import needs_mpi
from several_hosts_here import needs_hosts, needs_hosts_and_mpi, run_hosts_script

STORM = Path(__file__).parents[2] / "stress/pipe_storm.py"


@needs_hosts_and_mpi
@needs_mpi
@pytest.mark.long
def test_pipes_between_hosts_survive_lost_links_and_report_lost_hosts():
    """Every byte arrives; ranks wait for a link that recovers; all ranks get an error about a lost host within 30 s."""

    def run_storm(fault):
        options = ["--seed", random.randrange(1 << 20), "--hosts", 3, "--fault", fault, "--here"]
        return run_hosts_script("exec", "--hosts", 3, "--", sys.executable, STORM, *options, seconds=400)

    with ThreadPoolExecutor() as pool:  # the programs mostly wait
        for result in pool.map(run_storm, ["none", "flap", "cut"]):
            assert result.returncode == 0, result.stdout + result.stderr


LONG_WRITES = """
import sys
import numpy as np
import plait

array = np.arange(700_000, dtype="i4")
layout = plait.Layout(array.shape, "(cyclic(5))", grid=(2,))
with plait.open(sys.argv[1], "w", shape=array.shape, dtype="i4") as file:
    for step in range(2):
        file.write([array[layout.indices(rank)[0]] + step for rank in range(2)], layout)
print("written")
"""
LONG_READS = """
import sys
import numpy as np
import plait

owners = np.random.default_rng(1).integers(0, 3, 700_000)
layout = plait.Layout((700_000,), [plait.indirect(owners)], grid=(3,))
assert len(str(layout)) > 1 << 20
with plait.open(sys.argv[1] + "&casting=safe", dtype="f8") as file:
    for step in file:
        text = file.explain(layout)
        assert "6 messages, 2.7 MiB" in text and "0 B out of memory of this host, 2.7 MiB over" in text, text
        for rank, local in enumerate(file.read(layout)):
            np.testing.assert_array_equal(local, np.flatnonzero(owners == rank) + float(step.number))
        arrays = file.read(plait.Layout((70_000,), "(cyclic)", grid=(200,)), region=np.s_[3::10])
        for rank, local in enumerate(arrays):
            np.testing.assert_array_equal(local, np.arange(3, 700_000, 10)[rank::200] + step.number)
print("read")
"""
WRITES = """
import sys
import numpy as np
import plait

with plait.open(sys.argv[1], "w", shape=(1000, 300), dtype="i4") as file:
    for step in range(3):
        file.write(np.arange(300_000, dtype="i4").reshape(1000, 300) + step)
print("written")
"""
READS = """
import sys
import numpy as np
import plait

layout = plait.Layout((1000, 300), "(cyclic(7), *) onto (2)")
try:
    with plait.open(sys.argv[1]) as file:
        for step in file:
            array = np.arange(300_000, dtype="i4").reshape(1000, 300) + step.number
            for rank, local in enumerate(file.read(layout)):
                np.testing.assert_array_equal(local, array[np.ix_(*layout.indices(rank))])
    print("read")
except plait.StoreError as error:
    print(f"reported: {error}")
"""


def run_on_two_hosts(folder, url, before="true", programs=(WRITES, READS)):
    """Return the output of a writer and a reader on two hosts.

    before  commands that are run on the writer's host, and then on the reader's with the variable `two` set
    """
    (folder / "w.py").write_text(programs[0])
    (folder / "r.py").write_text(programs[1])
    writer, reader = (shlex.join([sys.executable, str(folder / name), url]) for name in ("w.py", "r.py"))
    before = before.strip()
    script = f"""
        on-host host1 {shlex.quote("two=1; " + before)}
        on-host host0 {shlex.quote(f"two=; {before}; exec {writer}")} &
        on-host host1 {shlex.quote(f"exec {reader}")}
        wait
    """
    result = run_hosts_script("exec", "--hosts", 2, "--", "sh", "-uc", script)
    return result.stdout + result.stderr


@needs_hosts
@pytest.mark.sampled(1)
@pytest.mark.parametrize("network", ["", "&network=eth0", "&network=10.77.0.0/24", "&network=eth0&ports=4700-4710"])
def test_the_network_is_selected(tmp_path, network):
    output = run_on_two_hosts(tmp_path, f"pipe:flow?timeout=20{network}")
    assert "written" in output, output
    assert "read" in output, output


@needs_hosts
@pytest.mark.long
def test_long_layouts_many_requests_and_conversions_work_between_hosts(tmp_path):
    """A layout of more than 1 MiB of text is sent in parts, and 400 requests are sent a few at a time."""
    output = run_on_two_hosts(tmp_path, "pipe:flow?timeout=20", programs=(LONG_WRITES, LONG_READS))
    assert "written" in output, output
    assert "read" in output, output


# scripts/hosts.py disables IPv6 and assigns IPv4 addresses.
ENABLE_IPV6 = """
for name in all default eth0; do echo 0 >/proc/sys/net/ipv6/conf/$name/disable_ipv6; done
ip -6 addr add fd77::${two:-0}1/64 dev eth0 nodad || echo no version 6
"""


@needs_hosts
@pytest.mark.long
def test_ipv6_addresses_are_used(tmp_path):
    output = run_on_two_hosts(tmp_path, "pipe:flow?timeout=20&network=fd77::/16", ENABLE_IPV6)
    if "no version 6" in output or "Directory nonexistent" in output:
        pytest.skip("no IPv6 here")
    assert "written" in output, output
    assert "read" in output, output


@needs_hosts
@pytest.mark.long
def test_an_unreachable_address_is_named(tmp_path):
    """If there is another address, it is used."""
    setup = '[ -n "$two" ] || ip addr add 192.168.77.1/24 dev eth0'
    # The timeout exceeds the 9 s for which a lost network may return.
    output = run_on_two_hosts(tmp_path, "pipe:flow?timeout=12&network=192.168.77.1", setup)
    assert "reported: pipe:flow?timeout=12&network=192.168.77.1: cannot reach the writer, python (process " in output, (
        output
    )
    assert "tcp:192.168.77.1:" in output, output
    assert "Network is unreachable" in output, output
    assert "no reader has come within 12 s" in output, output
    output = run_on_two_hosts(tmp_path, "pipe:flow?timeout=20", setup)
    assert "written" in output, output
    assert "read" in output, output
