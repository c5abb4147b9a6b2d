"""The fixtures that the MPI tests of all products share (mpi_fixtures.py)."""

from mpi_fixtures import (  # noqa: F401
    comm,
    disk,
    node_comm,
    pytest_collection_modifyitems,
    pytest_configure,
    session_folder,
    shared,
    striped,
)
