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
    """The ranks of this host, from what all say of themselves."""
    everyone = comm.allgather(socket.gethostname())
    assert set(everyone) <= set(HOSTS)
    assert len(set(everyone)) > 1
    return [rank for rank, host in enumerate(everyone) if host == everyone[comm.rank]]


def check_who_sees(comm, mates, folder):
    """Expects that what a rank makes in a folder is there for its host alone."""
    path = Path(folder) / f"plait-rank-{comm.rank}"
    path.write_bytes(b"here")
    comm.Barrier()
    seen = [rank for rank in range(comm.size) if (Path(folder) / f"plait-rank-{rank}").exists()]
    comm.Barrier()
    path.unlink()
    assert seen == mates


def test_mpi_takes_each_host_for_a_node(comm, mates):
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    assert node.allgather(comm.rank) == mates
    node.Free()


def test_plait_takes_each_host_for_a_node(comm, mates, shared):
    layout = plait.Layout((64, 16), "(*, cyclic)", grid=(comm.size,))
    with plait.open(shared / "a.npy", "w", comm=comm, shape=(64, 16), dtype="f8", strategy="two-phase") as file:
        assert "packed messages between nodes" in file.explain(layout)
    # Arrays that the ranks of a node share are mapped by those alone.
    layout = plait.Layout((comm.size, 8), "(block, *)", grid=(comm.size,))
    mine = plait.empty(layout, "f8", comm)
    mine[...] = comm.rank
    turned = plait.Layout((comm.size, 8), "(*, cyclic)", grid=(comm.size,))
    found = plait.redistribute(mine, layout, turned, comm)
    expected = np.repeat(np.arange(comm.size, dtype="f8")[:, None], turned.local_shape(comm.rank)[1], axis=1)
    np.testing.assert_array_equal(found, expected)


def test_large_distant_requests_between_hosts(comm):
    folder = os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep)[0]
    size = 5_000_001
    with distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm, temporary=True) as file:
        for to in range(comm.size):
            file.write(comm.rank * size, np.full(size, comm.rank, np.uint8), to)
        comm.Barrier()
        for at in range(comm.size):
            for by in range(comm.size):
                found = file.read(by * size, np.empty(size, np.uint8), at)
                assert (found == by).all()
        comm.Barrier()


def test_shared_memory_ends_at_the_host(comm, mates):
    check_who_sees(comm, mates, "/dev/shm")


def test_each_host_has_disks_of_its_own(comm, mates):
    for folder in os.environ["PLAIT_HOSTS_LOCAL"].split(os.pathsep):
        check_who_sees(comm, mates, folder)


def test_other_folders_are_the_same_for_all(comm, mates, shared):
    comm.Barrier()
    check_who_sees(comm, list(range(comm.size)), shared)
