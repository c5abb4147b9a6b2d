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
def ranks_on_this_host(comm):
    """The ranks on this host, from the host names of all ranks."""
    everyone = comm.allgather(socket.gethostname())
    assert set(everyone) <= set(HOSTS)
    assert len(set(everyone)) > 1
    return [rank for rank, host in enumerate(everyone) if host == everyone[comm.rank]]


def check_ranks_that_see(comm, ranks_on_this_host, folder):
    """Expects that only the given ranks see a file that this rank makes in a folder."""
    path = Path(folder) / f"plait-rank-{comm.rank}"
    path.write_bytes(b"here")
    comm.Barrier()
    seen = [rank for rank in range(comm.size) if (Path(folder) / f"plait-rank-{rank}").exists()]
    comm.Barrier()
    path.unlink()
    assert seen == ranks_on_this_host


def test_mpi_treats_each_host_as_a_node(comm, ranks_on_this_host):
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    assert node.allgather(comm.rank) == ranks_on_this_host
    node.Free()


def test_plait_treats_each_host_as_a_node(comm, ranks_on_this_host, shared):
    layout = plait.Layout((64, 16), "(*, cyclic)", grid=(comm.size,))
    with plait.open(shared / "a.npy", "w", comm=comm, shape=(64, 16), dtype="f8", strategy="two-phase") as file:
        assert "packed messages between nodes" in file.explain(layout)
    # Only the ranks of one node map the arrays that they share.
    layout = plait.Layout((comm.size, 8), "(block, *)", grid=(comm.size,))
    local = plait.empty(layout, "f8", comm)
    local[...] = comm.rank
    columns = plait.Layout((comm.size, 8), "(*, cyclic)", grid=(comm.size,))
    actual = plait.redistribute(local, layout, columns, comm)
    expected = np.repeat(np.arange(comm.size, dtype="f8")[:, None], columns.local_shape(comm.rank)[1], axis=1)
    np.testing.assert_array_equal(actual, expected)


def test_large_distant_requests_between_hosts(comm):
    folder = os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep)[0]
    size = 5_000_001
    with distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm, temporary=True) as file:
        for server in range(comm.size):
            file.write(comm.rank * size, np.full(size, comm.rank, np.uint8), server)
        comm.Barrier()
        for server in range(comm.size):
            for writer in range(comm.size):
                actual = file.read(writer * size, np.empty(size, np.uint8), server)
                assert (actual == writer).all()
        comm.Barrier()


def test_hosts_do_not_share_memory(comm, ranks_on_this_host):
    check_ranks_that_see(comm, ranks_on_this_host, "/dev/shm")


def test_hosts_do_not_share_local_disks(comm, ranks_on_this_host):
    for folder in os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep):
        check_ranks_that_see(comm, ranks_on_this_host, folder)


def test_all_hosts_share_other_folders(comm, ranks_on_this_host, shared):
    comm.Barrier()
    check_ranks_that_see(comm, list(range(comm.size)), shared)
