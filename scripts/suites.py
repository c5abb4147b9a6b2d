"""Which C++ tests use threads."""

from __future__ import annotations

import re
from pathlib import Path

# What a test that can meet a data race includes.
THREADED = re.compile(
    r'#include [<"](?:thread|atomic|store/|transport/|engine/|file/|plait/(?:file|redistribute|comm)\.)'
)


def threaded_suites(folder: Path) -> tuple[list[str], list[str]]:
    """The test suites that use threads, and the others."""
    threaded: set[str] = set()
    others: set[str] = set()
    for source in folder.glob("*_test.cpp"):
        text = source.read_text(encoding="utf-8")
        suites = re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,", text, re.MULTILINE)
        helpers = [folder / name for name in re.findall(r'#include "(\w+\.hpp)"', text)]
        whole = text + "".join(helper.read_text(encoding="utf-8") for helper in helpers if helper.exists())
        (threaded if THREADED.search(whole) else others).update(suites)
    return sorted(threaded), sorted(others - threaded)
