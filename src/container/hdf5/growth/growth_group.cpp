// The groups of this process, by file, and the lock under which changes of shapes are applied.

#include "container/hdf5/growth/growth_group.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "container/hdf5/changing/file_locking.hpp"

namespace plait::container::hdf5 {

namespace {

/// The longest time to wait for programs that have the file open for reading.
constexpr std::chrono::seconds kMaxWait{20};
constexpr std::chrono::milliseconds kPollInterval{5};

std::mutex& group_mutex() {
  static std::mutex mutex;
  return mutex;
}
std::map<std::string, std::weak_ptr<GrowthGroup>>& groups() {
  static std::map<std::string, std::weak_ptr<GrowthGroup>> groups;
  return groups;
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  if (error) base::throw_system_error(error.value(), "cannot find ", path, ": ", error.message());
  return resolved.string();
}

/// Waits until no other program has the file open through the HDF5 library, and keeps readers out until destruction.
/// The file must have a shared lock, which it gets back at the end.
class ExclusiveLock {
 public:
  ExclusiveLock(int file, const std::string& name) : file_(file) {
    if (!uses_file_locks()) return;
    const auto deadline = std::chrono::steady_clock::now() + kMaxWait;
    while (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      // Take the shared lock again: Linux has released it before it tried to get the exclusive one.
      (void)::flock(file_, LOCK_SH | LOCK_NB);
      if (std::chrono::steady_clock::now() > deadline)
        base::throw_system_error(EBUSY, name, " cannot be changed: its file has been open elsewhere for ",
                                 kMaxWait.count(),
                                 " s, in another program or by another library; it has its former content; close it "
                                 "there, and append again");
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  ~ExclusiveLock() { (void)::flock(file_, LOCK_SH | LOCK_NB); }
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;

 private:
  int file_;
};

}  // namespace

std::shared_ptr<GrowthGroup> GrowthGroup::make(const std::string& path, std::int64_t datasets) {
  std::shared_ptr<GrowthGroup> group(new GrowthGroup(canonical_path(path), datasets));
  const std::scoped_lock lock(group_mutex());
  std::weak_ptr<GrowthGroup>& known = groups()[group->path_];
  if (known.lock())
    base::throw_system_error(EBUSY, path, " is being extended in this process; wait for the end of that");
  known = group;
  return group;
}

std::shared_ptr<GrowthGroup> GrowthGroup::find(const std::string& path) {
  const std::string name = canonical_path(path);
  const std::scoped_lock lock(group_mutex());
  const auto found = groups().find(name);
  return found == groups().end() ? nullptr : found->second.lock();
}

std::shared_ptr<const void> GrowthGroup::begin_dataset(const std::string& name) {
  const std::scoped_lock lock(group_mutex());
  if (!exclusive_token_.expired())
    base::throw_system_error(EBUSY, name,
                             ": its file is being extended in this process, by a copy that appends to it; wait for the "
                             "end of that");
  const auto exclusive_token = std::make_shared<const char>();
  exclusive_token_ = exclusive_token;
  return exclusive_token;
}

const std::shared_ptr<ChangedFile>& GrowthGroup::file(const std::shared_ptr<store::Store>& store,
                                                      const std::string& name) {
  if (!file_) file_ = std::make_shared<ChangedFile>(store, name);
  return file_;
}

void GrowthGroup::add(DatasetGrowth change, std::int64_t free_offset) {
  changes_.push_back(std::move(change));
  file_->state().free_offset = free_offset;
}

void GrowthGroup::finish_dataset() {
  if (--unfinished_ > 0) return;
  if (!changes_.empty()) apply_exclusively(*file_, path_, changes_);
  changes_.clear();
  file_.reset();
}

void apply_exclusively(ChangedFile& file, const std::string& name, std::span<const DatasetGrowth> changes) {
  const ExclusiveLock lock(file.descriptor(), name);
  // Between two attempts to get the exclusive lock there was a moment without any lock. A program that opened the file
  // then may have changed it, and has cut off the appended bytes when it closed the file.
  const std::int64_t file_bytes = file.file().size();
  const auto is_outside = [&](const ChunkEntry& chunk) { return chunk.offset + chunk.bytes > file_bytes; };
  const auto is_cut_off = [&](const DatasetGrowth& growth) {
    return growth.end > file_bytes || std::ranges::any_of(growth.chunks, is_outside);
  };
  if (read_number(file.file(), file.state().fields.length) != file.state().old_length ||
      std::ranges::any_of(changes, is_cut_off))
    base::throw_system_error(EBUSY, name,
                             " has been changed by another program meanwhile; what was written here is not in it");
  file.state().free_offset = apply_growth({file.descriptor(), file.path(), file.state().free_offset}, changes);
  file.state().old_length = read_number(file.file(), file.state().fields.length);
  file.state().old_size = file.file().size();
}

}  // namespace plait::container::hdf5
