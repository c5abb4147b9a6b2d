#include "files.hpp"

#include <cerrno>
#include <map>
#include <mutex>

#include "base/text.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "numbers.hpp"
#include "plait/error.hpp"
#include "world.hpp"

namespace plait::ga {

namespace {

using base::text;

/// Handles are slot numbers plus this number.
constexpr std::int64_t kFirstHandle = -3000;
constexpr std::int64_t kMaxFiles = 3000;  // so that all handles are below 0

struct Table {
  std::mutex mutex;
  std::map<std::int64_t, std::shared_ptr<SharedEntry>> entries;  // the files of all slots
};

Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

std::shared_ptr<SharedEntry> find(std::int64_t handle) {
  if (handle >= 0) return nullptr;  // kFirstHandle cannot be subtracted from every number without an overflow
  const std::lock_guard lock(table().mutex);
  const auto entry = table().entries.find(handle - kFirstHandle);
  return entry == table().entries.end() ? nullptr : entry->second;
}

/// Returns the lowest free slot. It is the same on all ranks, because files are made and deleted collectively.
std::int64_t free_slot() {
  const std::lock_guard lock(table().mutex);
  std::int64_t slot = 0;
  for (const auto& entry : table().entries) slot += entry.first == slot ? 1 : 0;
  return slot;
}

void check_free(const std::string& path, std::int64_t slot) {
  if (slot >= kMaxFiles) throw_error(text("there are ", slot, " shared files already; destroy some first"));
  const std::lock_guard lock(table().mutex);
  for (const auto& [other, entry] : table().entries)
    if (entry->path == path)
      throw_error(text(path, " exists already, with the handle ", other + kFirstHandle, "; destroy that first"));
}

SharedFileOptions make_options(const CreateArguments& arguments, std::int64_t slot) {
  if (arguments.name == nullptr || *arguments.name == '\0') throw_error("the name of the file is empty; pass one");
  SharedFileOptions options;
  options.path = text(arguments.name, '.', arguments.suffix.value_or(slot));
  options.mode = SharedFileMode::kWrite;
  options.limit = hint(arguments.hard_limit, "the hard limit");
  options.expected = hint(arguments.soft_limit, "the soft limit");
  options.request = hint(arguments.request, "the size of a request");
  check_free(options.path, slot);
  return options;
}

/// Abandons the files that were not destroyed. A rank that waits in SF_Destroy gets an error.
void release_files() {
  std::map<std::int64_t, std::shared_ptr<SharedEntry>> left;
  {
    const std::lock_guard lock(table().mutex);
    left.swap(table().entries);
  }
  for (const auto& entry : left) {
    entry.second->file->abandon();
    entry.second->file.reset();
  }
}

}  // namespace

int create(const CreateArguments& arguments) {
  const Comm comm = world();
  const std::int64_t slot = free_slot();
  std::shared_ptr<SharedEntry> entry;
  SharedFileOptions options;
  const collective::Collective creating(
      core::get_transport(comm),
      [&] { return text("SF_Create of ", options.path, " as handle ", slot + kFirstHandle); },
      [&] {
        options = make_options(arguments, slot);
        entry = std::make_shared<SharedEntry>();
        entry->path = options.path;
        entry->comm = comm;
      });
  entry->file = SharedFile::open(options, comm);
  {
    const std::lock_guard lock(table().mutex);
    table().entries[slot] = entry;
  }
  // Registered after the file's own actions for the end of MPI.
  release_at_end(release_files);
  return static_cast<int>(slot + kFirstHandle);
}

void destroy(std::int64_t handle) {
  const std::shared_ptr<SharedEntry> entry = find(handle);
  const Comm comm = entry ? entry->comm : world();
  const collective::Collective destroying(
      core::get_transport(comm), [&] { return text("SF_Destroy of handle ", handle); }, [&] { find_file(handle); });
  {
    const std::lock_guard lock(table().mutex);
    table().entries.erase(handle - kFirstHandle);
  }
  entry->file->close();
}

std::shared_ptr<SharedEntry> find_file(std::int64_t handle) {
  std::shared_ptr<SharedEntry> entry = find(handle);
  if (!entry)
    throw_error(text("the handle ", handle, " does not belong to a shared file; pass one that SF_Create returned"));
  return entry;
}

std::shared_ptr<SharedEntry> find_open_file(std::int64_t handle) {
  std::shared_ptr<SharedEntry> entry = find_file(handle);
  if (!entry->open) throw_error(text(entry->path, " is closed; call SF_Open first"));
  return entry;
}

}  // namespace plait::ga
