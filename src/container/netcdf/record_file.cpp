#include "container/netcdf/record_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/netcdf/default_fill.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

namespace {

/// Offset of the number of records in the header, after the magic.
constexpr std::int64_t kCountOffset = 4;
/// Maximum size of one write of fill values.
constexpr std::int64_t kMaxFillBytes = std::int64_t{4} << 20;

/// Guards registry().
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}
/// Returns the files of this process that are being extended, by the names of their stores.
std::map<std::string, std::weak_ptr<RecordFile>>& registry() {
  static std::map<std::string, std::weak_ptr<RecordFile>> files;
  return files;
}

/// Returns the fill value of a variable of type char, whose attribute _FillValue is a string; empty if it has none.
std::vector<std::byte> char_fill(const Member& member) {
  const ArrayAttribute* const fill = find_attribute(member.attributes, "_FillValue");
  if (fill == nullptr || fill->texts.size() != 1 || fill->texts[0].size() != 1) return {};
  return {static_cast<std::byte>(fill->texts[0][0])};
}

/// Writes the fill value of a variable into a record in memory. first_record: offset of the first record in the file.
void fill_variable(const Variable& variable, std::int64_t first_record, std::span<std::byte> record) {
  std::vector<std::byte> fill = variable.member.fill;
  if (fill.empty() && variable.member.type.dtype == "|S1") fill = char_fill(variable.member);
  if (fill.empty()) fill = default_fill(variable.member.type.dtype);
  if (fill.empty()) return;
  const std::int64_t begin = variable.records.begin - first_record;
  const auto bytes = static_cast<std::int64_t>(fill.size());
  for (std::int64_t at = 0; at < variable.records.row_bytes; at += bytes)
    std::memcpy(record.data() + begin + at, fill.data(), fill.size());
}

}  // namespace

std::shared_ptr<RecordFile> RecordFile::open(const std::shared_ptr<store::Store>& store, const std::string& name,
                                             const std::string& variable) {
  const std::scoped_lock lock(registry_mutex());
  std::weak_ptr<RecordFile>& entry = registry()[store->name()];
  std::shared_ptr<RecordFile> file = entry.lock();
  if (!file) entry = file = std::make_shared<RecordFile>(store, name);
  const std::scoped_lock file_lock(file->mutex_);
  if (!file->extensions_.try_emplace(variable, Extension{file->record_count_, file->record_count_}).second)
    base::throw_system_error(EBUSY, name,
                             " is being extended by this process under another name; close that file first");
  return file;
}

RecordFile::RecordFile(std::shared_ptr<store::Store> store, const std::string& name)
    : store_(std::move(store)), name_(name), file_(*store_, name) {
  const Header header = read_header(*store_, name);
  std::array<std::byte, 4> magic{};
  store_->read({{0, magic.data(), 4}});
  count_bytes_ = magic[3] == std::byte{5} ? 8 : 4;
  stored_count_ = read_count();
  first_record_ = INT64_MAX;
  for (const Variable& variable : header.variables) {
    if (!variable.grows) continue;
    const Rows& rows = variable.records;
    first_record_ = std::min(first_record_, rows.begin);
    record_count_ = rows.count;
    fill_record_.resize(static_cast<std::size_t>(rows.stride));
    rows_by_variable_.emplace(variable.member.name, rows);
    const std::int64_t end = record_count_ == 0 ? 0 : rows.begin + (record_count_ - 1) * rows.stride + rows.row_bytes;
    if (end > store_->size())
      base::throw_system_error(EIO, name, " cannot grow: \"", variable.member.name, "\" ends at byte ", end,
                               ", but the file has only ", store_->size(), " bytes; it has been truncated");
  }
  for (const Variable& variable : header.variables)
    if (variable.grows) fill_variable(variable, first_record_, fill_record_);
  filled_count_ = record_count_;
}

void RecordFile::release(const std::string& variable) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = extensions_.find(variable);
  if (found == extensions_.end()) return;
  try {
    clear_rows(variable, found->second.committed, found->second.extended);
  } catch (const std::exception&) {  // the elements stay; readers see them only if another variable is extended
  }
  extensions_.erase(found);
}

std::int64_t RecordFile::read_count() {
  std::array<std::byte, 8> bytes{};
  store_->read({{kCountOffset, bytes.data(), count_bytes_}});
  std::uint64_t count = 0;
  for (std::int64_t i = 0; i < count_bytes_; ++i)
    count = count << 8U | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(i)]);
  return static_cast<std::int64_t>(count);
}

void RecordFile::write_count(std::int64_t count) {
  std::array<std::byte, 8> number{};
  for (std::int64_t i = 0; i < count_bytes_; ++i)
    number[static_cast<std::size_t>(i)] =
        static_cast<std::byte>(static_cast<std::uint64_t>(count) >> (8 * (count_bytes_ - 1 - i)));
  store_->write({{kCountOffset, number.data(), count_bytes_}});
  stored_count_ = count;
}

void RecordFile::fill_records(std::int64_t count) {
  const auto bytes = static_cast<std::int64_t>(fill_record_.size());
  if (bytes == 0 || count <= filled_count_) return;
  // If the header states no number of records, readers compute it from the size of the file. The size changes now, so
  // write the number first.
  if (stored_count_ != record_count_) {
    write_count(record_count_);
    store_->sync();
  }
  const std::int64_t max_records = std::clamp<std::int64_t>(kMaxFillBytes / bytes, 1, count - filled_count_);
  std::vector<std::byte> records;
  for (std::int64_t i = 0; i < max_records; ++i)
    records.insert(records.end(), fill_record_.begin(), fill_record_.end());
  while (filled_count_ < count) {
    const std::int64_t next = std::min(max_records, count - filled_count_);
    store_->write({{first_record_ + filled_count_ * bytes, records.data(), next * bytes}});
    filled_count_ += next;
  }
}

void RecordFile::clear_rows(const std::string& variable, std::int64_t begin, std::int64_t end) {
  const auto found = rows_by_variable_.find(variable);
  if (found == rows_by_variable_.end() || found->second.row_bytes == 0) return;
  const Rows& rows = found->second;
  const std::byte* const fill = fill_record_.data() + (rows.begin - first_record_);
  for (std::int64_t i = begin; i < end; ++i) store_->write({{rows.begin + i * rows.stride, fill, rows.row_bytes}});
}

void RecordFile::extend(const std::string& variable, std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  // In the header, a number with all bits set means that the number of records is unknown.
  if (count_bytes_ == 4 && count >= std::int64_t{UINT32_MAX})
    base::throw_argument_error(name_, " cannot have ", count, " records: its header states at most ", UINT32_MAX - 1,
                               "; copy it to a netCDF-4 file");
  fill_records(count);
  // The number becomes smaller after a failed append().
  Extension& extension = extensions_.at(variable);
  clear_rows(variable, count, extension.extended);
  extension.extended = count;
}

void RecordFile::commit(const std::string& variable, std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  if (count > record_count_) {
    if (read_count() != stored_count_)
      base::throw_system_error(EBUSY, name_, " had ", record_count_,
                               " records, and another program has changed their number meanwhile; open it again, and "
                               "append again");
    write_count(count);
    record_count_ = count;
  }
  extensions_.at(variable).committed = count;
}

}  // namespace plait::container::netcdf
