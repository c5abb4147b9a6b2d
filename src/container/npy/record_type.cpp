// Structured dtypes in the notation of .npy headers, with offsets.
//
// Problem: the notation lists fields without their offsets: each field follows the one before it. Other types, such as
// those of HDF5, state an offset for each field and the size of the whole record.
//
// Idea: gaps are fields themselves, opaque bytes with an empty name. NumPy removes them when it reads a .npy file, so
// that the offsets and the size are exactly those of the type.
//
// Example: a byte at offset 0 and a double at offset 8, in 24 bytes:
//    [('flag', '|u1'), ('', '|V7'), ('value', '<f8'), ('', '|V8')]

#include "container/npy/record_type.hpp"

#include <cstddef>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/npy/literal.hpp"
#include "container/npy/npy_header.hpp"

namespace plait::container::npy {

std::string quote(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\\' || c == '\'')
      result += {'\\', c};
    else if (code < 0x20 || code == 0x7f)
      result += {'\\', 'x', kDigits[code >> 4U], kDigits[code & 0xfU]};
    else
      result += c;
  }
  return result + "'";
}

namespace {

std::string print_padding(std::int64_t bytes) { return base::text("('', '|V", bytes, "')"); }

Extents parse_shape(const Literal& shape) {
  Extents extents;
  if (shape.kind != Literal::Kind::kSequence) return {shape.integer};
  for (const Literal& extent : shape.items) extents.push_back(extent.integer);
  return extents;
}

RecordField parse_field(const Literal& literal, std::int64_t offset) {
  RecordField field;
  const Literal& name = literal.items[0];
  const bool has_title = name.kind == Literal::Kind::kSequence && name.items.size() == 2;
  field.name = has_title ? name.items[1].string : name.string;
  const Literal& type = literal.items[1];
  field.dtype = type.kind == Literal::Kind::kString ? type.string : type.text;
  if (literal.items.size() > 2) field.shape = parse_shape(literal.items[2]);
  field.offset = offset;
  field.bytes = dtype_bytes(field.dtype);
  for (const std::int64_t extent : field.shape) field.bytes = base::checked_multiply(field.bytes, extent, "dtype");
  return field;
}

}  // namespace

std::vector<RecordField> parse_record(const std::string& dtype) {
  std::vector<RecordField> fields;
  (void)dtype_bytes(dtype);  // throws unless each field has a name, a type and possibly a shape
  std::int64_t offset = 0;
  for (const Literal& literal : parse_literal(dtype).items) {
    RecordField field = parse_field(literal, offset);
    offset += field.bytes;  // cannot overflow: dtype_bytes() has checked the sum
    const bool is_padding = field.name.empty() && field.dtype.starts_with("|V") && field.shape.empty();
    if (!is_padding) fields.push_back(std::move(field));
  }
  return fields;
}

std::string print_record(std::span<const RecordField> fields, std::int64_t bytes) {
  std::string out = "[";
  std::int64_t end = 0;
  const auto append = [&](const std::string& item) { base::append_parts(out, out.size() == 1 ? "" : ", ", item); };
  for (const RecordField& field : fields) {
    if (field.offset > end) append(print_padding(field.offset - end));
    std::string item = base::text('(', quote(field.name), ", ",
                                  is_record(field.dtype) ? field.dtype : base::text('\'', field.dtype, '\''));
    if (!field.shape.empty()) {
      item += ", (";
      for (const std::int64_t extent : field.shape) base::append_parts(item, extent, ", ");
      item.resize(item.size() - (field.shape.size() == 1 ? 1 : 2));
      item += ')';
    }
    append(item + ')');
    end = field.offset + field.bytes;
  }
  if (bytes > end) append(print_padding(bytes - end));
  return out + "]";
}

}  // namespace plait::container::npy
