"""ThreadSanitizer must test every layer whose sources and tests both use threads.

cmake/PlaitTests.cmake and trace/tests/CMakeLists.txt list the layers that ThreadSanitizer leaves out.
"""

import re
from pathlib import Path

from sources import files_with, path_in_product, read

LISTS = (Path("cmake/PlaitTests.cmake"), Path("trace/tests/CMakeLists.txt"))
THREADS = re.compile(r"#include <(?:thread|atomic|mutex|shared_mutex|condition_variable|future)>")


def list_threadless_folders() -> list[str]:
    """Return the folders of tests/cpp that ThreadSanitizer leaves out."""
    matches = [re.search(r"^set\(threadless ([\w ]+)\)$", read(path), re.MULTILINE) for path in LISTS]
    return [folder for match in matches if match for folder in match.group(1).split()]


def test_layers_that_thread_sanitizer_leaves_out_use_no_threads() -> None:
    assert {"layout", "trace"} <= set(list_threadless_folders())
    for folder in list_threadless_folders():
        sources = [path for path in files_with({".cpp", ".hpp"}, "src") if path_in_product(path).parts[1] == folder]
        tests = [
            path
            for path in files_with({".cpp", ".hpp"}, "tests")
            if path_in_product(path).parts[1:3] == ("cpp", folder)
        ]
        assert sources, f"src/{folder} has no sources"
        assert tests, f"tests/cpp/{folder} has no tests"
        threaded = [str(path) for path in sources if THREADS.search(read(path))]
        threaded_tests = [str(path) for path in tests if THREADS.search(read(path))]
        assert not (threaded and threaded_tests), (
            f"take {folder} off the list; these use threads: {threaded + threaded_tests}"
        )
