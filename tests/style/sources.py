"""The files that the style tests check, which are all files of the project that git does not ignore, by product."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXT = {
    ".c",
    ".f",
    ".f90",
    ".cpp",
    ".hpp",
    ".h",
    ".inl",
    ".py",
    ".pyi",
    ".md",
    ".sh",
    ".cmake",
    ".toml",
    ".txt",
    ".in",
    ".yml",
    ".yaml",
    ".js",
    ".css",
    ".html",
}
#: The products other than the array library; each has a folder with the same subfolders.
PRODUCTS = ("trace", "historical", "mpiio")
CODE = {".c", ".f", ".f90", ".cpp", ".hpp", ".h", ".inl", ".py", ".sh", ".cmake", ".js", ".css"}


@cache
def project_files() -> list[Path]:
    """Return all files of the project, relative to its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        paths = [Path(name) for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        unpacked = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        paths = [
            path for path in unpacked if not any(part in (".plait", "__pycache__", "build") for part in path.parts)
        ]
    return sorted(path for path in paths if (ROOT / path).is_file())


def product_name(path: Path) -> str:
    """Return the name of the product that a file belongs to: "array" for the array library at the top."""
    return path.parts[0] if path.parts[0] in PRODUCTS else "array"


def path_in_product(path: Path) -> Path:
    """Return the path of a file relative to the folder of its product: src/a.cpp for trace/src/a.cpp."""
    return path.relative_to(path.parts[0]) if path.parts[0] in PRODUCTS else path


def files_with(suffixes: set[str], *folders: str) -> list[Path]:
    """Return the files with one of these suffixes; if folders are named, only those below them in any product."""
    return [
        path
        for path in project_files()
        if (path.suffix in suffixes or (not path.suffix and path.name in ("Makefile", "run")))
        and (not folders or path_in_product(path).parts[0] in folders)
    ]


def read(path: Path) -> str:
    """Return the text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")
