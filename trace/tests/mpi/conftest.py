"""What the MPI tests of this product share with the others: mpi_fixtures.py."""

from mpi_fixtures import (  # noqa: F401
    apart,
    comm,
    disk,
    place,
    pytest_collection_modifyitems,
    pytest_configure,
    session_folder,
    shared,
)
