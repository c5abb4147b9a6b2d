"""Shared files of a single process."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import plait
from plait import shared


def test_the_file_of_one_process_is_an_ordinary_file(tmp_path: Path) -> None:
    with shared.open(tmp_path / "data", "w", persistent=True) as file:
        assert (file.striped, file.components, file.unit, file.closed) == (False, 1, 0, False)
        assert "one file" in repr(file)
        file.write(3, b"bytes")
        file.iwrite(100, np.arange(4, dtype="<i4")).wait()
    assert file.closed
    assert "closed" in repr(file)
    content = (tmp_path / "data").read_bytes()
    assert content == b"\0\0\0bytes" + bytes(92) + np.arange(4, dtype="<i4").tobytes()
    # Files that other programs wrote can be read, too.
    (tmp_path / "data").write_bytes(b"abc")
    with shared.open(tmp_path / "data") as file:
        assert file.size() == 3
        assert file.read(0, bytearray(3)) == b"abc"
        with pytest.raises(plait.StoreError, match="it ends at 3"):
            file.read(1, 3)


def test_a_limit_stays_with_a_striped_file(tmp_path: Path) -> None:
    with shared.open(tmp_path / "data", "w", striped=True, unit=10, persistent=True, limit=25) as file:
        file.write(0, bytes(25))
    with shared.open(tmp_path / "data", "r+") as file:
        with pytest.raises(plait.ArgumentError, match="limited to 25 bytes, but should get 26"):
            file.write(25, b"x")
        with pytest.raises(plait.ArgumentError, match="limited to 25 bytes"):
            file.resize(26)
    with shared.open(tmp_path / "data", "r+", limit=30) as file:
        file.write(25, b"x")
        with pytest.raises(plait.ArgumentError, match="limited to 30 bytes"):
            file.write(30, b"x")


def test_the_file_of_one_process_has_stripes_on_request(tmp_path: Path) -> None:
    with shared.open(tmp_path / "data", "w", striped=True, unit=10, persistent=True) as file:
        assert (file.striped, file.components, file.unit) == (True, 1, 10)
        assert "stripes of 10 bytes" in repr(file)
        file.write(0, b"0123456789ab")
    (component,) = (path for path in tmp_path.iterdir() if path.suffix != ".meta")
    assert component.read_bytes() == b"0123456789ab"
    description = component.with_name(component.name + ".meta")
    assert description.read_text().splitlines()[:1] == ["plait shared file 1"]
    description.write_text(description.read_text().replace("file 1", "file 9"))
    with pytest.raises(plait.StoreError, match="it is of version 9"):
        shared.open(tmp_path / "data")
    description.write_text("")
    with pytest.raises(plait.StoreError, match=r"cannot use .*data.c0of1-.*\.meta"):
        shared.open(tmp_path / "data")


def test_temporary_files_do_not_affect_others(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"mine")
    with shared.open(tmp_path / "data", "w") as file:
        file.write(0, b"theirs")
        assert (tmp_path / "data").read_bytes() == b"mine"
        assert list(tmp_path.iterdir()) == [tmp_path / "data"]
    assert (tmp_path / "data").read_bytes() == b"mine"


@pytest.mark.parametrize("striped", [False, True])
def test_a_failing_block_leaves_the_old_file(tmp_path: Path, striped: bool) -> None:
    with shared.open(tmp_path / "data", "w", striped=striped, persistent=True) as file:
        file.write(0, b"old")
    before = sorted(tmp_path.iterdir())

    def fail() -> None:
        with shared.open(tmp_path / "data", "w", striped=striped, persistent=True, atomic=True) as file:
            file.write(0, b"new")
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        fail()
    assert sorted(tmp_path.iterdir()) == before
    with shared.open(tmp_path / "data") as file:
        assert file.read(0, 3).tobytes() == b"old"


def test_threads_use_one_file(tmp_path: Path) -> None:
    with shared.open(tmp_path / "data", "w", striped=True, unit=64) as file:

        def access(number: int) -> None:
            local = np.full(1000, number, "u1")
            for i in range(50):
                offset = (i * 8 + number) * 1000
                file.iwrite(offset, local).wait()
                np.testing.assert_array_equal(file.read(offset, 1000), local)

        threads = [threading.Thread(target=access, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        content = file.read(0, 400_000).reshape(50, 8, 1000)
        assert (content == np.arange(8)[None, :, None]).all()


def test_threads_open_separate_files(tmp_path: Path) -> None:
    """Files of a single process share the object that executes their calls."""
    errors: list[Exception] = []

    def access(number: int) -> None:
        try:
            for step in range(30):
                path = tmp_path / f"{number}-{step}"
                with shared.open(path, "w", striped=True) as file:
                    file.write(step, bytes([number]))
                    file.resize(step + 2)
                    assert file.read(step, 2).tolist() == [number, 0]
                with pytest.raises(plait.ArgumentError, match="not known"):
                    shared.open(path, "x")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=access, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not any(tmp_path.iterdir())


def test_descriptions_that_contradict_each_other_are_not_mixed(tmp_path: Path) -> None:
    with shared.open(tmp_path / "data", "w", striped=True, persistent=True) as file:
        file.write(0, b"bytes")
    (description,) = tmp_path.glob("*.meta")
    changed = description.read_text().replace("components 1", "components 70000").replace("host 0 0", "host 0 69999")
    for component in (1, 69999):
        other = tmp_path / description.name.replace("c0of1", f"c{component}of70000")
        other.write_text(changed.replace("component 0", f"component {component}"))
        other.with_suffix("").write_bytes(b"other")
    # The file has the name of another description.
    (tmp_path / description.name.replace("c0of1", "c0of2")).write_text(description.read_text())
    (tmp_path / description.name.replace("c0of1", "c0of2")).with_suffix("").write_bytes(b"other")
    with shared.open(tmp_path / "data") as file:
        assert file.components == 1
        assert file.read(0, file.size()).tobytes() == b"bytes"
    description.write_text(description.read_text().replace("components 1", "components 2000000000"))
    description.rename(tmp_path / description.name.replace("of1", "of2000000000"))
    description.with_suffix("").rename(tmp_path / description.with_suffix("").name.replace("of1", "of2000000000"))
    with pytest.raises(plait.StoreError, match="2000000000 components, but 16777216"):
        shared.open(tmp_path / "data")


def test_the_next_file_removes_leftovers_of_a_killed_process(tmp_path: Path) -> None:
    unfinished = "data.c1of2-0123456789abcdef"
    (tmp_path / unfinished).write_bytes(b"half")
    (tmp_path / f".{unfinished}.meta.plait-host-1-0").write_bytes(b"plait shared")
    others = {".data.meta.plait-host-1-0", ".other.c0of1-0123456789abcdef.meta.plait-host-1-0"}
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    with shared.open(tmp_path / "data", "w", striped=False, persistent=True):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"data", *others}


def test_wrong_arguments_are_reported(tmp_path: Path) -> None:
    for call, message in (
        (lambda: shared.open(tmp_path / "data"), "there is no such file"),
        (lambda: shared.open(tmp_path / "none" / "data"), "none"),
        (lambda: shared.open(tmp_path / "none" / "data", "w"), "none"),
        (lambda: shared.open(tmp_path, "w"), str(tmp_path)),
        (lambda: shared.open(7, "w"), "int"),  # type: ignore[arg-type]
        (lambda: shared.open(b"data", "w"), "pass a str"),  # type: ignore[arg-type]
        (lambda: shared.open(f"{tmp_path}/\udcff", "w"), "surrogates not allowed"),
        (lambda: shared.open(f"{tmp_path}/a\0b", "w"), "contains a null character"),
        (lambda: shared.open(tmp_path / "data", "a"), 'mode "a" is not known'),
        (lambda: shared.open(tmp_path / "data", "w", striped="two"), "striped='two' is not a truth value"),  # type: ignore[arg-type]
        (lambda: shared.open(tmp_path / "data", "w", limit=2**63), "limit=9223372036854775808 is out of range"),
    ):
        with pytest.raises(plait.Error, match=message):
            call()
    assert not any(tmp_path.iterdir())
