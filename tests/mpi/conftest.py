"""The fixtures and hooks of mpi_fixtures.py, for the MPI tests of the array library."""

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
