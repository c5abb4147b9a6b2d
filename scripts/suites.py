"""Which C++ tests use threads."""

from __future__ import annotations

import re
from pathlib import Path

# What a test that can meet a data race includes.
THREADED = re.compile(
    r'#include [<"](?:thread|atomic|(?:store|transport|collective|access|redistribution|core)/|'
    r"plait/(?:file|redistribute|comm)\.)"
)


def threaded_sources(folder: Path) -> tuple[list[Path], list[str]]:
    """The sources of tests that use threads, and the suites of the others."""
    threaded: list[Path] = []
    others: set[str] = set()
    for source in sorted(folder.rglob("*_test.cpp")):
        text = source.read_text(encoding="utf-8")
        names = re.findall(r'#include "(\w+\.hpp)"', text)
        helpers = [where / name for name in names for where in {source.parent, folder / "support"}]
        whole = text + "".join(helper.read_text(encoding="utf-8") for helper in helpers if helper.exists())
        if THREADED.search(whole):
            threaded.append(source)
        else:
            others.update(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,", text, re.MULTILINE))
    return threaded, sorted(others)
