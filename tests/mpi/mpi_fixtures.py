"""Fixtures of the MPI tests of all products: `mpiexec -n 4 python -m pytest tests/mpi` tests the array library.

Every rank runs every test and makes the same collective calls; ranks.py merges the reports.  Only rank 0 makes files.
It does so before it calls plait.open, where the other ranks wait for it, so tests need few barriers.
"""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

import numpy as np
from mpi4py import MPI
from nodes import NODE_SIZES, SEVERAL_HOSTS
from ranks import Ranks

import plait

_test_numbers = itertools.count()


@pytest.hookimpl(trylast=True)  # after pytest has registered the reporter that ranks.py silences
def pytest_configure(config):
    ranks = MPI.COMM_WORLD.size
    expected = os.environ.get("PLAIT_TEST_RANKS", str(ranks))
    if int(expected) != ranks:  # the launcher of another MPI starts `expected` separate jobs of one rank each
        raise pytest.UsageError(f"there are {ranks} ranks, not {expected}; is mpiexec that of another MPI?")
    if config.pluginmanager.has_plugin("ranks"):  # another product's conftest.py has registered it
        return
    if MPI.COMM_WORLD.size > 1:
        config.pluginmanager.register(Ranks(), "ranks")
    config.addinivalue_line("markers", "ranks(*numbers): only for these numbers of ranks")
    config.addinivalue_line("markers", "several_ranks: only for more than one rank")
    config.addinivalue_line("markers", "several_hosts: only for ranks on the hosts of scripts/hosts.py")


def pytest_collection_modifyitems(config, items):
    """Deselects tests that are meant for other numbers of ranks or hosts."""
    size = MPI.COMM_WORLD.size

    def can_run(item):
        allowed_ranks = item.get_closest_marker("ranks")
        node_size = getattr(item, "callspec", None) and item.callspec.params.get("node_comm", 0)
        return (
            (allowed_ranks is None or size in allowed_ranks.args)
            and (item.get_closest_marker("several_ranks") is None or size > 1)
            and (item.get_closest_marker("several_hosts") is None or SEVERAL_HOSTS)
            and (node_size or 0) < size
        )

    deselected = [item for item in items if not can_run(item)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if can_run(item)]


@pytest.fixture(scope="session")
def comm():
    """A communicator of all ranks."""
    return MPI.COMM_WORLD.Dup()


@pytest.fixture(scope="session")
def session_folder(comm):
    folder = Path(comm.bcast(tempfile.mkdtemp(prefix="plait-mpi-") if comm.rank == 0 else None))
    yield folder
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(folder)


@pytest.fixture
def shared(comm, session_folder, request):
    """A folder of this test, the same for all ranks.  It exists after the first collective call of the test."""
    folder = session_folder / f"{next(_test_numbers)}-{request.node.originalname}"
    if comm.rank == 0:
        folder.mkdir()
    return folder


@pytest.fixture
def disk(comm):
    """A folder on the local disk of each host, under the same name; ranks on one host share it."""
    name = f"plait-disk-{comm.bcast(os.getpid())}-{next(_test_numbers)}"
    folder = Path("/var/tmp" if SEVERAL_HOSTS else tempfile.gettempdir()) / name
    folder.mkdir(exist_ok=True)
    comm.Barrier()
    yield folder
    comm.Barrier()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=NODE_SIZES)
def node_comm(request, comm):
    """A communicator of all ranks that Plait treats as nodes of as many ranks as the parameter says; 0: real nodes.

    Plait looks for nodes when it uses a communicator for the first time, here in a small redistribution.
    """
    if not request.param:
        yield comm
        return
    os.environ["PLAIT_NODE_SIZE"] = str(request.param)
    new_comm = comm.Dup()
    try:
        plait.redistribute(
            np.zeros(1), *[plait.Layout((new_comm.size,), "(block)", grid=(new_comm.size,))] * 2, new_comm
        )
    finally:
        del os.environ["PLAIT_NODE_SIZE"]
    yield new_comm
    new_comm.Free()


@pytest.fixture(params=(False, True), ids=("one", "striped"))
def striped(request):
    """The option `striped` of shared files: stripes on the disks of all hosts, or one file that all ranks share."""
    return request.param
