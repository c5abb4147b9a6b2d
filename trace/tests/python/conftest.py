"""The fixtures that the tests of tracing, simulation and the cost model share with those of the array library."""

from fixtures import (  # noqa: F401
    _examples,
    _no_settings_from_outside,
    effort,
    location,
    meeting_folder,
    nothing_left,
    pytest_collection_modifyitems,
    pytest_pycollect_makeitem,
    s3_server,
    server,
    shared_server,
)
