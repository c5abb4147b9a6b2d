"""Hosts that share nothing but a network and some folders are nodes of their own to MPI and to Plait."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI
from nodes import HOSTS

import plait
from plait import distant

pytestmark = pytest.mark.several_hosts


@pytest.fixture
def mates(comm):
    """The ranks on this host, from the host names of all ranks."""
    everyone = comm.allgather(socket.gethostname())
    assert set(everyone) <= set(HOSTS)
    assert len(set(everyone)) > 1
    return [rank for rank, host in enumerate(everyone) if host == everyone[comm.rank]]


def check_who_sees(comm, mates, folder):
    """Expects that exactly the ranks `mates` see a file that this rank makes in a folder."""
    path = Path(folder) / f"plait-rank-{comm.rank}"
    path.write_bytes(b"here")
    comm.Barrier()
    seen = [rank for rank in range(comm.size) if (Path(folder) / f"plait-rank-{rank}").exists()]
    comm.Barrier()
    path.unlink()
    assert seen == mates


def test_mpi_treats_each_host_as_a_node(comm, mates):
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    assert node.allgather(comm.rank) == mates
    node.Free()


def test_plait_treats_each_host_as_a_node(comm, mates, shared):
    layout = plait.Layout((64, 16), "(*, cyclic)", grid=(comm.size,))
    with plait.open(shared / "a.npy", "w", comm=comm, shape=(64, 16), dtype="f8", strategy="two-phase") as file:
        assert "packed messages between nodes" in file.explain(layout)
    # Only the ranks of one node map the arrays that they share.
    layout = plait.Layout((comm.size, 8), "(block, *)", grid=(comm.size,))
    local = plait.empty(layout, "f8", comm)
    local[...] = comm.rank
    turned = plait.Layout((comm.size, 8), "(*, cyclic)", grid=(comm.size,))
    actual = plait.redistribute(local, layout, turned, comm)
    expected = np.repeat(np.arange(comm.size, dtype="f8")[:, None], turned.local_shape(comm.rank)[1], axis=1)
    np.testing.assert_array_equal(actual, expected)


def test_large_distant_requests_between_hosts(comm):
    folder = os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep)[0]
    size = 5_000_001
    with distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm, temporary=True) as file:
        for to in range(comm.size):
            file.write(comm.rank * size, np.full(size, comm.rank, np.uint8), to)
        comm.Barrier()
        for at in range(comm.size):
            for by in range(comm.size):
                actual = file.read(by * size, np.empty(size, np.uint8), at)
                assert (actual == by).all()
        comm.Barrier()


def test_hosts_do_not_share_memory(comm, mates):
    check_who_sees(comm, mates, "/dev/shm")


def test_hosts_do_not_share_local_disks(comm, mates):
    for folder in os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep):
        check_who_sees(comm, mates, folder)


def test_all_hosts_share_other_folders(comm, mates, shared):
    comm.Barrier()
    check_who_sees(comm, list(range(comm.size)), shared)
