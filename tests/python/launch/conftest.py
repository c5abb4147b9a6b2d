"""The processes of a job find each other through files in a folder; each test gets its own, which must end empty."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
