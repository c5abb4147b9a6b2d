#include "container/foreign.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/format_registry.hpp"
#include "container/raw/raw_format.hpp"

namespace plait::container {

namespace {

using namespace std::string_view_literals;

struct Suffix {
  std::string_view text;
  std::string_view format;
};

constexpr std::array kSuffixes{
    Suffix{".h5", "HDF5"},
    Suffix{".hdf5", "HDF5"},
    Suffix{".he5", "HDF5"},
    Suffix{".hdf", "HDF"},
    Suffix{".h4", "HDF4"},
    Suffix{".h5ad", "AnnData (HDF5)"},
    Suffix{".h5md", "H5MD (HDF5)"},
    Suffix{".h5m", "MOAB (HDF5)"},
    Suffix{".jld2", "JLD2 (HDF5)"},
    Suffix{".loom", "Loom (HDF5)"},
    Suffix{".nwb", "Neurodata Without Borders (HDF5)"},
    Suffix{".nxs", "NeXus (HDF5)"},
    Suffix{".snirf", "SNIRF (HDF5)"},
    Suffix{".nc", "netCDF"},
    Suffix{".nc3", "netCDF"},
    Suffix{".nc4", "netCDF"},
    Suffix{".nc5", "netCDF"},
    Suffix{".cdf", "netCDF"},
    Suffix{".exo", "Exodus (netCDF)"},
    Suffix{".zarr", "Zarr"},
    Suffix{".npy", ".npy"},
    Suffix{".npz", "NumPy's archive"},
    Suffix{".mat", "MATLAB"},
    Suffix{".bp", "ADIOS"},
    Suffix{".fits", "FITS"},
    Suffix{".grib", "GRIB"},
    Suffix{".grb", "GRIB"},
    Suffix{".grib2", "GRIB"},
    Suffix{".tif", "TIFF"},
    Suffix{".tiff", "TIFF"},
    Suffix{".parquet", "Parquet"},
    Suffix{".root", "ROOT"},
    Suffix{".pkl", "Python's pickle"},
    Suffix{".pickle", "Python's pickle"},
    Suffix{".pt", "PyTorch"},
    Suffix{".pth", "PyTorch"},
    Suffix{".safetensors", "safetensors"},
    Suffix{".csv", "text"},
    Suffix{".zip", "zip"},
    Suffix{".tar", "tar"},
    Suffix{".tgz", "tar"},
    Suffix{".gz", "gzip"},
    Suffix{".bz2", "bzip2"},
    Suffix{".xz", "xz"},
    Suffix{".zst", "Zstandard"},
};

struct Signature {
  std::string_view bytes;
  std::string_view format;
};

constexpr std::array kSignatures{
    Signature{"\x89HDF\r\n\x1a\n"sv, "HDF5 (or netCDF-4)"},
    Signature{"\x0e\x03\x13\x01"sv, "HDF4"},
    Signature{"CDF\x01"sv, "netCDF-3"},
    Signature{"CDF\x02"sv, "netCDF-3"},
    Signature{"CDF\x05"sv, "netCDF-3"},
    Signature{"\x93NUMPY"sv, "NumPy's .npy"},
    Signature{"PK\x03\x04"sv, "zip (as .npz)"},
    Signature{"PK\x05\x06"sv, "zip (as .npz)"},
    Signature{"MATLAB 5.0 MAT-file"sv, "MATLAB 5.0"},
    Signature{"SIMPLE  ="sv, "FITS"},
    Signature{"GRIB"sv, "GRIB"},
    Signature{"II*\0"sv, "TIFF"},
    Signature{"MM\0*"sv, "TIFF"},
    Signature{"PAR1"sv, "Parquet"},
    Signature{"ARROW1"sv, "Arrow"},
    Signature{"root"sv, "ROOT"},
    Signature{"\xfd\x37zXZ\0"sv, "xz"},
    Signature{"\x28\xb5\x2f\xfd"sv, "Zstandard"},
    Signature{"BZh"sv, "bzip2"},
    Signature{"\x1f\x8b"sv, "gzip"},
};

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string_view foreign_by_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::string name = to_lower(path.substr(path.rfind('/') + 1));
  for (const Suffix& suffix : kSuffixes)
    if (name.size() > suffix.text.size() && name.ends_with(suffix.text)) return suffix.format;
  return {};
}

std::string_view foreign_by_content(store::Store& store) {
  std::array<char, 32> buffer{};  // longer than any signature
  const auto length = std::min<std::int64_t>(store.size(), buffer.size());
  store.read({{0, reinterpret_cast<std::byte*>(buffer.data()), length}});
  const std::string_view header(buffer.data(), static_cast<std::size_t>(length));
  for (const Signature& signature : kSignatures)
    if (header.starts_with(signature.bytes)) return signature.format;
  return {};
}

void check_content(const std::string& name, const Format& format) {
  if (const auto array = array_name(name).array; array && !format.traits().names_arrays)
    base::throw_argument_error(name, ": the file holds ", format.traits().kind,
                               ", no arrays under names; leave out ::", *array);
  if (&format != &raw::format()) return;
  const std::string_view named_format = foreign_by_name(name);
  if (!named_format.empty())
    base::throw_argument_error(name, ": the content is of no format that Plait reads, and the name ends like those of ",
                               named_format, " files; convert it with a program for that format, or write raw:", name,
                               " for elements without a header");
}

std::string_view foreign_folder(const std::string& path) {
  std::error_code ignored;
  for (const char* name : {"md.idx", "md.0"})  // the metadata files of ADIOS2's BP4 and BP5 folders
    if (std::filesystem::exists(std::filesystem::path(path) / name, ignored)) return "ADIOS";
  return {};
}

}  // namespace plait::container
