"""Fixtures and hooks that these tests share with those of the array library; fixtures.py defines them."""

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
)
