"""Names of fields in .npy files: Plait reads names of NumPy, and writes the same bytes as NumPy."""

import numpy as np
import pytest

import plait

NAMES = [
    "plain",
    "grüße",
    "ÿ\xa0\x85",
    "Ā",
    "温度",
    "temp 🌡",
    "e\u0301\u200b\u2028",
    "back\\slash",
    "'",
    '"',
    "both ' and \"",
    "\\'",
    "tab\tline\nend\r\x00\x7f",
    "\udc80",
    "",
    " ",
    "a,b:(c)[d]{e}",
    "x" * 70000,
    "é" * 70000,
    "温" * 30000,
]


def shown(name):
    return ascii(name[:12])


def make_type(name):
    return np.dtype([(name, ">i2"), (f"{name}2", "<f8", (2,)), ((f"title {name}", f"{name}3"), [(name, "|S3")])])


def version(path):
    return path.read_bytes()[6:8]


@pytest.mark.filterwarnings("ignore:Stored array in format:UserWarning")
@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", NAMES, ids=shown)
def test_names_are_read_and_written(tmp_path, name):
    whole = np.zeros(4, dtype=make_type(name))
    whole.view("u1")[:] = np.arange(whole.nbytes)
    np.save(tmp_path / "numpy.npy", whole)
    with plait.open(tmp_path / "numpy.npy") as file:
        assert file.dtype == whole.dtype
        assert file.dtype.names == whole.dtype.names
        assert file.read().tobytes() == whole.tobytes()
    with plait.open(tmp_path / "plait.npy", "w", shape=4, dtype=whole.dtype) as file:
        file.write(whole)
    actual = np.load(tmp_path / "plait.npy", max_header_size=10**6)
    assert actual.dtype == whole.dtype
    assert actual.dtype.names == whole.dtype.names
    assert actual.tobytes() == whole.tobytes()
    assert version(tmp_path / "plait.npy") == version(tmp_path / "numpy.npy")
    # A file of NumPy can be opened with its own type.
    assert plait.open(tmp_path / "numpy.npy", dtype=whole.dtype).shape == (4,)
    plait.copy(tmp_path / "numpy.npy", tmp_path / "copy.npy")
    assert np.load(tmp_path / "copy.npy", max_header_size=10**6).dtype.names == whole.dtype.names


@pytest.mark.parametrize("format_version", [(1, 0), (2, 0), (3, 0)])
def test_each_version_is_read(tmp_path, format_version):
    whole = np.zeros(3, dtype=[("größe", "f8")])
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array(file, whole, version=format_version)
    assert plait.open(tmp_path / "a.npy").dtype.names == ("größe",)


def test_types_with_other_field_names_differ(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3, dtype=[("größe", "f8")]))
    with pytest.raises(plait.ArgumentError, match="größe"):
        plait.open(tmp_path / "a.npy", dtype=[("grösse", "f8")])
