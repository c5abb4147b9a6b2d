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


def make_id(name):
    return ascii(name[:12])


def make_type(name):
    return np.dtype([(name, ">i2"), (f"{name}2", "<f8", (2,)), ((f"title {name}", f"{name}3"), [(name, "|S3")])])


def read_version(path):
    """Return the two bytes of the version of the .npy format."""
    return path.read_bytes()[6:8]


@pytest.mark.filterwarnings("ignore:Stored array in format:UserWarning")
@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", NAMES, ids=make_id)
def test_names_are_read_and_written(tmp_path, name):
    array = np.zeros(4, dtype=make_type(name))
    array.view("u1")[:] = np.arange(array.nbytes)
    np.save(tmp_path / "numpy.npy", array)
    with plait.open(tmp_path / "numpy.npy") as file:
        assert file.dtype == array.dtype
        assert file.dtype.names == array.dtype.names
        assert file.read().tobytes() == array.tobytes()
    with plait.open(tmp_path / "plait.npy", "w", shape=4, dtype=array.dtype) as file:
        file.write(array)
    actual = np.load(tmp_path / "plait.npy", max_header_size=10**6)
    assert actual.dtype == array.dtype
    assert actual.dtype.names == array.dtype.names
    assert actual.tobytes() == array.tobytes()
    assert read_version(tmp_path / "plait.npy") == read_version(tmp_path / "numpy.npy")
    # A file of NumPy can be opened with its own type.
    assert plait.open(tmp_path / "numpy.npy", dtype=array.dtype).shape == (4,)
    plait.copy(tmp_path / "numpy.npy", tmp_path / "copy.npy")
    assert np.load(tmp_path / "copy.npy", max_header_size=10**6).dtype.names == array.dtype.names


@pytest.mark.parametrize("format_version", [(1, 0), (2, 0), (3, 0)])
def test_each_version_is_read(tmp_path, format_version):
    array = np.zeros(3, dtype=[("größe", "f8")])
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=format_version)
    assert plait.open(tmp_path / "a.npy").dtype.names == ("größe",)


def test_types_with_other_field_names_differ(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3, dtype=[("größe", "f8")]))
    with pytest.raises(plait.ArgumentError, match="größe"):
        plait.open(tmp_path / "a.npy", dtype=[("grösse", "f8")])
