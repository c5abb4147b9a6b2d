"""Small netCDF files that continue each other in time, as programs write one for each month or run."""

from pathlib import Path

import netCDF4
import numpy as np


def write_part(
    path, times, *, seed=0, units="hours since 2000-01-01", format="NETCDF4", lat=(10.0, 20.0, 30.0), **time_attributes
):
    """Write a file with time, lat, t2m (time, lat), count (lat, time), a scalar crs and a packed array rain (time).

    time_attributes  such as calendar
    """
    random = np.random.default_rng(seed)
    times = np.asarray(times)
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.title = f"part {seed}"
        file.createDimension("time", None if format != "NETCDF3_CLASSIC" or len(times) else 0)
        file.createDimension("lat", len(lat))
        variable = file.createVariable("time", times.dtype, ("time",))
        variable.units = units
        variable.setncatts(time_attributes)
        variable[:] = times
        file.createVariable("lat", "f4", ("lat",))[:] = lat
        packed = {"zlib": True, "complevel": 1} if format == "NETCDF4" else {}
        t2m = file.createVariable("t2m", "f4", ("time", "lat"), fill_value=np.float32(-99), **packed)
        t2m.units = "K"
        t2m.history = f"written {seed}"
        t2m[:] = random.random((len(times), len(lat))).astype("f4")
        file.createVariable("crs", "i4", ())[...] = 7
        rain = file.createVariable("rain", "i2", ("time",))
        rain.scale_factor, rain.add_offset = 0.5, 10.0
        rain.set_auto_maskandscale(False)
        rain[:] = random.integers(0, 99, len(times)).astype("i2")
    return Path(path)


def write_parts(folder, hours=((0, 3), (3, 5), (5, 9)), **time_attributes):
    """Write run-9.nc, run-10.nc and so on, each with the times of one pair (begin, end); return their paths."""
    return [
        write_part(folder / f"run-{9 + seed}.nc", np.arange(begin, end, dtype="f8"), seed=seed, **time_attributes)
        for seed, (begin, end) in enumerate(hours)
    ]
