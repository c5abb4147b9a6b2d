// Adding a variable to a classic netCDF file.
//
// Problem: a longer header may overlap the elements of the first variable, and no other program may see an incomplete
// header, even if this program is killed.
//
// Idea: the variable is added only if its description fits into the bytes between the header and the first variable.
// PnetCDF leaves such bytes free, and netCDF's library on request. The elements are stored after those of all other
// variables, or before the first record if the file has records. commit() first writes the bytes after the present end
// of the header, to which nothing refers. If all dimensions of the variable exist, only the number of variables remains
// to be changed, by one write of at most 12 bytes. Otherwise the whole header changes, through a journal.
//
// Example: a header of 200 bytes, the first variable at 512. v(x) needs 36 bytes: they are written to 200..235 and
// synced. Then the number of variables changes from 3 to 4.

#include "container/netcdf/new_variable.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/fill_value.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/members.hpp"
#include "container/netcdf/default_fill.hpp"
#include "container/netcdf/header_addition.hpp"
#include "container/netcdf/netcdf_header.hpp"
#include "container/netcdf/reader.hpp"

namespace plait::container::netcdf {

namespace {

constexpr const char* kFillName = "_FillValue";
/// Maximum size of one write of fill values.
constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20;
/// Size of the largest variable that a header of CDF-1 or CDF-2 can state.
constexpr std::int64_t kMaxVariableBytes = std::int64_t{UINT32_MAX} - 3;
/// Size of the tag and the count of a list in CDF-5. Changes of at most so many bytes are made by one write.
constexpr std::ptrdiff_t kMaxAtomicBytes = 12;

/// Describes the variable, without the offset of its elements.
Member describe_variable(const Header& header, const std::string& name, const FileOptions& options) {
  Member member = make_new_members(name, options, {}).front();
  if (member.chunk || member.shard || !member.codec.empty() || !member.unlimited.empty())
    base::throw_argument_error(name,
                               " cannot be added: chunks, shards, a codec or unlimited dimensions were given, but a "
                               "classic netCDF file stores arrays in one piece; leave them out");
  check_variable(header, member, name);
  const std::string& dtype = member.type.dtype;
  const ArrayAttribute* const stated = find_attribute(member.attributes, kFillName);
  if (stated != nullptr && stated->dtype != dtype && dtype != "|S1")
    base::throw_argument_error(name, " cannot be added: its attribute \"", kFillName, "\" has the dtype ",
                               stated->dtype, ", but its elements have ", dtype, "; give fill_value instead");
  if (stated != nullptr && !stated->is_texts()) member.fill = stated->values;
  if (!member.fill_value.empty() && stated == nullptr) {
    member.fill = zarr::encode_fill(zarr::parse_fill_value(name, member.fill_value, dtype), dtype);
    if (dtype != "|S1") member.attributes.push_back({kFillName, dtype, {}, member.fill});
  }
  const auto bytes = array_bytes(member.type.shape, member.type.element_bytes);
  if (!bytes) base::throw_argument_error(name, " has more than 2^63 - 1 bytes; make it smaller");
  member.stored = *bytes;
  return member;
}

/// Returns the offset of the elements.  header_end: the offset after the new header.
/// errors  kArgument: there is no space.
std::int64_t find_offset(const Header& header, const Member& member, std::int64_t header_end, const std::string& name) {
  constexpr const char* kCopyAdvice = "; copy the file to a netCDF-4 file (plait copy), and add it there";
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  // offset of the first variable
  std::int64_t first_record = first;                              // offset of the first record
  std::int64_t end = header_end;                                  // end of the variables that do not grow
  std::int64_t largest = member.stored;                           // size of the largest variable or record
  for (const Variable& variable : header.variables) {
    const Rows& rows = variable.grows ? variable.records : variable.rows;
    first = std::min(first, rows.begin);
    largest = std::max(largest, rows.row_bytes);
    if (variable.grows)
      first_record = std::min(first_record, rows.begin);
    else
      end = std::max(end, rows.begin + rows.row_bytes);
  }
  if (header_end > first)
    base::throw_argument_error(name, " cannot be added: its description needs ", header_end - header.positions.end,
                               " bytes in the header, but there are ", first - header.positions.end,
                               " before the first variable", kCopyAdvice);
  const std::int64_t offset = padded(end);
  const std::int64_t variable_end = base::checked_add(offset, padded(member.stored), "bytes of the file");
  if (variable_end > first_record)
    base::throw_argument_error(name, " cannot be added: the file has records, which follow each other to its end",
                               kCopyAdvice);
  const int version = header.positions.version;
  if ((version == 1 && offset > INT32_MAX) || (version != 5 && largest > kMaxVariableBytes))
    base::throw_argument_error(name, " cannot be added: the header of CDF-", version,
                               " does not state the sizes and offsets of such large variables", kCopyAdvice);
  return offset;
}

}  // namespace

NewVariable::NewVariable(std::shared_ptr<store::Store> store, const std::string& name, const FileOptions& options)
    : store_(std::move(store)), name_(name), file_(*store_, name) {
  // `file_` has locked the file, so that no other program changes the header from here on.
  const Header header = read_header(*store_, name);
  member_ = describe_variable(header, name, options);
  for (const Variable& variable : header.variables)
    if (variable.member.name == member_.name)
      base::throw_system_error(EBUSY, name, " has been added by another program meanwhile; open it again");
  old_header_end_ = header.positions.end;
  old_file_size_ = store_->size();
  std::vector<std::byte> before(static_cast<std::size_t>(old_header_end_));
  store_->read({{0, before.data(), old_header_end_}});
  // Make the header twice: its length determines the offset of the elements. The second one has the same length,
  // because an offset is stored in a fixed number of bytes.
  const auto bytes = static_cast<std::int64_t>(add_to_header(header, before, member_, name).size());
  member_.data_offset = find_offset(header, member_, bytes, name);
  new_header_ = add_to_header(header, before, member_, name);
  old_header_ = std::move(before);
  old_header_.resize(new_header_.size());
  if (const std::int64_t stored_end = std::min(bytes, old_file_size_); stored_end > old_header_end_)
    store_->read({{old_header_end_, old_header_.data() + old_header_end_, stored_end - old_header_end_}});
  try {
    fill();
  } catch (...) {
    discard();
    throw;
  }
}

NewVariable::~NewVariable() { discard(); }

void NewVariable::discard() noexcept {
  if (is_committed_ || member_.data_offset < old_file_size_) return;
  try {
    file_.resize(old_file_size_);
  } catch (const std::exception&) {  // harmless: the header does not refer to the elements
  }
}

void NewVariable::fill() const {
  std::vector<std::byte> element = member_.fill.empty() ? default_fill(member_.type.dtype) : member_.fill;
  if (element.empty()) element.resize(static_cast<std::size_t>(member_.type.element_bytes));
  const std::int64_t bytes = padded(member_.stored);
  std::vector<std::byte> piece;
  while (std::cmp_less(piece.size(), std::min(bytes, kPieceBytes)))
    piece.insert(piece.end(), element.begin(), element.end());
  for (std::int64_t done = 0; done < bytes; done += static_cast<std::int64_t>(piece.size()))
    store_->write(
        {{member_.data_offset + done, piece.data(), std::min(bytes - done, static_cast<std::int64_t>(piece.size()))}});
}

void NewVariable::commit() {
  std::vector<std::byte> present(static_cast<std::size_t>(old_header_end_));
  store_->read({{0, present.data(), old_header_end_}});
  if (!std::equal(present.begin(), present.end(), old_header_.begin()))
    base::throw_system_error(EBUSY, name_,
                             ": another program has changed the header of the file meanwhile; open it again, and write "
                             "again");
  // Write the bytes after the old header first, because nothing refers to them yet.
  const auto bytes = static_cast<std::int64_t>(new_header_.size());
  store_->write({{old_header_end_, new_header_.data() + old_header_end_, bytes - old_header_end_}});
  store_->sync();
  // [begin, end) is the part of the old header that changes.
  const auto [old_first, new_first] = std::mismatch(present.begin(), present.end(), new_header_.begin());
  const auto begin = old_first - present.begin();
  auto end = static_cast<std::ptrdiff_t>(old_header_end_);
  while (end > begin && present[static_cast<std::size_t>(end - 1)] == new_header_[static_cast<std::size_t>(end - 1)])
    --end;
  is_committed_ = true;
  if (end - begin <= kMaxAtomicBytes) {
    store_->write({{begin, new_header_.data() + begin, end - begin}});
    return store_->sync();
  }
  const std::int64_t size = store_->size();
  const hdf5::FilePatch changes{
      size, size, {{begin, {present.begin() + begin, present.begin() + end}, {new_first, new_header_.begin() + end}}}};
  if (!hdf5::write_through_journal(file_.descriptor(), std::filesystem::absolute(store_->name()).string(), changes))
    base::throw_system_error(EACCES, name_,
                             " cannot be added: its folder permits no new file, and the change needs a journal there; "
                             "permit new files");
}

}  // namespace plait::container::netcdf
