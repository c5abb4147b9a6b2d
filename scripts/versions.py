"""The copies of the version in pyproject.toml: files that other programs read without building Plait."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).parent.parent
COPIES = {
    "bench/pyproject.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r'^  version: "(.+)"$',
    "packaging/README.md": r"`spack dev-build plait@([\d.]+)`",
    "packaging/spack/packages/plait/package.py": r'^    version\("(.+)"\)$',
    "packaging/spack/packages/py_plait/package.py": r'^    version\("(.+)"\)$',
}
"""Files with a copy of the version, and the pattern of the line that has it."""


def version(root: Path = ROOT) -> str:
    """Returns the version of the project."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(settings["project"]["version"])


def find_differences(root: Path = ROOT) -> list[str]:
    """Returns a line for each copy that differs from the version, which states what to change."""
    expected = version(root)
    differences = []
    for name, pattern in COPIES.items():
        copies = re.findall(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not copies:
            differences.append(f"{name} has no version; expected {expected}")
        differences += [f"{name} has version {copy}; expected {expected}" for copy in copies if copy != expected]
    return differences
