// Adding a variable to a header (The NetCDF Classic Format Specification, Unidata).
//
// The header consists of the number of records, a list of dimensions, a list of attributes, and a list of variables. A
// list begins with its tag and the number of its members. New dimensions are inserted at the end of their list, which
// moves all bytes after it; the variable is appended at the end of the header.
//
// Example: a header of 200 bytes in CDF-1 has the dimension x. The variable v(x) without attributes is described by
//    4 + 4 name    4 + 4 number of dimensions, x    8 no attributes    4 type    4 size    4 offset
// at 200..235, and the number of variables changes. For v(x, z) with a new dimension z, 12 bytes for z are inserted
// into the list of dimensions, and v, with 4 bytes more for the number of z, is described at 212..251.

#include "container/netcdf/header_addition.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/netcdf/grammar.hpp"
#include "container/netcdf/reader.hpp"
#include "container/npy/encoding.hpp"

namespace plait::container::netcdf {

namespace {

using base::text;

constexpr std::uint64_t kChar = 2;      // number of the type char
constexpr std::int64_t kMaxName = 256;  // NC_MAX_NAME of netCDF's library
constexpr const char* kRemedy = "copy the file to a netCDF-4 file (plait copy), and add it there";

/// Returns the number of a type; 0 if the version has no such type.
std::uint64_t type_number(std::string_view dtype, int version) {
  const auto found =
      std::ranges::find(kTypes, dtype.substr(1), [](const ElementType& type) { return type.dtype.substr(1); });
  const auto number = static_cast<std::uint64_t>(found - kTypes.begin()) + 1;
  return number <= (version == 5 ? kTypes.size() : kClassicTypes) ? number : 0;
}

/// Returns true if the elements are stored with the most significant byte first.
bool is_big_endian(std::string_view dtype) { return dtype[0] == '>' || dtype[0] == '|'; }

/// Writes a header, or a part of it, to memory.
class Writer {
 public:
  explicit Writer(int version) : version_(version) {}
  int version() const { return version_; }
  std::vector<std::byte>& bytes() { return bytes_; }
  /// Writes a big-endian number of `bytes` bytes.
  void write_number(std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void write_count(std::size_t value) { write_number(value, version_ == 5 ? 8 : 4); }
  void write_padded(std::span<const std::byte> content) {
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    bytes_.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(bytes_.size()))));
  }
  void write_name(const std::string& name) {
    write_count(name.size());
    write_padded(std::as_bytes(std::span(name)));
  }

 private:
  int version_;
  std::vector<std::byte> bytes_;  // begins at a multiple of 4
};

/// Converts integers of 8 bytes to 4 bytes, which all versions have; empty if one is too large.
std::vector<std::byte> narrow_integers(std::span<const std::byte> values, bool is_big) {
  std::vector<std::byte> narrow;
  for (std::size_t at = 0; at + 8 <= values.size(); at += 8) {
    std::array<std::byte, 8> bytes{};
    std::ranges::copy(values.subspan(at, 8), bytes.begin());
    if (is_big) std::ranges::reverse(bytes);
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    if (value < INT32_MIN || value > INT32_MAX) return {};
    for (std::size_t i = 4; i-- > 0;) narrow.push_back(bytes[i]);
  }
  return narrow;
}

void write_attribute(Writer& out, const ArrayAttribute& attribute, const std::string& name_in_errors) {
  const auto reject = [&](const char* why) {
    base::throw_argument_error(name_in_errors, " cannot be added: its attribute \"", attribute.name, "\" ", why,
                               ", which classic netCDF does not have; leave it out, or ", kRemedy);
  };
  out.write_name(attribute.name);
  if (attribute.is_texts()) {
    if (attribute.texts.size() != 1) reject("is a list of texts");
    out.write_number(kChar, 4);
    return out.write_name(attribute.texts.front());
  }
  if (attribute.is_json() || !attribute.error.empty()) reject("is no number and no text");
  const std::string_view dtype = attribute.dtype;
  const auto width = static_cast<std::size_t>(dtype.back() - '0');  // bytes of a value
  std::uint64_t type = type_number(dtype, out.version());
  std::vector<std::byte> values = attribute.values;
  if (type == 0 && dtype.ends_with("i8")) {
    values = narrow_integers(values, is_big_endian(dtype));
    if (values.empty()) reject("has an integer of more than 32 bits");
    type = type_number("|i4", out.version());
  } else if (type == 0 || type == kChar) {
    reject("has values of another type");
  } else if (!is_big_endian(dtype)) {
    for (std::size_t at = 0; at + width <= values.size(); at += width)
      std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at),
                   values.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  out.write_number(type, 4);
  out.write_count(attribute.values.size() / width);
  out.write_padded(values);
}

/// Returns the number of a dimension in the header; nothing if the header does not have it.
std::optional<std::size_t> find_dimension(const Header& header, const std::string& name) {
  const auto found = std::ranges::find(header.dimensions, name, &GroupDimension::name);
  if (found == header.dimensions.end()) return {};
  return static_cast<std::size_t>(found - header.dimensions.begin());
}

/// Returns the dimensions that the header does not have, each once.
std::vector<GroupDimension> find_new_dimensions(const Header& header, const Member& member) {
  std::vector<GroupDimension> added;
  for (std::size_t d = 0; d < member.type.shape.size(); ++d) {
    const std::string& name = member.dimension_names[d];
    if (!find_dimension(header, name) && std::ranges::find(added, name, &GroupDimension::name) == added.end())
      added.push_back({name, member.type.shape[d], false});
  }
  return added;
}

/// Writes the description of a variable.  numbers: the numbers of its dimensions.
void write_variable(Writer& out, const Member& member, const std::vector<std::size_t>& numbers,
                    const std::string& name_in_errors) {
  out.write_name(member.name);
  out.write_count(numbers.size());
  for (const std::size_t number : numbers) out.write_count(number);
  out.write_number(member.attributes.empty() ? 0 : kAttributeTag, 4);
  out.write_count(member.attributes.size());
  for (const ArrayAttribute& attribute : member.attributes) write_attribute(out, attribute, name_in_errors);
  out.write_number(type_number(member.type.dtype, out.version()), 4);
  out.write_count(static_cast<std::size_t>(padded(member.stored)));
  out.write_number(static_cast<std::uint64_t>(member.data_offset), out.version() == 1 ? 4 : 8);
}

bool is_valid_name(const std::string& name) {
  return !name.empty() && std::cmp_less_equal(name.size(), kMaxName) && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && npy::is_utf8(name);
}

}  // namespace

void check_variable(const Header& header, const Member& member, const std::string& name_in_errors) {
  const int version = header.positions.version;
  const auto reject = [&](const auto&... why) {
    base::throw_argument_error(name_in_errors, " cannot be added: ", why...);
  };
  if (!is_valid_name(member.name))
    reject("\"", member.name, "\" is no name of a variable of classic netCDF; give another name");
  const std::string& dtype = member.type.dtype;
  if (type_number(dtype, version) == 0)
    reject("files of CDF-", version, " have no elements of dtype ", dtype, "; give another dtype, or ", kRemedy);
  if (!is_big_endian(dtype))
    reject("classic netCDF has big-endian elements, but the dtype is ", dtype, "; give >", dtype.substr(1));
  if (member.type.order != Order::kC)
    reject("classic netCDF has arrays in order C, but order=F was given; leave it out");
  if (member.dimension_names.size() != member.type.shape.size())
    reject("it has ", member.type.shape.size(), " dimensions and ", member.dimension_names.size(),
           " names of dimensions; give one for each");
  for (std::size_t d = 0; d < member.type.shape.size(); ++d) {
    const std::string& name = member.dimension_names[d];
    const std::int64_t length = member.type.shape[d];
    const auto found = find_dimension(header, name);
    if (!is_valid_name(name)) reject("\"", name, "\" is no name of a dimension of classic netCDF; give another name");
    if (found && header.dimensions[*found].unlimited)
      reject("its dimension \"", name,
             "\" is the unlimited one of the file, and a further variable with it moves all records; ", kRemedy);
    if (found && header.dimensions[*found].length != length)
      reject("it has ", length, " elements along dimension \"", name, "\", which has ",
             header.dimensions[*found].length,
             " in the file; give the array this length, or the dimension another name");
    const auto first = std::ranges::find(member.dimension_names, name) - member.dimension_names.begin();
    if (member.type.shape[static_cast<std::size_t>(first)] != length)
      reject("its dimension \"", name, "\" has two lengths; give the dimensions different names");
    if (length == 0)
      reject("its dimension \"", name, "\" has no elements, which classic netCDF does not have; ", kRemedy);
    if (!found && version != 5 && length > INT32_MAX)
      reject("its dimension \"", name, "\" has more than 2^31 - 1 elements; ", kRemedy);
  }
}

std::vector<std::byte> add_to_header(const Header& header, std::span<const std::byte> before, const Member& member,
                                     const std::string& name_in_errors) {
  const HeaderPositions& at = header.positions;
  const std::vector<GroupDimension> added = find_new_dimensions(header, member);
  const auto list_bytes = std::size_t{4} + (at.version == 5 ? 8 : 4);  // tag and count of a list
  const auto copy = [&](Writer& out, std::int64_t begin, std::int64_t end) {
    out.write_padded(before.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  };
  Writer out(at.version);
  copy(out, 0, at.dimensions);
  if (const std::size_t all = header.dimensions.size() + added.size(); all == 0) {
    copy(out, at.dimensions, at.dimensions_end);
  } else {
    out.write_number(kDimensionTag, 4);
    out.write_count(all);
    copy(out, at.dimensions + static_cast<std::int64_t>(list_bytes), at.dimensions_end);
  }
  for (const GroupDimension& dimension : added) {
    out.write_name(dimension.name);
    out.write_count(static_cast<std::size_t>(dimension.length));
  }
  copy(out, at.dimensions_end, at.variables);
  out.write_number(kVariableTag, 4);
  out.write_count(header.variables.size() + 1);
  copy(out, at.variables + static_cast<std::int64_t>(list_bytes), at.end);
  std::vector<std::size_t> numbers;
  for (const std::string& name : member.dimension_names) {
    const auto found = find_dimension(header, name);
    numbers.push_back(
        found ? *found
              : header.dimensions.size() +
                    static_cast<std::size_t>(std::ranges::find(added, name, &GroupDimension::name) - added.begin()));
  }
  write_variable(out, member, numbers, name_in_errors);
  return std::move(out.bytes());
}

}  // namespace plait::container::netcdf
