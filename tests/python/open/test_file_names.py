"""Names with suffixes of other formats or with prefixes of stores: errors say what to write; `raw:` takes any name."""

import gzip
import os
import zipfile

import numpy as np
import pytest

import plait

ARRAY = np.arange(6, dtype="i4")


def write(url, array=ARRAY):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype) as file:
        file.write(array)


def open_error_text(url, mode="w", **options):
    options = options or {"shape": (6,), "dtype": "i4"}
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(url, mode, **options)
    return str(raised.value)


FORMATS = {
    "a.hdf": "HDF",
    "a.h4": "HDF4",
    "a.cdf": "netCDF",
    "A.CDF": "netCDF",
    "a.mat": "MATLAB",
    "a.tiff": "TIFF",
    "a.fits": "FITS",
    "a.bin.xz": "xz",
    "stripe:a.hdf?disks=.": "HDF",
    "distant:a.h4?folder=.": "HDF4",
}


@pytest.mark.parametrize("name", FORMATS)
def test_new_names_with_suffixes_of_other_formats_are_errors(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text = open_error_text(name)
    assert text.startswith(f"{name}: the name ends like those of {FORMATS[name]} files, which Plait does not ")
    assert (f"hdf5:{name}" in text and f"raw:{name}" in text) == (name[1] == ".")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", [name for name in FORMATS if name[1] == "."])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_unknown_content_with_suffixes_of_other_formats_is_an_error(tmp_path, monkeypatch, name, mode):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"cannot open {name}: "):
        plait.open(name, mode, shape=(6,), dtype="i4")
    write(f"raw:{name}")
    text = open_error_text(name, mode)
    assert text.startswith(f"{name}: the content is of no format that Plait reads, and the name ends like those of")
    assert f"{FORMATS[name]} files; convert it with a program for that format, or write raw:{name}" in text
    with pytest.raises(plait.ArgumentError, match="the content is of no format that Plait reads"):
        plait.arrays_in(name)


def test_other_suffixes_are_names_of_raw_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in [
        "h5",
        ".h5",
        "a.bin",
        "a.dat",
        "a.h5.bin",
        "a.h5/b",
        "nc",
        "12:00.bin",
        "x:y",
        "a b:c",
        "é:x",
        "./ab:c",
    ]:
        os.makedirs("a.h5", exist_ok=True)
        write(name)
        assert plait.open(name, shape=6, dtype="i4").read().tolist() == ARRAY.tolist()


SCHEMES = {
    "distnt:nope": "did you mean distant:nope?",
    "Stripe:x?disks=a": "did you mean stripe:x?disks=a?",
    "strip:x": "did you mean stripe:x?",
    "RAW:x": "did you mean raw:x?",
    "hdf:x": "leave it out to open an ordinary file. For a file of exactly that name write ",
    "hdf4:/x": "leave it out to open an ordinary file. For a file of exactly that name write ",
    "run7:a.npy": "leave it out to open an ordinary file. For a file of exactly that name write ",
}


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("mode", ["r", "w"])
def test_unknown_schemes_are_errors(tmp_path, monkeypatch, name, mode):
    monkeypatch.chdir(tmp_path)
    text = open_error_text(name, mode)
    assert "which is not a kind of store; the kinds are raw:, stripe:, distant:, memory: and pipe:" in text
    assert SCHEMES[name] in text
    escaped = f"./{name}" if name.endswith(".npy") else f"raw:{name}"
    assert f"For a file of exactly that name write {escaped}" in text
    assert not os.listdir(tmp_path)
    if "/" not in name:
        write(escaped)
        assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["abfs://b/a", "ftp://example.org/a.npy", "file:///tmp/a.npy", "x-y://a"])
@pytest.mark.parametrize("mode", ["r", "w"])
def test_urls_of_unknown_schemes_are_errors(tmp_path, monkeypatch, name, mode):
    monkeypatch.chdir(tmp_path)
    text = open_error_text(name, mode)
    assert f"{name} is a URL, but Plait has no object store for {name.partition('/')[0]}//; " in text
    schemes = "memory, s3, gs, az, http and https"
    assert (
        f"the schemes that it knows: {schemes}; give a URL with one of these, the path of a file, or ./{name} " in text
    )
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["a.h5", "a.npy", "distnt:x", "stripe:x?y", "raw:x", "100%41"])
def test_raw_takes_a_name_literally(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    url = f"raw:{name}"
    write(url)
    assert os.listdir(tmp_path) == [name]
    assert np.fromfile(name, "i4").tolist() == ARRAY.tolist()
    with plait.open(url, "r+", shape=6, dtype="i4") as file:
        assert file.url == url
        file.write(ARRAY[::-1].copy())
    with pytest.raises(plait.StoreError, match="cannot open"):
        plait.open("raw:none", shape=1, dtype="i4")
    assert plait.copy(url, "b.npy", shape=6, dtype="i4").bytes == 24
    plait.copy("b.npy", f"raw:{name}")
    assert np.fromfile(name, "i4").tolist() == ARRAY[::-1].tolist()
    with pytest.raises(plait.ArgumentError, match="is the source itself"):
        plait.copy(f"./{name}", url, shape=6, dtype="i4")
    assert "there is no name after raw:" in open_error_text("raw:")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89HDF\r\n\x1a\n", "cannot be opened as an HDF5 file"),
        (b"CDF\x02", "as netCDF: its header is wrong"),
        (b"GRIB", "Its first bytes are those of GRIB"),
        ("zip", "is a zip file that holds 1 file and no .npy file"),
        (gzip.compress(b"x", mtime=0), "Its first bytes are those of gzip"),
        ("npy", "array 6"),
    ],
)
def test_errors_name_the_format_of_the_first_bytes(tmp_path, content, message):
    for path in (tmp_path / "a.bin", tmp_path / "b.npy"):
        if content == "npy":
            with open(path, "wb") as file:
                np.save(file, ARRAY)
        elif content == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("x", "y")
        else:
            path.write_bytes(content + b" and more")
    wrong_size = {"shape": (1000,), "dtype": "i4"}
    for options in ({}, wrong_size):
        for path in (tmp_path / "a.bin", tmp_path / "b.npy"):
            if message == "array 6" and not options:
                assert plait.open(path).read().tolist() == ARRAY.tolist()
                continue
            with pytest.raises(plait.Error) as raised:
                plait.open(path, **options)
            assert message in str(raised.value)
    # A shape and type that fit the size of the file are accepted.
    size = os.path.getsize(tmp_path / "a.bin")
    assert plait.open(tmp_path / "a.bin", shape=size, dtype="u1").shape == (size,)


def test_folders_of_other_formats_are_errors(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "md.idx").write_text("")
    for mode in ("r", "r+"):
        with pytest.raises(plait.StoreError, match="the format ADIOS, which Plait does not read"):
            plait.open(tmp_path / "store", mode, shape=1, dtype="i4")


def test_copies_onto_a_component_of_their_source_are_errors(tmp_path):
    def find_components(name):
        return [entry for entry in tmp_path.iterdir() if entry.name.startswith(f"{name}.") and entry.suffix != ".meta"]

    write(f"stripe:{tmp_path}/a?disks={tmp_path},{tmp_path}&unit=4")
    write(f"distant:{tmp_path}/b?striped=true")
    raw_options = {"shape": (6,), "dtype": "i4"}
    for source, name, options in [(f"stripe:{tmp_path}/a", "a", raw_options), (f"distant:{tmp_path}/b", "b", {})]:
        assert find_components(name)
        for part in find_components(name):
            (tmp_path / "link").symlink_to(part)
            for target in (part, f"raw:{part}", tmp_path / "link", f"stripe:{part}?disks={tmp_path}"):
                with pytest.raises(plait.ArgumentError, match="share component files"):
                    plait.copy(source, target, **options)
            (tmp_path / "link").unlink()
        part = find_components(name)[0]
        length = part.stat().st_size
        with pytest.raises(plait.ArgumentError, match="share component files"):
            plait.copy(part, source, shape=length, dtype="u1")
        assert plait.open(source, **options).read().tolist() == ARRAY.tolist()


def test_steps_onto_a_component_of_their_source_are_errors(tmp_path):
    folder = tmp_path / "0"
    folder.mkdir()
    write(f"stripe:{tmp_path}/a0?disks={folder},{folder}&unit=4")
    raw_options = {"shape": (6,), "dtype": "i4"}
    source = f"stripe:{tmp_path}/a0"
    parts = list(folder.iterdir())
    assert len(parts) == 2
    for part in parts:
        with pytest.raises(plait.ArgumentError, match="share component files"):
            plait.copy(source, f"{tmp_path}/{{step}}/{part.name}", **raw_options)
        with pytest.raises(plait.ArgumentError, match="share component files"):
            plait.copy(part, f"{tmp_path}/a{{step}}", shape=part.stat().st_size, dtype="u1")
    (tmp_path / "b0").hardlink_to(tmp_path / "a0")
    with pytest.raises(plait.ArgumentError, match="is a source itself"):
        plait.copy(source, f"{tmp_path}/b{{step}}", **raw_options)
    assert plait.open(source, **raw_options).read().tolist() == ARRAY.tolist()
