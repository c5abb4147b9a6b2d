/// Structured dtypes in the notation of .npy headers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/layout.hpp"

namespace plait::container::npy {

/// A field of a structured dtype.
struct RecordField {
  std::string name;   ///< the name in UTF-8
  std::string dtype;  ///< the type of an element: simple, or a list of fields
  Extents shape;      ///< the shape of a field that is an array; empty otherwise
  std::int64_t offset = 0;
  std::int64_t bytes = 0;  ///< the bytes of the whole field
};

/// Returns a text as a Python string literal, the form of field names in dtypes.
std::string quote(std::string_view text);

/// Returns true if a dtype is a list of fields.
inline bool is_record(std::string_view dtype) { return dtype.starts_with('['); }

/// Returns the fields of a structured dtype, without padding, which is written as fields with empty names. Titles of
/// fields are ignored.
/// errors  kArgument: the dtype is not a list of fields of fixed size.
std::vector<RecordField> parse_record(const std::string& dtype);

/// Formats the structured dtype of `bytes` bytes that has these fields, which are in the order of their offsets and do
/// not overlap. Bytes without a field become padding, as numpy.save writes it: `('', '|V4')`.
std::string print_record(std::span<const RecordField> fields, std::int64_t bytes);

}  // namespace plait::container::npy
