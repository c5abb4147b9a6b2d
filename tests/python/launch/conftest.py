"""The processes of a job find each other through files in a folder; each test gets its own, which must end empty."""

import pytest


@pytest.fixture(autouse=True)
def _use_own_meeting_folder(meeting_folder):
    pass
