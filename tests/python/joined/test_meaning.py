"""Attributes that change the meaning of joined elements must agree, or elements are decoded or converted."""

import datetime
import warnings

import numpy as np
import pytest

import plait

netcdf4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")

PACKED = [
    {"scale_factor": 0.5, "add_offset": 0.0, "_FillValue": np.int16(-1), "long_name": "first"},
    {"scale_factor": 0.25, "add_offset": 5.0, "_FillValue": np.int16(-2), "long_name": "second"},
]
STORED = [np.array([[10, 20, -1], [1, 2, 3]], "i2"), np.array([[8, -2, -1]], "i2")]
DECODED = [[5, 10, np.nan], [0.5, 1, 1.5], [7, np.nan, 4.75]]


def write(name, array, attributes, *, variable="v", dimensions=("time", "x"), other_variables=()):
    """Write a variable, whose elements are packed already, with netCDF's library, and return its name for Plait.

    other_variables  tuples (name, elements, attributes, dimensions)
    """
    with netcdf4.Dataset(name, "w") as file:
        for name_, values, attributes_, dimensions_ in ((variable, array, attributes, dimensions), *other_variables):
            for dimension, size in zip(dimensions_, values.shape, strict=True):
                if dimension not in file.dimensions:
                    file.createDimension(dimension, size)
            created = file.createVariable(name_, values.dtype, dimensions_, fill_value=attributes_.get("_FillValue"))
            created.set_auto_maskandscale(False)
            created.setncatts({key: value for key, value in attributes_.items() if key != "_FillValue"})
            created[...] = values
    return f"{name}::/{variable}"


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_times(number, units, values, dtype="f8", calendar="standard", **attributes):
    return write(
        f"t_{number}.nc",
        np.asarray(values, dtype),
        {"units": units, "calendar": calendar, **attributes},
        variable="time",
        dimensions=("time",),
    )


def test_packed_parts_fail_or_are_decoded(working_folder):
    names = [write(f"p_{number}.nc", STORED[number], PACKED[number]) for number in range(2)]
    with pytest.raises(plait.ArgumentError, match=r"p_1.nc::/v has \w+=.*, but p_0.nc::/v has \w+=.*unpack=True"):
        plait.concat(names)
    with pytest.warns(UserWarning, match=r"those of p_0.nc::/v are kept: long_name \(p_1.nc::/v\)"):
        joined = plait.concat("p_*.nc::/v", "time", unpack=True)
    with joined:
        assert joined.dtype == np.float64
        assert joined.attrs["long_name"] == "first"
        assert set(joined.attrs) == {"long_name", "_FillValue"}
        np.testing.assert_array_equal(joined[...], DECODED)
        np.testing.assert_array_equal(joined[1:, ::-2], np.array(DECODED)[1:, ::-2])
        np.testing.assert_array_equal(joined.iread().wait(), DECODED)
        layout = plait.Layout((3, 3), "(*, cyclic)", grid=(2,), halo=(1, 0))
        out = [np.full(layout.padded_shape(rank), 9.0) for rank in range(2)]
        joined.read(layout, out)
        for rank, part in enumerate(out):
            np.testing.assert_array_equal(part[1:-1], np.array(DECODED)[:, rank::2])
            assert (part[[0, -1]] == 9).all()


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        *[("scale_factor", 0.1, 0.2), ("add_offset", 1.0, None), ("missing_value", np.int16(-9), np.int16(-8))],
        *[("valid_max", np.int16(5), np.int16(6)), ("valid_range", np.array([0, 5], "i2"), np.array([0, 6], "i2"))],
        *[("flag_values", np.array([0, 1], "i2"), np.array([1, 0], "i2")), ("flag_meanings", "land sea", "sea land")],
        *[("units", "K", "degC"), ("units", "m", None), ("_Unsigned", "true", None), ("positive", "up", "down")],
        *[("units", "months since 2000-01-01", "months since 2001-01-01")],
        *[("units", "days since 2000-01-01", "K")],
    ],
)
def test_attributes_that_change_the_meaning_must_be_equal(working_folder, name, first, second):
    attributes = [{} if value is None else {name: value} for value in (first, second)]
    names = [write(f"{number}.nc", STORED[number], attributes[number]) for number in range(2)]
    with pytest.raises(plait.ArgumentError, match=rf"1.nc::/v has (no )?{name}.*, but 0.nc::/v has {name}="):
        plait.concat(names)
    with plait.concat([names[0], names[0]]) as joined:
        assert np.all(joined.attrs[name] == first)


def test_equivalent_attributes_are_equal(working_folder):
    attributes = [
        {"scale_factor": 1.0, "calendar": "gregorian", "history": "a"},
        {"calendar": "standard", "history": "b"},
    ]
    names = [write(f"{number}.nc", STORED[number], attributes[number]) for number in range(2)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plait.concat([*names, names[1]]).close()
    assert [str(warning.message).partition(": ")[2] for warning in caught] == ["history (1.nc::/v)"]


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("calendar", ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"])
def test_times_are_converted(working_folder, dtype, calendar):
    cftime = pytest.importorskip("cftime")
    units = ["hours since 1999-02-28 06:00", "days since 2000-03-01", "minutes since 2001-01-01T00:00:00+06:00"]
    values = [[0, 6], [0, 1, 200], [60, 120]]
    names = [write_times(number, units[number], values[number], dtype, calendar) for number in range(3)]
    dates = [
        date
        for number in range(3)
        for date in cftime.num2date(values[number], units[number].replace("T", " "), calendar)
    ]
    with plait.concat(names) as joined:
        assert joined.dtype == np.dtype(dtype)
        assert joined.attrs["units"] == units[0]
        np.testing.assert_array_equal(joined[...], np.rint(cftime.date2num(dates, units[0], calendar) * 60) / 60)


def test_times_are_consecutive_across_the_change_of_the_calendar(working_folder):
    names = [write_times(0, "days since 1582-10-04", [0], "i4"), write_times(1, "days since 1582-10-15", [0], "i4")]
    with plait.concat(names) as joined:
        np.testing.assert_array_equal(joined[...], [0, 1])


def test_times_without_an_exact_value_are_an_error(working_folder):
    first = write_times(0, "days since 2000-01-01", [0.0])
    with plait.concat([first, write_times(1, "hours since 2000-01-02", [12.0])]) as joined:
        np.testing.assert_array_equal(joined[...], [0, 1.5])
    for number, values, dtype in ((2, [1.0], "f8"), (3, [0.1], "f8")):
        other_units = write_times(number, "hours since 2000-01-02", values, dtype)
        with (
            plait.concat([first, other_units]) as joined,
            pytest.raises(plait.ArgumentError, match="do not have exactly"),
        ):
            joined.read()
    whole = write_times(4, "days since 2000-01-01", [0], "i4")
    other_units = write_times(5, "hours since 2000-01-02", [36], "i4")
    with (
        plait.concat([whole, other_units]) as joined,
        pytest.raises(plait.ArgumentError, match="the time 36 in 'hours"),
    ):
        _ = joined[...]
    gap = (datetime.date(2000, 1, 1) - datetime.date(1, 1, 1)).days + 2  # the standard calendar is Julian before 1582
    large = write_times(6, "days since 0001-01-01", [2**31 - 1], "i4")
    with plait.concat([whole, large]) as joined:
        assert joined[1] == 2**31 - 1 - gap
    with plait.concat([large, whole, write_times(7, "days since 2000-01-01", [2**31 - 1], "i4")]) as joined:
        with pytest.raises(plait.ArgumentError, match="elements of int32 do not have exactly"):
            joined.read()
        assert joined[1] == gap


def test_missing_times_stay_missing(working_folder):
    units = ["days since 2000-01-01", "days since 2000-01-11"]
    names = [write_times(number, units[number], [-9.0, 1.0], _FillValue=-9.0) for number in range(2)]
    with plait.concat(names) as joined:
        np.testing.assert_array_equal(joined[...], [-9, 1, -9, 11])
    clashing = write_times(2, units[1], [-19.0], _FillValue=-9.0)
    with plait.concat([names[0], clashing]) as joined, pytest.raises(plait.ArgumentError, match="missing values"):
        joined.read()


@pytest.mark.parametrize("name", ["NETCDF3_CLASSIC", "NETCDF4", "h5"])
@pytest.mark.parametrize("dtype", ["i2", "i4", "f4", "f8"])
def test_unwritten_times_stay_missing(working_folder, name, dtype):
    """Unwritten times have netCDF's default fill value if the file has no _FillValue."""
    units = ["days since 2000-01-01", "days since 2000-01-11"]
    kind, ending = ("NETCDF4", "h5") if name == "h5" else (name, "nc")
    for number in range(2):
        with netcdf4.Dataset(f"{number}.{ending}", "w", format=kind) as file:
            file.createDimension("time", 3)
            created = file.createVariable("time", dtype, ("time",))
            created.units = units[number]
            created[:2] = [1, 2]
    fill = np.dtype(dtype).type(netcdf4.default_fillvals[dtype])
    with plait.concat([f"0.{ending}::time", f"1.{ending}::time"]) as joined:
        np.testing.assert_array_equal(joined[...], np.array([1, 2, fill, 11, 12, fill], dtype))


def test_default_fill_values_of_netcdf_are_times_in_other_files(working_folder):
    for number, day in enumerate(("2000-01-01", "1999-12-31")):
        attributes = {"units": f"days since {day}"}
        with plait.open(f"{number}.zarr::t", "w", shape=(1,), dtype="i2", attributes=attributes) as file:
            file.write(np.array([-32767], "i2"))
    with plait.concat(["0.zarr::t", "1.zarr::t"]) as joined:
        np.testing.assert_array_equal(joined[...], [-32767, -32768])


def test_different_calendars_are_an_error(working_folder):
    names = [
        write_times(number, "days since 2000-01-01", [1.0], calendar=calendar)
        for number, calendar in enumerate(("noleap", "julian"))
    ]
    with pytest.raises(plait.ArgumentError, match=r"t_1.nc::/time has calendar='julian', but .* calendar='noleap'"):
        plait.concat(names)


def test_bounds_have_the_units_of_their_coordinate(working_folder):
    names = []
    for number, units in enumerate(("days since 2000-01-01", "days since 2000-01-03")):
        time = ("time", np.arange(2.0), {"units": units, "bounds": "time_bnds"}, ("time",))
        bounds = np.array([[0, 1], [1, 2.0]])
        names.append(
            write(
                f"b_{number}.nc", bounds, {}, variable="time_bnds", dimensions=("time", "nv"), other_variables=(time,)
            )
        )
    with plait.concat(names) as joined:
        np.testing.assert_array_equal(joined[...], [[0, 1], [1, 2], [2, 3], [3, 4]])


@pytest.mark.parametrize("has_units", [(True, False), (False, True), (False, False), (True, True)], ids=str)
def test_bounds_with_own_units_fit_those_without(working_folder, has_units):
    """The bounds of a file may lack units, and the name of the coordinate may differ between files."""
    names = []
    for number, (day, coordinate) in enumerate((("2000-01-01", "time"), ("2000-01-03", "t"))):
        units = {"units": f"days since {day}", "calendar": "noleap"}
        time = (coordinate, np.arange(2.0), {**units, "bounds": "time_bnds"}, ("time",))
        options = {"variable": "time_bnds", "dimensions": ("time", "nv")}
        names.append(
            write(
                f"b_{number}.nc",
                np.array([[0, 1], [1, 2.0]]),
                units if has_units[number] else {},
                **options,
                other_variables=(time,),
            )
        )
    with plait.concat(names) as joined:
        np.testing.assert_array_equal(joined[...], [[0, 1], [1, 2], [2, 3], [3, 4]])


DATES = [
    *["1582-10-04", "1582-10-05", "1582-10-10", "1582-10-14", "1582-10-15", "2001-02-29", "1900-02-29", "2000-02-30"],
    *["2000-01-01 24:00:00", "2000-01-01 23:59:59.5", "2000-01-01 00:00:60", "2000-01-01 00:60", "2000-01-31"],
]


@pytest.mark.parametrize("calendar", ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"])
def test_dates_exist_in_the_calendar(working_folder, calendar):
    """A part whose units have a date that cftime rejects cannot be converted."""
    cftime = pytest.importorskip("cftime")
    for date in DATES:
        units = f"seconds since {date}"
        names = [
            write_times(number, part_units, [0.0], calendar=calendar)
            for number, part_units in enumerate(("seconds since 2000-01-02", units))
        ]
        try:
            date_time = cftime.num2date(0, units, calendar)
        except ValueError:
            with pytest.raises(plait.ArgumentError, match=r"t_1.nc::/time has units="):
                plait.concat(names)
            continue
        with plait.concat(names) as joined:
            assert joined[1] == cftime.date2num(date_time, "seconds since 2000-01-02", calendar)


def test_packed_times_are_decoded_before_they_are_converted(working_folder):
    units = ["days since 2000-01-01", "days since 2000-01-11"]
    names = [write_times(number, units[number], [2, 4], "i2", scale_factor=0.5) for number in range(2)]
    with pytest.raises(plait.ArgumentError, match="packed by scale_factor; pass unpack=True"):
        plait.concat(names)
    with plait.concat(names, unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [1, 2, 11, 12])


@pytest.mark.parametrize("stored", ["i1", "u1", "i2", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("factor", [None, "f4", "f8"])
def test_decoded_elements_equal_those_of_xarray(working_folder, stored, factor):
    xarray = pytest.importorskip("xarray")
    values = np.array([[0, 1, 2], [100, 101, 7]], stored)
    attributes = {"_FillValue": np.dtype(stored).type(101), "missing_value": np.dtype(stored).type(7)}
    if factor is not None:
        attributes |= {"scale_factor": np.dtype(factor).type(0.5), "add_offset": np.dtype(factor).type(-3)}
    name = write("a.nc", values, attributes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning about two fill values
        expected = xarray.open_dataset("a.nc")["v"].values
    with plait.concat([name], unpack=True) as joined:
        assert joined.dtype.kind == "f"
        np.testing.assert_array_equal(joined[...], expected)


def test_unsigned_elements_and_their_limits_are_decoded(working_folder):
    values = np.array([[0, -1, -2]], "i1")
    attributes = {"_Unsigned": "true", "_FillValue": np.int8(-2), "scale_factor": 2.0, "valid_max": np.int8(-3)}
    with plait.concat([write("a.nc", values, attributes)], unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [[0, 510, np.nan]])
        assert joined.attrs["valid_max"] == 506


@pytest.mark.parametrize("stored", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("unsigned", ["true", "false", None])
def test_signs_equal_those_of_xarray(working_folder, stored, unsigned):
    xarray = pytest.importorskip("xarray")
    largest = np.iinfo(stored.replace("i", "u")).max
    values = np.array([[largest, largest // 2 + 1, 1]], stored.replace("i", "u")).view(stored)
    attributes = {"_FillValue": values[0, 0], "scale_factor": 0.5}
    name = write("a.nc", values, attributes | ({} if unsigned is None else {"_Unsigned": unsigned}))
    with xarray.open_dataset("a.nc", engine="netcdf4") as data, plait.concat([name], unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], data["v"].values)


def test_limits_have_the_signs_of_elements(working_folder):
    values = np.array([[255, 128, 1, 3]], "u1")
    attributes = {"_Unsigned": "false", "_FillValue": np.uint8(255), "missing_value": np.int16(3), "scale_factor": 2.0}
    name = write("a.nc", values, attributes | {"valid_min": np.uint8(128), "valid_range": np.array([128, 127], "u1")})
    with plait.concat([name], unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [[np.nan, -256, 2, np.nan]])
        assert joined.attrs["valid_min"] == -256
        np.testing.assert_array_equal(joined.attrs["valid_range"], [-256, 254])


def test_missing_values_of_wider_types_have_the_sign_of_elements(working_folder):
    """Numbers in attributes of Zarr have 64 bits."""
    attributes = {"_Unsigned": "true", "missing_value": -1, "scale_factor": 2.0}
    with plait.open("a.zarr::v", "w", shape=(2,), dtype="i1", attributes=attributes) as file:
        file.write(np.array([-1, -2], "i1"))
    with plait.concat(["a.zarr::v"], unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [np.nan, 508])


def test_attributes_of_signs_must_agree(working_folder):
    names = [
        write(f"{number}.nc", np.array([[128]], "u1"), attributes)
        for number, attributes in enumerate(({}, {"_Unsigned": "false"}))
    ]
    with pytest.raises(plait.ArgumentError, match=r"1.nc::/v has _Unsigned='false', but 0.nc::/v has no _Unsigned"):
        plait.concat(names)
    with plait.concat([names[0], write("2.nc", np.array([[129]], "u1"), {"_Unsigned": "true"})]) as joined:
        np.testing.assert_array_equal(joined[...], [[128], [129]])


def test_unpacked_arrays_stay_unchanged(working_folder):
    with plait.concat([write("a.nc", STORED[0], {"units": "K"})] * 2, unpack=True) as joined:
        assert joined.dtype == np.int16
    np.save("a.npy", np.arange(3))
    with plait.concat(["a.npy"] * 2, unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [0, 1, 2, 0, 1, 2])
    with pytest.raises(plait.ArgumentError, match="unpack='yes' is not a truth value"):
        plait.concat(["a.npy"], unpack="yes")
    with pytest.raises(plait.ArgumentError, match="scale_factor='two', which is not a number"):
        plait.concat([write("b.nc", STORED[0], {"scale_factor": "two"})], unpack=True)


DIFFERENT_TYPES = [
    (np.array([0, 1, 2], "i4"), np.array([1.5, 2.7, 3e12])),
    (np.array([0], "i4"), np.array([1 << 40], "i8")),
    (np.array([0.0], "f4"), np.array([1e300])),
    (np.array(["ab"]), np.array(["abcdef"])),
    (np.array([1.0]), np.array([1 + 2j])),
    (np.array(["2000-01-01"], "M8[D]"), np.array(["2000-01-01T12"], "M8[h]")),
    (np.array([True]), np.array([2], "u1")),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT_TYPES, ids=lambda values: values.dtype.str)
def test_only_packed_parts_have_other_types(working_folder, one, other):
    """Elements that are not packed are not converted, in either order and for every value of `unpack`."""
    for first, second in ((one, other), (other, one)):
        np.save("a.npy", first)
        np.save("b.npy", second)
        for unpack in (False, True):
            with pytest.raises(plait.ArgumentError, match=r"b.npy has elements of type .*, but a.npy of type "):
                plait.concat(["a.npy", "b.npy"], unpack=unpack)


def test_times_of_other_types_are_not_converted(working_folder):
    names = [write_times(0, "days since 2000-01-01", [1], "i4"), write_times(1, "days since 2000-01-02", [0.5])]
    with pytest.raises(plait.ArgumentError, match=r"t_1.nc::/time has elements of type float64, but .* type int32"):
        plait.concat(names, unpack=True)


def test_packed_parts_are_joined_with_numbers_alone(working_folder):
    packed = write("p.nc", np.array([2], "i2"), {"scale_factor": np.float32(0.5)}, dimensions=("time",))
    for values in (np.array([3], "i4"), np.array([3], "u1"), np.array([3.0], "f4")):
        np.save("n.npy", values)
        for names, expected in ((["n.npy", packed], [3, 1]), ([packed, "n.npy"], [1, 3])):
            with plait.concat(names, unpack=True) as joined:
                assert joined.dtype == np.result_type(values.dtype, "f4")
                np.testing.assert_array_equal(joined[...], expected)
                np.testing.assert_array_equal(joined.read(), expected)
    for values in (np.array(["3"]), np.array(["2000"], "M8[Y]"), np.array([True]), np.array([3j])):
        np.save("n.npy", values)
        for names in (["n.npy", packed], [packed, "n.npy"]):
            with pytest.raises(plait.ArgumentError, match=r"n.npy has elements of type .*, but those of p.nc::/v are"):
                plait.concat(names, unpack=True)
    names = [
        write_times(0, "days since 2000-01-01", [2], "i2", scale_factor=0.5),
        write_times(1, "hours since 2000-01-01", [12], "i4"),
    ]
    with plait.concat(names, unpack=True) as joined:
        np.testing.assert_array_equal(joined[...], [1, 0.5])
