"""ccache supplies only objects that the compiler would also make: after any change, the compiler runs again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULE = ROOT / "cmake/PlaitCcache.cmake"
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES C)
include("{module}")
add_library(small STATIC small.c)
target_include_directories(small PRIVATE "${{PROJECT_SOURCE_DIR}}/include")
"""

pytestmark = pytest.mark.skipif(
    shutil.which("ccache") is None or shutil.which("cmake") is None or shutil.which("ninja") is None,
    reason="ccache, cmake or ninja is not installed",
)


class Clone:
    """A copy of a small project, which shares a cache with other copies."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "CCACHE_DIR": str(cache)}
        (folder / "include").mkdir(parents=True)
        (folder / "CMakeLists.txt").write_text(PROJECT.format(module=MODULE))
        (folder / "include/small.h").write_text("enum { NUMBER = 1 };\n")
        (folder / "small.c").write_text('#include "small.h"\nint number(void) { return NUMBER; }\n')

    def run(self, *command: str | Path) -> str:
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def build(self, *options: str) -> tuple[int, int]:
        """Build in a new tree, and return the numbers of cache hits and misses."""
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        self.run("ccache", "--zero-stats")
        self.run("cmake", "-S", self.folder, "-B", self.folder / "build", "-G", "Ninja", *options)
        self.run("cmake", "--build", self.folder / "build")
        counts = dict(re.findall(r"^(\w+)\t(\d+)$", self.run("ccache", "--print-stats"), re.MULTILINE))
        hits = int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])
        return hits, int(counts["cache_miss"])


@pytest.fixture
def built_clone(tmp_path: Path) -> Clone:
    """Return a clone that has been built, so that the cache has its object."""
    clone = Clone(tmp_path / "first", tmp_path / "cache")
    assert clone.build() == (0, 1)
    return clone


def test_equal_builds_in_any_folder_hit_the_cache(built_clone: Clone, tmp_path: Path) -> None:
    assert built_clone.build() == (1, 0)
    assert Clone(tmp_path / "deeper/second", tmp_path / "cache").build() == (1, 0)


def test_a_changed_header_misses_the_cache(built_clone: Clone) -> None:
    (built_clone.folder / "include/small.h").write_text("enum { NUMBER = 2 };\n")
    assert built_clone.build() == (0, 1)


def test_a_changed_flag_misses_the_cache(built_clone: Clone) -> None:
    assert built_clone.build("-DCMAKE_C_FLAGS=-O1") == (0, 1)


def test_a_changed_compiler_misses_the_cache(built_clone: Clone, tmp_path: Path) -> None:
    """The compiler has the same name and time, but other contents."""
    compiler = tmp_path / "compiler"
    real = shutil.which("cc")
    for contents, expected in (("# one", (0, 1)), ("# one", (1, 0)), ("# two", (0, 1))):
        compiler.write_text(f'#!/bin/sh\n{contents}\nexec {real} "$@"\n')
        compiler.chmod(0o755)
        os.utime(compiler, (1, 1))
        assert built_clone.build(f"-DCMAKE_C_COMPILER={compiler}") == expected


def test_a_build_without_ccache_uses_no_cache(built_clone: Clone) -> None:
    assert built_clone.build("-DPLAIT_CCACHE=OFF") == (0, 0)
