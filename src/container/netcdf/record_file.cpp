#include "container/netcdf/record_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/netcdf/default_fill.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

namespace {

/// Offset of the number of records in the header.
constexpr std::int64_t kCountOffset = 4;
constexpr std::int64_t kFilledAtOnce = std::int64_t{4} << 20;

std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}
std::map<std::string, std::weak_ptr<RecordFile>>& registry() {
  static std::map<std::string, std::weak_ptr<RecordFile>> files;
  return files;
}

/// Writes the fill value of a variable into a record.
void fill_variable(const Variable& variable, std::int64_t first, std::span<std::byte> record) {
  std::vector<std::byte> fill = variable.member.fill;
  if (fill.empty()) fill = default_fill(variable.member.type.dtype);
  if (fill.empty()) return;
  const std::int64_t begin = variable.records.begin - first;
  const auto bytes = static_cast<std::int64_t>(fill.size());
  for (std::int64_t at = 0; at < variable.records.row; at += bytes)
    std::memcpy(record.data() + begin + at, fill.data(), fill.size());
}

}  // namespace

std::shared_ptr<RecordFile> RecordFile::open(const std::shared_ptr<store::Store>& store, const std::string& name,
                                             const std::string& variable) {
  const std::scoped_lock lock(registry_mutex());
  std::weak_ptr<RecordFile>& known = registry()[store->name()];
  std::shared_ptr<RecordFile> file = known.lock();
  if (!file) known = file = std::make_shared<RecordFile>(store, name);
  const std::scoped_lock of_file(file->mutex_);
  if (!file->variables_.insert(variable).second)
    base::throw_system_error(EBUSY, name, " is being extended under another name here; close it there first");
  return file;
}

RecordFile::RecordFile(std::shared_ptr<store::Store> store, const std::string& name)
    : store_(std::move(store)), name_(name), file_(*store_, name) {
  const Header header = read_header(*store_, name);
  std::array<std::byte, 4> magic{};
  store_->read({{0, magic.data(), 4}});
  number_bytes_ = magic[3] == std::byte{5} ? 8 : 4;
  stated_ = stated_count();
  begin_ = INT64_MAX;
  for (const Variable& variable : header.variables) {
    if (!variable.grows) continue;
    begin_ = std::min(begin_, variable.records.begin);
    count_ = variable.records.count;
    record_.resize(static_cast<std::size_t>(variable.records.stride));
  }
  for (const Variable& variable : header.variables)
    if (variable.grows) fill_variable(variable, begin_, record_);
  filled_ = count_;
}

void RecordFile::release(const std::string& variable) {
  const std::scoped_lock lock(mutex_);
  variables_.erase(variable);
}

std::int64_t RecordFile::stated_count() {
  std::array<std::byte, 8> bytes{};
  store_->read({{kCountOffset, bytes.data(), number_bytes_}});
  std::uint64_t count = 0;
  for (std::int64_t i = 0; i < number_bytes_; ++i)
    count = count << 8U | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(i)]);
  return static_cast<std::int64_t>(count);
}

void RecordFile::extend(std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  // The number with all bits set means that the number is unknown.
  if (number_bytes_ == 4 && count >= std::int64_t{UINT32_MAX})
    base::throw_argument_error(name_, " cannot have ", count, " records: its header states at most ", UINT32_MAX - 1,
                               "; copy it to a netCDF-4 file");
  const auto bytes = static_cast<std::int64_t>(record_.size());
  if (bytes == 0 || count <= filled_) return;
  const std::int64_t at_once = std::clamp<std::int64_t>(kFilledAtOnce / bytes, 1, count - filled_);
  std::vector<std::byte> records;
  for (std::int64_t i = 0; i < at_once; ++i) records.insert(records.end(), record_.begin(), record_.end());
  while (filled_ < count) {
    const std::int64_t next = std::min(at_once, count - filled_);
    store_->write({{begin_ + filled_ * bytes, records.data(), next * bytes}});
    filled_ += next;
  }
}

void RecordFile::commit(std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  if (count <= count_) return;
  if (stated_count() != stated_)
    base::throw_system_error(EBUSY, name_, " had ", count_,
                             " records, and another program has changed their number meanwhile; open it again, and "
                             "append again");
  std::array<std::byte, 8> number{};
  for (std::int64_t i = 0; i < number_bytes_; ++i)
    number[static_cast<std::size_t>(i)] =
        static_cast<std::byte>(static_cast<std::uint64_t>(count) >> (8 * (number_bytes_ - 1 - i)));
  store_->write({{kCountOffset, number.data(), number_bytes_}});
  stated_ = count_ = count;
}

}  // namespace plait::container::netcdf
