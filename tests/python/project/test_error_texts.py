"""Error messages for bad inputs equal those in error_texts.txt, which has the complete texts."""

import io
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
import plait.distant
import plait.notations
import plait.patterns
import plait.shared
import plait.simulate
import plait.trace
from plait.cli import main

TABLE = Path(__file__).with_name("error_texts.txt").read_text(encoding="utf-8")
#: A call, or a command after "$", and on the next line its error: the classes, or the exit code, and the text.
CASES = re.findall(r"^(?![#\s])(.+)\n  (\S+?): (.+)$", TABLE, re.MULTILINE)
#: Texts of Python, C++ or the bindings, which no message may have.
ALIEN = (
    "TypeError",
    "incompatible function",
    "has no attribute",
    "std::",
    "cannot be interpreted",
    "Traceback",
    " at 0x",
)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Return the names that the calls use, in a folder of files."""
    folder = tmp_path_factory.mktemp("texts")
    array = np.arange(96.0).reshape(8, 12)
    np.save(folder / "g.npy", array)
    np.savez(folder / "g.npz", array=array)
    np.savez(folder / "two.npz", a=array, b=array)
    (folder / "short.safetensors").write_bytes(bytes(8))
    (folder / "short.nc").write_bytes(b"CDF\x01" + bytes(4))
    (folder / "raw").write_bytes(bytes(100))
    (folder / "short.npy").write_bytes(b"")
    (folder / "d").mkdir()
    whole = plait.Layout((8, 12), "(*, *)")
    tiles = plait.Layout((8, 12), "(block, cyclic(3)) onto (2, 2)")

    def read(*arguments, **options):
        with plait.open("g.npy") as file:
            return file.read(*arguments, **options)

    def write(array, *arguments, **options):
        with plait.open("g.npy", "r+") as file:
            return file.write(array, *arguments, **options)

    def index(item, value=None, mode="r"):
        with plait.open("g.npy", mode) as file:
            if mode == "r":
                return file[item]
            file[item] = value
            return file

    def give(name, value, mode="r+"):
        with plait.open("g.npy", mode) as file:
            file.attrs[name] = value

    def stream(call, mode=0):
        with plait.open("g.npy") as file:
            return call(file.stream(mode))

    return folder, {**locals(), "np": np, "plait": plait, "io": io, "Layout": plait.Layout, "os": os}


def catch_error(call, variables):
    """Return the classes (or exit code) and the text of an error."""
    if call.startswith("$ plait "):
        result = CliRunner().invoke(main, shlex.split(call[8:]))
        return str(result.exit_code), result.output.strip().splitlines()[-1].replace(f"{os.getcwd()}/", "")
    with pytest.raises(plait.Error) as caught:
        eval(call, variables)
    error = caught.value
    builtin_bases = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    builtin = next((kind for kind in (TypeError, IndexError) if kind in builtin_bases), builtin_bases[0])
    if isinstance(error, OSError):
        assert str(error).count(os.fsdecode(error.filename or "")) > 0
    return f"{type(error).__name__}/{builtin.__name__}", str(error).replace(f"{os.getcwd()}/", "")


@pytest.mark.parametrize(("call", "kind", "text"), CASES, ids=[call[:70] for call, _, _ in CASES])
def test_errors_have_the_text_of_the_table(names, monkeypatch, call, kind, text):
    folder, variables = names
    monkeypatch.chdir(folder)
    assert catch_error(call, dict(variables)) == (kind, text)
    assert not any(word in text for word in ALIEN)


def test_the_table_is_complete():
    assert len(CASES) > 150
    assert len(CASES) == sum(1 for line in TABLE.splitlines() if line[:1] not in ("", " ", "#"))
