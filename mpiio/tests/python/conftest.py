"""What the tests of MPI-IO share with those of the array library."""

from fixtures import (  # noqa: F401
    _examples,
    _no_settings_from_outside,
    effort,
    pytest_collection_modifyitems,
    pytest_pycollect_makeitem,
)
