"""Prints what pyproject.toml requires for building, for running and for the extras named as arguments, one a line."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib


def main() -> None:
    """Prints them in a fixed order, so that the text can stand for the set."""
    settings = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    requirements = settings["build-system"]["requires"] + project["dependencies"]
    for extra in sys.argv[1:]:
        requirements += project["optional-dependencies"][extra]
    print("\n".join(sorted(set(requirements))))


if __name__ == "__main__":
    main()
