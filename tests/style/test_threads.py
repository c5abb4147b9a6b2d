"""ThreadSanitizer tests every layer if both its sources and its tests use threads.

cmake/PlaitTests.cmake lists the layers that ThreadSanitizer leaves out.
"""

import re
from pathlib import Path

from sources import files_with, read

THREADS = re.compile(r"#include <(?:thread|atomic|mutex|shared_mutex|condition_variable|future)>")


def threadless() -> list[str]:
    """The folders of tests/cpp that the list names."""
    match = re.search(r"^set\(threadless ([\w ]+)\)$", read(Path("cmake/PlaitTests.cmake")), re.MULTILINE)
    assert match
    return match.group(1).split()


def test_layers_that_thread_sanitizer_leaves_out_use_no_threads() -> None:
    for folder in threadless():
        sources = [path for path in files_with({".cpp", ".hpp"}, "src") if path.parts[1] == folder]
        tests = [path for path in files_with({".cpp", ".hpp"}, "tests") if path.parts[1:3] == ("cpp", folder)]
        assert sources, f"src/{folder} has no sources"
        assert tests, f"tests/cpp/{folder} has no tests"
        threaded = [str(path) for path in sources if THREADS.search(read(path))]
        threaded_tests = [str(path) for path in tests if THREADS.search(read(path))]
        assert not (threaded and threaded_tests), (
            f"take {folder} off the list in cmake/PlaitTests.cmake; these use threads: {threaded + threaded_tests}"
        )
