"""The folder in which the processes of a job meet: each test has its own, and nothing may be left there."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
