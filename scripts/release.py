"""The check-list of a release: checks what it needs and builds what would be published, without publishing anything.

usage: python scripts/release.py [--no-build]      `make release` runs it; --no-build checks the texts only

1. The version is the same in every file that has it.
2. CHANGELOG.md has a section for it, with a date.
3. All changes are committed.
4. The source archives of plait and plait-bench are built, and wheels from these archives alone.
5. The wheels are installed into a fresh environment, and read and write there without this checkout.

What stands in the way of publishing but not of the checks is listed at the end. Status 1 where a check fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable
from pathlib import Path

from versions import ROOT, differing, version

DIST = ROOT / ".plait/dist"
BUILD = ROOT / ".plait/build/release-archives"
LOG = ROOT / ".plait/log/release.log"
TRIAL = """
import numpy as np, plait
layout = plait.Layout((6, 4), "(cyclic(2), block)", grid=(2, 2))
whole = np.arange(24.0).reshape(6, 4)
with plait.open("whole.npy", "w", shape=(6, 4), dtype="f8") as file:
    file.write(whole)
with plait.open("whole.npy") as file:
    parts = file.read(layout)
    assert np.array_equal(file[:], np.load("whole.npy"))
for rank, part in enumerate(parts):
    assert np.array_equal(part, whole[np.ix_(*layout.indices(rank))])
print(plait.__version__, plait.__file__)
"""


class FailedError(Exception):
    """A check that did not hold; the text says what to do."""


def run(command: list[str | Path], folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """The output of a command that ends well, which also goes to the log."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n")
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise FailedError(f"{Path(command[0]).name} ended with status {done.returncode}; see {LOG}:\n{last}")
    return done.stdout


def check_versions() -> str:
    """1. One version everywhere."""
    if complaints := differing():
        raise FailedError("; ".join(complaints))
    return version()


def section(text: str, number: str) -> re.Match[str] | None:
    """The heading of a version in a changelog; its group `date` is a day, or what stands there instead."""
    return re.search(rf"^## {re.escape(number)} (?:- |\()(?P<date>[^)\n]+)\)?$", text, re.MULTILINE)


def check_changelog() -> str:
    """2. The section of this version."""
    found = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())
    if found is None:
        raise FailedError(f"CHANGELOG.md has no section '## {version()} - YEAR-MONTH-DAY'; write one")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"]):
        remaining.append(f"CHANGELOG.md says '{found['date']}': put the day of the release there")
    return found["date"]


def check_tree() -> str:
    """3. What is committed is what is released."""
    try:
        changed = run(["git", "status", "--porcelain"]).splitlines()
        here = run(["git", "describe", "--always", "--tags"]).strip()
    except (FailedError, OSError):
        remaining.append("this is no git checkout: make the release from one")
        return "no git checkout"
    if changed:
        remaining.append(f"{len(changed)} files are not committed: commit them, and run make test")
    return here


def build_archives() -> str:
    """4. Source archives, and wheels from them alone."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    hook = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    for folder in (ROOT, ROOT / "bench"):
        run([sys.executable, "-c", hook, DIST], folder)
    for archive in sorted(DIST.glob("*.tar.gz")):
        name = archive.name.removesuffix(".tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(BUILD, filter="data")
        pip: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
        run([*pip, "--wheel-dir", DIST, f"-Cbuild-dir={BUILD / 'trees' / name}", BUILD / name])
    names = sorted(f"{path.name} ({path.stat().st_size / 2**20:.1f} MiB)" for path in DIST.iterdir())
    if any("linux_" in name and "many" not in name for name in names):
        remaining.append(
            "the wheel is for this machine's libraries: build it in a manylinux image, or publish the sources"
        )
    return ", ".join(names)


def try_wheels() -> str:
    """5. A fresh environment, without this checkout and without the variables of this shell."""
    folder = BUILD / "environment"
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    kept = {name: os.environ[name] for name in os.environ if name.lower().endswith("_proxy") or name.startswith("PIP_")}
    environment = {**kept, "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    run([python, "-m", "pip", "install", *DIST.glob("*.whl")], folder, environment)
    run([python, "-m", "pip", "check"], folder, environment)
    said = run([folder / "bin/plait", "--version"], folder, environment)
    if version() not in said:
        raise FailedError(f"plait --version says {said.strip()!r}; expected {version()}")
    run([folder / "bin/plait", "bench", "--help"], folder, environment)
    printed = run([python, "-c", TRIAL], folder, environment).split()
    if printed[0] != version() or not Path(printed[1]).is_relative_to(folder):
        raise FailedError(f"the trial used {printed}, not the wheel of version {version()}")
    return "installed, read and written"


CHECKS: dict[str, Callable[[], str]] = {
    "version": check_versions,
    "changelog": check_changelog,
    "commits": check_tree,
}
BUILDS: dict[str, Callable[[], str]] = {"archives": build_archives, "wheels": try_wheels}
remaining: list[str] = []


def main() -> int:
    """Goes through the list; 0 where every check holds."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    LOG.write_text("", encoding="utf-8")
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
