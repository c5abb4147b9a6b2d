"""The checklist of a release: checks the requirements and builds the archives and wheels, without publishing them.

usage: python scripts/release.py [--no-build]      `make release` runs it; --no-build checks the texts only

1. The version is the same in every file that has it.
2. CHANGELOG.md has a section for it, with a date.
3. All changes are committed.
4. The source archives of plait and plait-bench are built, and contain all files that the build has read.
5. The wheels are built (scripts/wheel.py): for MPICH, Open MPI and no MPI, and for the Pythons on this machine.
6. The wheel is tried in a separate root, which has the system's libraries and Python but neither this checkout nor
   files of this user: alone, under MPICH and under Open MPI, each from its Python package.

The end of the output lists what must still be done before publishing. The status is 1 if a check fails.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

from versions import ROOT, find_differences, version
from wheels.logged import FailedError, Log
from wheels.trial import try_wheels_in_root

DIST = ROOT / ".plait/dist"
RELEASE = ROOT / ".plait/build/release"
log = Log("release.log")
run = log.run


def check_versions() -> str:
    """1. One version everywhere."""
    if complaints := find_differences():
        raise FailedError("; ".join(complaints))
    return version()


def find_changelog_heading(text: str, number: str) -> re.Match[str] | None:
    """Returns the heading of a version in a changelog; its group `date` is a day, or a text such as "unreleased"."""
    return re.search(rf"^## {re.escape(number)} (?:- |\()(?P<date>[^)\n]+)\)?$", text, re.MULTILINE)


def check_changelog() -> str:
    """2. The section of this version."""
    heading = find_changelog_heading((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())
    if heading is None:
        raise FailedError(f"CHANGELOG.md has no section '## {version()} - YEAR-MONTH-DAY'; write one")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", heading["date"]):
        remaining.append(f"CHANGELOG.md says '{heading['date']}': put the day of the release there")
    return heading["date"]


def check_tree() -> str:
    """3. All changes are committed, so that the release is what the repository has."""
    try:
        changed = run(["git", "status", "--porcelain"]).splitlines()
        description = run(["git", "describe", "--always", "--tags"]).strip()
    except (FailedError, OSError):
        remaining.append("this is no git checkout: make the release from one")
        return "no git checkout"
    if changed:
        remaining.append(f"{len(changed)} files are not committed: commit them, and run make test")
    return description


def build_archives() -> str:
    """4. The source archives contain all files that scripts/build.sh has read."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    hook = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    for folder in (ROOT, ROOT / "bench"):
        run([sys.executable, "-c", hook, DIST], folder)
    run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", DIST, ROOT / "bench"]
    )
    (archive,) = DIST.glob("plait-*.tar.gz")
    with tarfile.open(archive) as packed:
        archived = {name.partition("/")[2]: packed.getmember(name) for name in packed.getnames()}
        missing_names = sorted(name for name in list_build_inputs() if name not in archived)
        differing_files = sorted(
            name
            for name in list_build_inputs() - set(missing_names)
            if (file := packed.extractfile(archived[name])) is None or file.read() != (ROOT / name).read_bytes()
        )
    if missing_names or differing_files:
        raise FailedError(
            f"{archive.name} lacks {missing_names} and has others than this checkout of {differing_files}"
        )
    return ", ".join(sorted(f"{path.name} ({path.stat().st_size / 2**20:.1f} MiB)" for path in DIST.iterdir()))


def list_build_inputs() -> set[str]:
    """Returns the files of this checkout that the build has compiled or included, and the Python packages' files."""
    ninja: list[str | Path] = ["ninja", "-C", RELEASE, "-t"]
    output = "".join(run([*ninja, *words]) for words in (["deps"], ["inputs", "all"], ["query", "build.ninja"]))
    words = {word.strip().rstrip(":") for line in output.splitlines() for word in (line, *line.split())}
    paths = {Path(os.path.normpath(RELEASE / word)) for word in words if "/" in word}
    paths |= {
        path
        for folder in (ROOT / "python", ROOT / "trace/python", ROOT / "mpiio/python")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".toml", ".css", ".js", ".typed")
    }
    below = {path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT) and path.is_file()}
    sources = {path for path in below if not {".plait", "tests", "bench"} & {*path.parts[:2]}}
    if len(sources) < 500:
        raise FailedError(f"{RELEASE} tells of {len(sources)} files that it was built from; run make build")
    return set(map(str, sources))


def build_wheels() -> str:
    """5. The wheels for the Pythons on this machine."""
    run([ROOT / "scripts/wheel.sh", "--to", DIST])
    wheels = sorted(DIST.glob("plait-*.whl"))
    old = [wheel.name for wheel in wheels if not re.search(r"manylinux_2_(?:1\d|2[0-8])_", wheel.name)]
    if old:
        remaining.append(
            f"{len(old)} wheels are for systems as new as this one: publish those that packaging/wheels.toml builds"
        )
    tags = {re.findall(r"-(cp\d+-\w+)-", wheel.name)[0] for wheel in wheels}
    if missing_names := {"cp310-cp310", "cp311-cp311", "cp312-abi3"} - tags:
        remaining.append(f"no wheel was built for {', '.join(sorted(missing_names))}, because no such Python is here")
    return ", ".join(f"{wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB)" for wheel in wheels)


def try_wheels() -> str:
    """6. The wheel for this Python works in a separate root."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    (wheel,) = [path for path in DIST.glob("plait-*.whl") if f"-{tag}-" in path.name or tag >= "cp312" in path.name]
    (bench,) = DIST.glob("plait_bench-*.whl")
    results = try_wheels_in_root([wheel, bench], version(), log)
    return f"in a root of its own: {', '.join(results)}"


CHECKS: dict[str, Callable[[], str]] = {
    "version": check_versions,
    "changelog": check_changelog,
    "commits": check_tree,
}
BUILDS: dict[str, Callable[[], str]] = {"archives": build_archives, "wheels": build_wheels, "trial": try_wheels}
remaining: list[str] = []


def main() -> int:
    """Runs all checks; returns 0 if all of them succeed."""
    build = "--no-build" not in sys.argv[1:]
    for name, check in {**CHECKS, **(BUILDS if build else {})}.items():
        try:
            print(f"release: {name:<10}{check()}", flush=True)
        except FailedError as error:
            print(f"release: {name:<10}FAILED: {error}", file=sys.stderr)
            return 1
    print("\nBefore it is published:" if remaining else "\nNothing stands in the way of publishing.")
    print("".join(f"- {line}\n" for line in remaining), end="")
    print("Nothing was published." + (f" What would be is in {DIST.relative_to(ROOT)}." if build else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
