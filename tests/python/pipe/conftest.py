"""Writers and readers of pipes find each other through files in a folder; each test gets a folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def _use_own_meeting_folder(meeting_folder):
    pass
