// Parsing the header of a classic netCDF file, and locating the elements of its variables.
//
// Variables without the record dimension (the unlimited one) come first; each is contiguous. Then come records: record
// 0 of all variables that grow, then record 1 of all of them, and so on. In a record the part of each variable is
// padded to a multiple of 4 bytes, unless only one variable grows.
// Example: records begin at byte 100. a grows with 3 shorts a record (6 bytes, padded to 8), b with 2 ints (8 bytes).
//    a: rows of 6 bytes at 100, 116, 132, ...    b: rows of 8 bytes at 108, 124, 140, ...
// If a alone grows, its records are 6 bytes apart, at 100, 106, 112, ..., so that it is contiguous.
//
// A writer that cannot seek back to the header, such as one that writes to a pipe, leaves the number of records open.
// It then follows from the size of the file.

#include "container/netcdf/netcdf_header.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/netcdf/grammar.hpp"
#include "container/netcdf/reader.hpp"

namespace plait::container::netcdf {

namespace {

using base::text;

/// A variable as the header states it.
struct StatedVariable {
  std::string name;
  const ElementType* type = nullptr;
  Extents shape;
  std::vector<std::string> dimension_names{};
  ArrayAttributes attributes{};
  bool grows = false;      ///< true if its first dimension is the record dimension
  std::int64_t bytes = 0;  ///< size of a record, or of the whole variable
  std::int64_t begin = 0;
  std::int64_t position = 0;  ///< position of its offset in the header
};

/// Reads a header from its beginning to its end; each function reads the next part.
class HeaderReader {
 public:
  HeaderReader(store::Store& store, const std::string& file) : reader_(store, file), size_(store.size()), file_(file) {}
  Header read();

 private:
  /// Reads the tag of a list and the number of its members, 0 if the list is absent.
  std::int64_t read_list(std::uint64_t tag, std::int64_t min_bytes, const char* what);
  const ElementType& read_type();
  void read_dimensions();
  ArrayAttributes read_attributes();
  StatedVariable read_variable();
  void read_shape(StatedVariable& variable);
  /// Computes the size of a record of all variables that grow, and the number of records.
  void compute_records();
  void check_no_overlap();

  Reader reader_;
  std::int64_t size_;
  const std::string& file_;
  int version_ = 1;
  int count_bytes_ = 4;                          // number of bytes in which the header states a count
  std::optional<std::int64_t> record_count_;     // nothing if the header leaves it open
  std::int64_t record_bytes_ = 0;                // size of a record of all variables that grow
  std::optional<std::size_t> record_dimension_;  // number of the record dimension
  Extents dimensions_;                           // lengths of the dimensions; 0 for the record dimension
  std::vector<std::string> names_;               // names of the dimensions
  std::vector<StatedVariable> variables_;
};

std::int64_t HeaderReader::read_list(std::uint64_t tag, std::int64_t min_bytes, const char* what) {
  const std::int64_t at = reader_.position();
  const std::uint64_t found = reader_.read_number(4);
  const std::int64_t count = reader_.read_count(count_bytes_, min_bytes, what);
  if (found != tag && (found != 0 || count != 0))
    reader_.throw_damaged_at(at, text("found the tag ", found, " where a list of ", what, " was expected"));
  return count;
}

const ElementType& HeaderReader::read_type() {
  const std::int64_t at = reader_.position();
  const std::uint64_t number = reader_.read_number(4);
  if (number < 1 || number > (version_ == 5 ? kTypes.size() : kClassicTypes))
    reader_.throw_damaged_at(at, text("there is no type of elements with the number ", number));
  return kTypes[static_cast<std::size_t>(number) - 1];
}

void HeaderReader::read_dimensions() {
  const std::int64_t count = read_list(kDimensionTag, 2 * count_bytes_, "dimensions");
  for (std::int64_t i = 0; i < count; ++i) {
    names_.push_back(reader_.read_name(count_bytes_));
    const std::int64_t at = reader_.position();
    const std::uint64_t length = reader_.read_number(count_bytes_);
    if (length > static_cast<std::uint64_t>(INT64_MAX))
      reader_.throw_damaged_at(at, text("a dimension has the length ", length));
    if (length == 0) {
      if (record_dimension_)
        reader_.throw_damaged_at(at, "there are two record dimensions, and the format permits one");
      record_dimension_ = dimensions_.size();
    }
    dimensions_.push_back(static_cast<std::int64_t>(length));
  }
}

ArrayAttributes HeaderReader::read_attributes() {
  const std::int64_t count = read_list(kAttributeTag, 2 * count_bytes_ + 4, "attributes");
  ArrayAttributes found;
  for (std::int64_t i = 0; i < count; ++i) {
    std::string name = reader_.read_name(count_bytes_);
    const ElementType& element = read_type();
    const std::int64_t values = reader_.read_count(count_bytes_, element.bytes, "values of an attribute");
    if (values * element.bytes > kMaxAttributeBytes) {
      reader_.skip(padded(values * element.bytes));
      ArrayAttribute& large = found.emplace_back();
      large.name = std::move(name);
      large.dtype = element.dtype;
      large.error = text("it has more than ", kMaxAttributeBytes, " bytes");
      continue;
    }
    std::vector<std::byte> content = reader_.read_padded(values * element.bytes);
    if (element.name == "char") {
      const std::string_view bytes(reinterpret_cast<const char*>(content.data()), content.size());
      found.push_back(text_attribute(std::move(name), to_utf8(bytes.substr(0, bytes.find_last_not_of('\0') + 1))));
      continue;
    }
    // netCDF does not distinguish one value from a list of one value.
    const Extents shape = values == 1 ? Extents{} : Extents{values};
    found.push_back({std::move(name), std::string(element.dtype), shape, std::move(content)});
  }
  return found;
}

void HeaderReader::read_shape(StatedVariable& variable) {
  const std::int64_t at = reader_.position();
  const std::int64_t count = reader_.read_count(count_bytes_, count_bytes_, "dimensions of a variable");
  if (count > static_cast<std::int64_t>(kMaxDimensions))
    reader_.throw_damaged_at(
        at, text("\"", variable.name, "\" has ", count, " dimensions; at most ", kMaxDimensions, " are supported"));
  for (std::int64_t d = 0; d < count; ++d) {
    const std::int64_t number_position = reader_.position();
    const std::uint64_t number = reader_.read_number(count_bytes_);
    if (number >= dimensions_.size())
      reader_.throw_damaged_at(number_position,
                               text("\"", variable.name, "\" has the dimension ", number, " of ", dimensions_.size()));
    const bool record = number == record_dimension_;
    if (record && d > 0)
      reader_.throw_damaged_at(number_position,
                               text("\"", variable.name, "\" has the record dimension after another one"));
    variable.grows = variable.grows || record;
    variable.dimension_names.push_back(names_[static_cast<std::size_t>(number)]);
    variable.shape.push_back(record ? 1 : dimensions_[static_cast<std::size_t>(number)]);
  }
}

StatedVariable HeaderReader::read_variable() {
  StatedVariable variable;
  variable.name = reader_.read_name(count_bytes_);
  read_shape(variable);
  variable.attributes = read_attributes();
  variable.type = &read_type();
  (void)reader_.read_number(
      count_bytes_);  // the stated size, which follows from the shape and is wrong for large variables
  variable.position = reader_.position();
  const std::uint64_t begin = reader_.read_number(version_ == 1 ? 4 : 8);
  const auto bytes = array_bytes(variable.shape, variable.type->bytes);
  if (!bytes || begin > static_cast<std::uint64_t>(INT64_MAX - 4) ||
      *bytes > INT64_MAX - 4 - static_cast<std::int64_t>(begin))
    reader_.throw_damaged_at(variable.position, text("\"", variable.name, "\" ends after byte 2^63"));
  variable.begin = static_cast<std::int64_t>(begin);
  variable.bytes = *bytes;
  return variable;
}

void HeaderReader::compute_records() {
  std::int64_t count = 0;
  std::int64_t first = INT64_MAX;
  const StatedVariable* only = nullptr;
  for (const StatedVariable& variable : variables_) {
    if (!variable.grows) continue;
    only = &variable;
    ++count;
    first = std::min(first, variable.begin);
    if (__builtin_add_overflow(record_bytes_, padded(variable.bytes), &record_bytes_))
      reader_.throw_damaged_at(variable.position, "records have more than 2^63 bytes");
  }
  // Records of one variable alone have no padding.
  if (count == 1) record_bytes_ = only->bytes;
  if (count == 0) return;
  if (!record_count_) {  // the header leaves it open
    record_count_ = record_bytes_ == 0 ? 0 : std::max<std::int64_t>(0, size_ - first) / record_bytes_;
  }
  std::int64_t all = 0;
  if (__builtin_mul_overflow(*record_count_, record_bytes_, &all) || all > INT64_MAX - first)
    reader_.throw_damaged_at(4, text(*record_count_, " records of ", record_bytes_, " bytes end after byte 2^63"));
}

/// Checks that no variable overlaps another one or the header.
/// errors  kSystem: a variable overlaps.
void HeaderReader::check_no_overlap() {
  std::ranges::stable_sort(variables_, {}, &StatedVariable::begin);
  // Ends of what was seen so far: [0] of variables without the record dimension, [1] of the first record.
  std::int64_t ends[2] = {reader_.position(), reader_.position()};
  std::int64_t first_record = -1;
  for (const StatedVariable& variable : variables_) {
    std::int64_t& end = ends[variable.grows ? 1 : 0];
    if (variable.bytes > 0 && variable.begin < end)
      reader_.throw_damaged_at(variable.position, text("\"", variable.name, "\" begins at byte ", variable.begin,
                                                       ", but what is in front of it ends at byte ", end));
    end = std::max(end, variable.begin + variable.bytes);
    if (variable.grows && first_record < 0) first_record = variable.begin;
    if (variable.grows && end - first_record > std::max(record_bytes_, variable.bytes))
      reader_.throw_damaged_at(variable.position,
                               text("\"", variable.name, "\" ends ", end - first_record,
                                    " bytes after the beginning of a record, which has ", record_bytes_));
  }
  for (const StatedVariable& variable : variables_)
    if (first_record >= 0 && !variable.grows && variable.bytes > 0 && variable.begin + variable.bytes > first_record &&
        variable.begin < first_record + *record_count_ * record_bytes_)
      reader_.throw_damaged_at(variable.position, text("\"", variable.name, "\" is at bytes ", variable.begin, " to ",
                                                       variable.begin + variable.bytes,
                                                       ", among the records, which begin at byte ", first_record));
}

Header HeaderReader::read() {
  const std::uint64_t magic = reader_.read_number(4);
  version_ = static_cast<int>(magic & 0xff);
  if (magic >> 8 != 0x434446 || (version_ != 1 && version_ != 2 && version_ != 5))  // the letters CDF
    base::throw_system_error(0, "cannot open ", file_,
                             " as netCDF: it does not begin like a classic file (CDF "
                             "and the number 1, 2 or 5); rename it");
  count_bytes_ = version_ == 5 ? 8 : 4;
  const std::uint64_t count = reader_.read_number(count_bytes_);
  if (count != (version_ == 5 ? UINT64_MAX : UINT32_MAX)) {
    if (count > static_cast<std::uint64_t>(INT64_MAX))
      reader_.throw_damaged_at(4, text("there are ", count, " records"));
    record_count_ = static_cast<std::int64_t>(count);
  }
  Header result;
  result.positions.version = version_;
  result.positions.dimensions = reader_.position();
  read_dimensions();
  result.positions.dimensions_end = reader_.position();
  result.attributes = read_attributes();
  result.positions.variables = reader_.position();
  const std::int64_t variables = read_list(kVariableTag, 4 * count_bytes_ + 8, "variables");
  for (std::int64_t i = 0; i < variables; ++i) variables_.push_back(read_variable());
  result.positions.end = reader_.position();
  compute_records();
  check_no_overlap();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool grows = i == record_dimension_;
    result.dimensions.push_back({names_[i], grows ? record_count_.value_or(0) : dimensions_[i], grows});
  }
  for (StatedVariable& stated : variables_) {
    Variable& next = result.variables.emplace_back();
    const std::int64_t rows = stated.grows ? *record_count_ : 1;
    const bool is_contiguous = !stated.grows || rows <= 1 || stated.bytes == record_bytes_ || stated.bytes == 0;
    next.rows = is_contiguous ? Rows{stated.begin, stated.bytes * rows, stated.bytes * rows, 1}
                              : Rows{stated.begin, stated.bytes, record_bytes_, rows};
    next.grows = stated.grows;
    if (stated.grows) next.records = {stated.begin, stated.bytes, record_bytes_, rows};
    Member& member = next.member;
    member.name = std::move(stated.name);
    member.element = stated.type->name;
    member.stored = stated.bytes * rows;
    member.storage = is_contiguous ? "contiguous" : text("records, each ", record_bytes_, " bytes after the last");
    member.type = {std::move(stated.shape), std::string(stated.type->dtype), stated.type->bytes, Order::kC};
    if (stated.grows) {
      member.type.shape.front() = rows;
      member.unlimited = {0};
    }
    member.dimension_names = std::move(stated.dimension_names);
    const ArrayAttribute* const fill = find_attribute(stated.attributes, "_FillValue");
    if (fill != nullptr && fill->dtype == member.type.dtype && fill->shape.empty()) member.fill = fill->values;
    member.attributes = std::move(stated.attributes);
    member.data_offset = member.stored == 0 ? 0 : stated.begin;  // the offset may be after the end of the file
  }
  return result;
}

}  // namespace

Header read_header(store::Store& store, const std::string& file) { return HeaderReader(store, file).read(); }

}  // namespace plait::container::netcdf
