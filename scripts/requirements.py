"""Prints the requirements in pyproject.toml for building, for running and for the extras named as arguments."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib


def list_requirements(*extras: str, builds: bool = False, runs: bool = False) -> list[str]:
    """Returns the requirements for building and for running if requested, and those of extras, in a fixed order."""
    settings = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    requirements = list(settings["build-system"]["requires"]) if builds else []
    requirements += project["dependencies"] if runs else []
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    return sorted(set(requirements))


if __name__ == "__main__":
    # One requirement per line, in a fixed order, so that equal sets print equal texts.
    print("\n".join(list_requirements(*sys.argv[1:], builds=True, runs=True)))
