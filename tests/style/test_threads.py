"""ThreadSanitizer runs the tests of every layer that uses threads: the list of others in cmake/PlaitTests.cmake is right."""

import re
from pathlib import Path

from sources import files_with, read

THREADS = re.compile(r"#include <(?:thread|atomic|mutex|shared_mutex|condition_variable|future)>")


def threadless() -> list[str]:
    """The folders of tests/cpp that the list names."""
    found = re.search(r"^set\(threadless ([\w ]+)\)$", read(Path("cmake/PlaitTests.cmake")), re.MULTILINE)
    assert found
    return found.group(1).split()


def test_layers_that_thread_sanitizer_leaves_out_use_no_threads() -> None:
    for folder in threadless():
        paths = [path for path in files_with({".cpp", ".hpp"}, "src") if path.parts[1] == folder]
        assert paths, f"{folder} has no sources"
        threaded = [str(path) for path in paths if THREADS.search(read(path))]
        assert not threaded, f"take {folder} off the list in cmake/PlaitTests.cmake; these use threads: {threaded}"
