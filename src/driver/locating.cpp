// Resolves names, and lists the arrays in files, without opening a File. A name that ends like one format may be a file
// of another one, and the bytes of an ordinary file may only describe a striped file: functions here examine the bytes.

#include "driver/locating.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "container/folder_format.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "driver/driver_registry.hpp"
#include "driver/objects/objects_driver.hpp"
#include "driver/plain/plain_driver.hpp"
#include "driver/replacing.hpp"
#include "plait/error.hpp"
#include "store/objects/object_ranges.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/temporary.hpp"

namespace plait::driver {

namespace {

using store::posix::PosixStore;

/// Returns the driver that recognizes the bytes of an ordinary file as the description of one of its stores; else
/// nullptr.
const FileDriver* find_recognizing_driver(const std::string& path) {
  try {
    PosixStore file(path, PosixStore::Access::kRead);
    for (const Driver* driver : drivers())
      if (const auto* files = dynamic_cast<const FileDriver*>(driver); files != nullptr && files->recognizes(file))
        return files;
  } catch (const Error&) {  // the file does not exist, or cannot be read: opening it reports the reason
  }
  return nullptr;
}

/// Returns the driver of a name whose content determines the format (URLs and names without a prefix); nullptr for a
/// name with the prefix of a driver.
const FileDriver* driver_by_content(const std::string& name) {
  const Driver& driver = find_driver(name);
  if (&driver == &objects::driver()) return &objects::driver();
  return driver.prefix().empty() ? &plain::driver() : nullptr;
}

/// Counts the bytes of arrays that consist of objects, if the store can list them.  file: the location of the
/// hierarchy.
void count_objects(const std::string& file, std::vector<container::Member>& members) {
  for (container::Member& member : members) {
    if (member.stored != container::Member::kNotCounted) continue;
    const std::string location = member.name.empty() ? file : base::text(file, '/', member.name);
    const std::shared_ptr<store::ObjectStore> objects = store::open_objects(location, store::Sharing::kPrivate);
    if (!objects->has_lists()) return;
    member.stored = 0;
    objects->list({}, store::ListDepth::kAll,
                  [&](const store::ListedObject& object) { member.stored += object.bytes; });
  }
}

}  // namespace

ResolvedName locate(const std::string& url_or_path) {
  const std::string name = store::canonical_name(url_or_path);
  const Driver& driver = find_driver(name);
  ResolvedName by_name = driver.locate(name);
  if (&driver == &objects::driver()) return objects::locate(name, container::format_at(name));
  // With a prefix, the bytes of the file need not be examined.
  if (!driver.prefix().empty()) return by_name;
  const FileDriver* const content_driver = find_recognizing_driver(by_name.path);
  return content_driver == nullptr ? plain::locate(name, container::format_at(name))
                                   : content_driver->locate(content_driver->make_name(name));
}

ResolvedName locate_new(const std::string& url_or_path) {
  const std::string name = store::canonical_name(url_or_path);
  return find_driver(name).locate(name);
}

std::vector<container::Member> arrays_in(const std::string& url_or_path, Sizes sizes) {
  const std::string name = store::canonical_name(url_or_path);
  const FileDriver* const files = driver_by_content(name);
  if (files == nullptr) return {};
  const container::Format& format = container::format_at(name);
  const std::shared_ptr<store::Store> opened = files->find(name, /*writable=*/false).store;
  container::check_content(name, format);
  if (!format.traits().names_arrays) return {};
  std::vector<container::Member> members = format.open(opened, name)->arrays();
  if (sizes == Sizes::kCounted && dynamic_cast<const container::FolderFormat*>(&format) != nullptr)
    count_objects(std::string(container::array_name(name).file), members);
  return members;
}

void remove_unfinished(const std::string& name) {
  const ResolvedName resolved = locate_new(name);
  if (!resolved.supports_unfinished || resolved.path.empty()) return;
  // The unfinished folder of an array in a hierarchy is next to the hierarchy.
  const std::string target =
      resolved.adds_arrays
          ? store::posix::sibling_path(real_path(resolved.file), container::array_name(name).array.value_or(""))
          : resolved.path;
  store::posix::remove_unfinished(target, [&](const std::string& leftover) {
    if (!release_leftover(leftover, target)) return;
    std::error_code ignored;
    std::filesystem::remove_all(leftover, ignored);
  });
}

std::vector<GroupAttributes> groups_in(const std::string& url_or_path) {
  const std::string name = store::canonical_name(url_or_path);
  const FileDriver* const files = driver_by_content(name);
  if (files == nullptr) return {};
  const container::Format& format = container::format_at(name);
  const std::string file_name = plain::describe(name, format).file;  // without the name of an array
  const std::shared_ptr<store::Store> opened = files->find(file_name, /*writable=*/false).store;
  if (!format.traits().names_arrays) return {};
  return format.open(opened, file_name)->groups();
}

FileListing list_file(const std::string& url_or_path) {
  const std::string name = store::canonical_name(url_or_path);
  const FileDriver* const files = driver_by_content(name);
  if (files == nullptr) return {};
  const container::Format& format = container::format_at(name);
  const std::string file_name = plain::describe(name, format).file;  // without the name of an array
  const std::shared_ptr<store::Store> opened = files->find(file_name, /*writable=*/false).store;
  container::check_content(file_name, format);
  if (!format.traits().names_arrays) return {};
  const std::unique_ptr<container::OpenedFile> file = format.open(opened, file_name);
  return {file->arrays(), file->groups()};
}

std::string object_state(const std::string& name) {
  const std::string file(container::array_name(store::canonical_name(name)).file);
  if (!store::is_url(file) || !store::object_store_kind(file).whole_objects) return {};
  return store::ObjectRanges(file).details();
}

std::vector<std::string> sibling_files(const ResolvedName& found) {
  std::vector<std::string> result;
  for (const ComponentFile& component : found.components) result.push_back(component.path);
  if (found.path.empty()) return result;
  for (const Driver* driver : drivers())
    for (std::string& path : driver->sibling_files(found.path)) result.push_back(std::move(path));
  return result;
}

}  // namespace plait::driver
