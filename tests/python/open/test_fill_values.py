"""Fill values of new arrays that must be converted to the type of the elements, such as times in other units."""

import re

import numpy as np
import pytest

import plait

DAY = np.datetime64("2000-01-01")


@pytest.mark.parametrize("name", ["a.zarr", "a.h5"])
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("<M8[s]", DAY),
        (">M8[ms]", np.array(DAY)),
        ("M8[D]", np.datetime64("2000-01-01T00:00:00.000000000")),
        ("M8[s]", np.datetime64("NaT")),
        ("m8[s]", np.timedelta64(2, "h")),
        ("m8[ns]", np.timedelta64("NaT", "D")),
    ],
)
def test_times_in_other_units_are_converted(tmp_path, name, dtype, value):
    expected = np.full(3, value).astype(dtype)
    with plait.open(f"{tmp_path / name}::a", "w", shape=(3,), dtype=dtype, fill_value=value, chunks=(2,)):
        pass
    arrays = {"a": {"shape": (3,), "dtype": dtype, "fill_value": value, "chunks": (2,)}}
    with plait.open(tmp_path / "several.h5", "w", arrays=arrays):
        pass
    for path in (tmp_path / name, tmp_path / "several.h5"):
        with plait.open(f"{path}::a") as file:
            np.testing.assert_array_equal(file[...], expected)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("M8[s]", np.datetime64("2000-01-01T00:00:00.5"), "is no whole number of the units of <M8[s]"),
        ("M8[ns]", np.datetime64("200000-01-01"), "is no whole number of the units of <M8[ns], or too many of them"),
        ("m8[s]", np.timedelta64(1, "M"), "is no whole number of the units of <m8[s]"),
        ("m8[s]", DAY, "is a time, but the dtype is <m8[s]"),
        ("f8", DAY, "is a time, but the dtype is <f8"),
    ],
)
def test_times_that_the_elements_cannot_represent_are_errors(tmp_path, dtype, value, message):
    for options in (
        {"shape": 3, "dtype": dtype, "fill_value": value},
        {"arrays": {"a": {"shape": 3, "dtype": dtype, "fill_value": value}}},
    ):
        with pytest.raises(plait.ArgumentError, match=re.escape(message)):
            plait.open(tmp_path / "a.zarr", "w", **options)
    assert not any(tmp_path.iterdir())


def test_the_text_nat_is_a_time_for_times_only(tmp_path):
    with plait.open(tmp_path / "a.zarr", "w", shape=(3,), dtype="U4", fill_value="NaT", chunks=(2,)):
        pass
    with plait.open(tmp_path / "b.zarr", "w", shape=(3,), dtype="M8[s]", fill_value="NaT", chunks=(2,)):
        pass
    with plait.open(tmp_path / "a.zarr") as texts, plait.open(tmp_path / "b.zarr") as times:
        assert list(texts[...]) == ["NaT"] * 3
        assert np.isnat(times[...]).all()
