/// Conversion of element types between Zarr's metadata, in both versions, and the dtypes of .npy files.
///
/// Version 2 spells types as NumPy does: `"<f8"`, `"|S5"`, `"<M8[ns]"`, and records as lists of fields. Version 3 has
/// names, `"float64"`, or objects with a name and a configuration, as zarr-python 3.1 writes them. The byte order of
/// version 3 is not part of the type but of the codec `bytes`, which applies to all fields of a record.
/// Example: `<M8[10s]` is `{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "container/zarr/document.hpp"

namespace plait::container::zarr {

/// Returns the type code of a dtype: `f` for `<f8`, `V` for records.
char dtype_kind(std::string_view dtype);
/// Returns true if elements of a simple dtype have a byte order.
bool has_byte_order(std::string_view dtype);
/// Returns the dtype of texts (`S`) or opaque bytes (`V`): bytes_dtype('S', 5) is `|S5`.
std::string bytes_dtype(char kind, std::int64_t bytes);

/// Reads the type of version 3. order: `<` or `>`, the byte order of the elements.
/// errors  kArgument: the type is not supported.  kSystem: its configuration is damaged.
std::string read_data_type(const Document& document, const nlohmann::json& data_type, char order);
/// Reads the type of version 2.  errors  Those of read_data_type().
std::string read_dtype(const Document& document, const nlohmann::json& dtype);

/// Returns the type in the notation of version 3.
/// errors  kArgument: Zarr does not have the type, or only its version 2.
nlohmann::ordered_json data_type_json(const std::string& dtype, const std::string& path);
/// Returns the type in the notation of version 2.  errors  kArgument: Zarr does not have the type.
nlohmann::ordered_json dtype_json(const std::string& dtype, const std::string& path);

}  // namespace plait::container::zarr
