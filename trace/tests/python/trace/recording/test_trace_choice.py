"""The selection of files in the header of a trace, with valid and damaged content."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.trace.recording.choice import Choice, read_choice, write_choice

BEGIN = b"\x89PLAIT\r\n".ljust(1024, b"\0")


def write_trace(folder: Path, text: bytes) -> Path:
    """Write the start of a trace whose header has this text as the selection."""
    path = folder / "trace.plait"
    path.write_bytes(BEGIN + text.ljust(3072, b"\0") + bytes(100))
    return path


def test_a_stored_choice_is_read_back(tmp_path: Path) -> None:
    path = write_trace(tmp_path, b"")
    assert read_choice(path) == Choice()
    write_choice(path, Choice(["*.npy"], ["/tmp/*"], True))
    assert read_choice(path) == Choice(["*.npy"], ["/tmp/*"], True)


@pytest.mark.parametrize(
    "text", [b"[" * 3000, b'{"include":' * 250, b"\xff\xfe", b"{", b"7", b'{"include": 3}', b"null"]
)
def test_damaged_choices_are_ignored(tmp_path: Path, text: bytes) -> None:
    assert read_choice(write_trace(tmp_path, text)) == Choice()
