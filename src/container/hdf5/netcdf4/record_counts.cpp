// Recognizing unchanged files, and the cached lengths of their dimensions.

#include "container/hdf5/netcdf4/record_counts.hpp"

#include <algorithm>
#include <ctime>

namespace plait::container::hdf5 {

namespace {

constexpr std::size_t kMaxFiles = 8;
constexpr std::time_t kStableSeconds = 2;  // the header explains why

bool same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool same_state(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) &&
         same_time(a.st_ctim, b.st_ctim);
}

}  // namespace

RecordCounts::RecordCounts(int descriptor) {
  if (::fstat(descriptor, &state_) != 0) return;
  // If the clock was set back, or a file server sets the times, a file can seem newer than it is. It is not cached
  // then, which costs time but is never wrong.
  is_stable_ = std::max(state_.st_mtim.tv_sec, state_.st_ctim.tv_sec) + kStableSeconds < std::time(nullptr);
}

std::vector<RecordCounts::File>& RecordCounts::files() {
  static std::vector<File> files;
  return files;
}

RecordCounts::File* RecordCounts::find_file() const {
  if (!is_stable_) return nullptr;
  std::vector<File>& cached = files();
  const auto found = std::ranges::find_if(cached, [&](const File& file) {
    return file.object == object_ && (!object_.empty() || same_state(file.state, state_));
  });
  if (found == cached.end()) return nullptr;
  std::rotate(found, found + 1, cached.end());  // now the most recently used one
  return &cached.back();
}

std::optional<std::int64_t> RecordCounts::find(haddr_t scale) const {
  const File* const file = find_file();
  if (file == nullptr) return std::nullopt;
  const auto found = file->records.find(scale);
  return found == file->records.end() ? std::nullopt : std::optional(found->second);
}

void RecordCounts::add(haddr_t scale, std::int64_t records) const {
  if (!is_stable_) return;
  File* file = find_file();
  if (file == nullptr) {
    if (files().size() == kMaxFiles) files().erase(files().begin());
    file = &files().emplace_back();
    file->state = state_;
    file->object = object_;
  }
  file->records[scale] = records;
}

}  // namespace plait::container::hdf5
