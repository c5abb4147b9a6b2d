"""Which C++ tests use threads."""

from __future__ import annotations

import re
from pathlib import Path

# What a test that can meet a data race includes.
THREADED = re.compile(
    r'#include [<"](?:thread|atomic|(?:store|transport|collective|access|redistribution|core)/|'
    r"plait/(?:file|redistribute|comm)\.)"
)


# Libraries beside the core; ThreadSanitizer looks at them once a source of theirs includes one of these headers.
BESIDE = ("trace", "simulation")
THREADS = re.compile(r"#include <(?:thread|atomic|mutex|shared_mutex|condition_variable|future)>")


def threadless(sources: Path) -> tuple[str, ...]:
    """The libraries beside the core that use no threads."""
    return tuple(
        name
        for name in BESIDE
        if not any(
            THREADS.search(path.read_text(encoding="utf-8"))
            for path in [*(sources / name).rglob("*.cpp"), *(sources / name).rglob("*.hpp")]
        )
    )


def threaded_sources(folder: Path) -> tuple[list[Path], list[str]]:
    """The sources of tests that use threads, and the suites of the others."""
    without = threadless(folder.parent.parent / "src")
    threaded: list[Path] = []
    others: set[str] = set()
    for source in sorted(folder.rglob("*_test.cpp")):
        text = source.read_text(encoding="utf-8")
        names = re.findall(r'#include "(\w+\.hpp)"', text)
        helpers = [where / name for name in names for where in {source.parent, folder / "support"}]
        whole = text + "".join(helper.read_text(encoding="utf-8") for helper in helpers if helper.exists())
        if THREADED.search(whole) and source.relative_to(folder).parts[0] not in without:
            threaded.append(source)
        else:
            others.update(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,", text, re.MULTILINE))
    return threaded, sorted(others)
