"""HDF5 files that refer to other files by virtual datasets, external storage or external links.

Plait reads these other files only in the folder of the file, unless PLAIT_HDF5_EXTERNAL permits more.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from launching import run

import plait

h5py = pytest.importorskip("h5py")

SHAPE = (6, 40, 30)
ARRAY = np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE)
SETTING = "PLAIT_HDF5_EXTERNAL"


def make_virtual(file: "h5py.File", name: str, sources: list[str], dataset: str = "t") -> None:
    layout = h5py.VirtualLayout((len(sources), *SHAPE[1:]), "f4")
    for number, source in enumerate(sources):
        layout[number] = h5py.VirtualSource(source, dataset, SHAPE[1:])
    file.create_virtual_dataset(name, layout, fillvalue=-7)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with files that refer to each other, next to a folder that they must not refer to."""
    monkeypatch.delenv(SETTING, raising=False)
    for name in ("run/sub", "out", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    run_folder, out = tmp_path / "run", tmp_path / "out"
    for number in range(6):
        with h5py.File(run_folder / ("sub" if number % 2 else "") / f"d{number}.h5", "w") as file:
            file.create_dataset("t", data=ARRAY[number], chunks=(16, 30) if number != 3 else None)
        with h5py.File(run_folder / f"block-{number}.h5", "w") as file:
            file["t"] = ARRAY[number : number + 1]
    with h5py.File(out / "o.h5", "w") as file:
        file["t"] = ARRAY[0]
    for target in (run_folder, out):
        ARRAY.tofile(target / "raw.bin")
    (run_folder / "disguised.h5").symlink_to("../out/o.h5")
    return run_folder


SOURCES = [f"sub/d{number}.h5" if number % 2 else f"d{number}.h5" for number in range(6)]


def check_array(url: object, array: np.ndarray) -> None:
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(), array)
        for region in (np.s_[..., 3:20:4], np.s_[..., 17:19, :], np.s_[-1:]):
            np.testing.assert_array_equal(file.read(region=region), array[region])
        if array.ndim == 3:
            layout = plait.Layout(array.shape, "(cyclic, *, block)", grid=(2, 2))
            for rank, part in enumerate(file.read(layout)):
                np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])


def list_arrays(path: Path) -> dict[str, "plait.ArrayInfo"]:
    return {info.name: info for info in plait.arrays_in(path)}


def open_error_text(url: object) -> str:
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(url)
    return str(raised.value)


def test_virtual_datasets_of_files_in_the_folder_are_read(folder: Path, tmp_path: Path) -> None:
    with h5py.File(folder / "m.h5", "w") as file:
        make_virtual(file, "v", SOURCES)
        make_virtual(file, "absolute", [str(folder / "d0.h5")])
        file["local"] = ARRAY[2]
        make_virtual(file, "same", ["."], "local")
        make_virtual(file, "missing", [*SOURCES[:3], "none.h5"])
    with h5py.File(folder / "nested.h5", "w") as file:
        make_virtual(file, "n", ["m.h5", "m.h5"], "local")
        make_virtual(file, "twice", ["nested.h5"], "n")
    check_array(folder / "m.h5::v", ARRAY)
    check_array(folder / "m.h5::absolute", ARRAY[:1])
    check_array(folder / "m.h5::same", ARRAY[2:3])
    check_array(folder / "nested.h5::n", ARRAY[[2, 2]])
    expected = ARRAY[:4].copy()
    expected[3] = -7
    check_array(folder / "m.h5::missing", expected)
    infos = list_arrays(folder / "m.h5")
    assert infos["v"].storage.endswith("read by HDF5's library (virtual dataset of 6 sources)")
    assert "virtual dataset of 4 sources, 1 of them missing" in infos["missing"].storage
    listing = run("info", str(folder / "m.h5")).output
    assert "1 of them missing" in listing
    assert "times smaller" not in listing
    plait.copy(folder / "m.h5", tmp_path / "all.h5")
    with h5py.File(tmp_path / "all.h5") as file:
        np.testing.assert_array_equal(file["v"][...], ARRAY)
        assert not file["v"].is_virtual


def test_virtual_datasets_of_a_series_of_files_are_read(folder: Path) -> None:
    with h5py.File(folder / "series.h5", "w", libver="latest") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        unlimited = (h5py.h5s.UNLIMITED, *SHAPE[1:])
        space = h5py.h5s.create_simple((1, *SHAPE[1:]), unlimited)
        space.select_hyperslab((0, 0, 0), (h5py.h5s.UNLIMITED, 1, 1), (1, 1, 1), (1, *SHAPE[1:]))
        source = h5py.h5s.create_simple((1, *SHAPE[1:]))
        properties.set_virtual(space, b"block-%b.h5", b"t", source)
        shape = h5py.h5s.create_simple((1, *SHAPE[1:]), unlimited)
        h5py.h5d.create(file.id, b"s", h5py.h5t.IEEE_F32LE, shape, properties)
    check_array(folder / "series.h5::s", ARRAY)
    (folder / "block-6.h5").symlink_to("../out/o.h5")
    assert "outside the folder" in open_error_text(folder / "series.h5::s")


# Sources of virtual datasets by their names.
OUTSIDE = {
    "parent": ["../out/o.h5"],
    "disguised": ["disguised.h5"],
    "later": ["d0.h5", "../out/o.h5"],
}


@pytest.mark.parametrize("name", [*OUTSIDE, "absolute", "link", "storage", "nested", "by_link"])
def test_files_outside_the_folder_need_permission(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    outside = str(folder.parent / "out" / "o.h5")
    path = folder / "m.h5"
    with h5py.File(path, "w") as file:
        for sources in OUTSIDE.items():
            make_virtual(file, *sources)
        make_virtual(file, "absolute", [outside])
        file["link"] = h5py.ExternalLink("../out/o.h5", "/t")
        file.create_dataset("storage", SHAPE, "f4", external=[("../out/raw.bin", 0, ARRAY.nbytes)])
    with h5py.File(folder / "n.h5", "w") as file:
        make_virtual(file, "nested", ["m.h5"], "parent")
        make_virtual(file, "by_link", ["m.h5"], "link")
    if name in ("nested", "by_link"):
        path = folder / "n.h5"
    for error in (open_error_text(f"{path}::{name}"), list_arrays(path)[name].error):
        assert "outside the folder of" in error
        assert f"set {SETTING}=any" in error
        assert str(folder.parent / "out") in error
    copy_result = run("copy", str(path), str(folder / "copy.h5"))
    assert copy_result.exit_code != 0
    assert not (folder / "copy.h5").exists()
    monkeypatch.setenv(SETTING, "none")
    if name != "link":
        assert f"{SETTING} is none" in list_arrays(path)[name].error
    assert f"{SETTING} is none" in open_error_text(f"{path}::{name}")
    monkeypatch.setenv(SETTING, "any")
    arrays = {"link": ARRAY[0], "storage": ARRAY, "later": ARRAY[[0, 0]]}
    check_array(f"{path}::{name}", arrays.get(name, ARRAY[:1]))
    monkeypatch.setenv(SETTING, "all")
    assert f'{SETTING} is "all"; expected folder, any or none' in open_error_text(f"{path}::{name}")


@pytest.mark.parametrize("content", [None, b"", b"junk" * 500])
def test_files_in_the_working_directory_need_permission(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """The library also searches for files in the working directory."""
    monkeypatch.chdir(folder.parent / "out")
    with h5py.File(folder / "m.h5", "w") as file:
        make_virtual(file, "v", ["o.h5"])
        file["link"] = h5py.ExternalLink("o.h5", "/t")
        file.create_dataset("storage", SHAPE, "f4", external=[("raw.bin", 0, ARRAY.nbytes)])
    if content is not None:
        (folder / "o.h5").write_bytes(content)
    message = "outside the folder" if content is None else "cannot be opened as an HDF5 file"
    assert message in open_error_text(folder / "m.h5::v")
    assert message in open_error_text(folder / "m.h5::link")
    check_array(folder / "m.h5::storage", ARRAY)  # in the folder of the file


@pytest.mark.parametrize("variable", ["HDF5_VDS_PREFIX", "HDF5_EXT_PREFIX", "HDF5_EXTFILE_PREFIX"])
def test_variables_of_the_library_need_permission(folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    with h5py.File(folder / "m.h5", "w") as file:
        make_virtual(file, "HDF5_VDS_PREFIX", ["d0.h5"])
        file["HDF5_EXT_PREFIX"] = h5py.ExternalLink("d0.h5", "/t")
        file.create_dataset("HDF5_EXTFILE_PREFIX", SHAPE, "f4", external=[("raw.bin", 0, ARRAY.nbytes)])
    monkeypatch.setenv(variable, str(folder.parent / "out"))
    assert f"{variable} names another folder" in open_error_text(folder / f"m.h5::{variable}")


def test_external_storage_in_the_folder_is_read(folder: Path) -> None:
    with h5py.File(folder / "m.h5", "w") as file:
        file.create_dataset("single", SHAPE, "f4", external=[("raw.bin", 0, ARRAY.nbytes)])
        parts = [("raw.bin", 0, 4000), ("raw.bin", 4000, ARRAY.nbytes - 4000)]
        file.create_dataset("parts", SHAPE, "f4", external=parts)
        file.create_dataset("missing", SHAPE, "f4", external=[("none.bin", 0, ARRAY.nbytes)])
        file.create_dataset("pipe", SHAPE, "f4", external=[("pipe.bin", 0, ARRAY.nbytes)])
        make_virtual(file, "of_storage", ["m.h5"], "single")
    os.mkfifo(folder / "pipe.bin")
    check_array(folder / "m.h5::single", ARRAY)
    check_array(folder / "m.h5::parts", ARRAY)
    infos = list_arrays(folder / "m.h5")
    assert infos["single"].storage == "read by HDF5's library (external storage in raw.bin)"
    assert infos["parts"].storage == "read by HDF5's library (external storage in raw.bin and 1 other file)"
    assert "none.bin, which is missing" in infos["missing"].error
    assert "pipe.bin, which is no ordinary file" in infos["pipe"].error
    assert "in external storage; open that file" in infos["of_storage"].error


def test_external_links_in_the_folder_are_followed(folder: Path, tmp_path: Path) -> None:
    with h5py.File(folder / "m.h5", "w") as file:
        file["array"] = h5py.ExternalLink("sub/d1.h5", "/t")
        file["again"] = h5py.ExternalLink("sub/d1.h5", "/t")
        file["group"] = h5py.ExternalLink("n.h5", "/")
        file["gone"] = h5py.ExternalLink("none.h5", "/t")
        file["nothing"] = h5py.ExternalLink("d0.h5", "/none")
        file["local"] = ARRAY
    with h5py.File(folder / "n.h5", "w") as file:
        file["back"] = h5py.ExternalLink("m.h5", "/")
        file["circle"] = h5py.ExternalLink("circle.h5", "/")
        file["deep/t"] = ARRAY[4]
        file["deep/t"].attrs["units"] = "K"
        file["deep/t"].dims[0].label = "y"
    with h5py.File(folder / "circle.h5", "w") as file:
        file["back"] = h5py.ExternalLink("n.h5", "/")
        file["x"] = ARRAY[5]
    infos = list_arrays(folder / "m.h5")
    assert set(infos) - {"nothing"} == {"again", "group/circle/x", "group/deep/t", "local"}
    assert infos["again"].storage == "chunks 16x30, read by HDF5's library (external link to d1.h5)"
    assert infos["group/deep/t"].attributes["units"] == "K"
    check_array(folder / "m.h5::array", ARRAY[1])
    check_array(folder / "m.h5::group/deep/t", ARRAY[4])
    check_array(folder / "m.h5::local", ARRAY)
    assert "none.h5, which is missing" in open_error_text(folder / "m.h5::gone")
    result = run("copy", str(folder / "m.h5"), str(tmp_path / "all.h5"), "--skip-unsupported")
    assert result.exit_code == 0, result.output
    with h5py.File(tmp_path / "all.h5") as file:
        np.testing.assert_array_equal(file["group/deep/t"][...], ARRAY[4])
        np.testing.assert_array_equal(file["again"][...], ARRAY[1])
