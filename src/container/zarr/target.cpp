// The location of a new array in a hierarchy.
//
// Problem: a new array and its missing groups must appear at once, when they are complete.
//
// Idea: go down from the root as long as groups exist. The first missing folder is created under another name, with
// everything below it, and renamed when the array is complete.
// Example: data.zarr::/g/a, where data.zarr is a group without g. The target is data.zarr/g. It contains zarr.json, the
// metadata of the group g, and a/zarr.json, the metadata of the array. After it has appeared, data.zarr drops its
// consolidated metadata, which lacks g/a. If data.zarr/g existed, the target would be data.zarr/g/a.

#include "container/zarr/target.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/hierarchy/consolidated.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "plait/error.hpp"
#include "store/objects/new_objects.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::ObjectStore;
using store::Sharing;

// Names of metadata files: of version 3, and of arrays and groups of version 2.
constexpr std::string_view kVersion3 = "zarr.json";
constexpr std::string_view kArray2 = ".zarray";
constexpr std::string_view kGroup2 = ".zgroup";
constexpr std::array<std::string_view, 3> kFiles{kVersion3, kArray2, kGroup2};

/// Splits the name of an array at its slashes.  errors  kArgument: a part is empty, `.` or `..`, or has a byte of zero.
std::vector<std::string> split_name(std::string_view path, std::optional<std::string_view> array) {
  std::vector<std::string> parts;
  if (!array) return parts;
  for (std::string_view rest = strip_slashes(*array); !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      base::throw_argument_error(path, "::", *array, ": \"", part,
                                 "\" is no part of the name of an array; give a name such as /group/array");
    parts.emplace_back(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return parts;
}

enum class Kind : std::uint8_t { kNothing, kArray, kGroup };

/// Returns the location of the array or group whose objects have this prefix.
std::string node_location(const ObjectStore& objects, const std::string& prefix) {
  return prefix.empty() ? objects.name()
                        : objects.object_location(std::string_view(prefix).substr(0, prefix.size() - 1));
}

std::vector<std::string> list_children(ObjectStore& objects, const std::string& prefix) {
  std::vector<std::string> children;
  objects.list(prefix, store::ListDepth::kChildren,
               [&](const store::ListedObject& child) { children.push_back(child.name); });
  return children;
}

/// Returns the kind of the object at a location.  errors  kArgument: it is neither array nor group.
Kind detect_kind(ObjectStore& objects, const std::string& prefix) {
  const std::string object = metadata_object(objects, prefix);
  if (!objects.contains(object)) {
    const std::string location = node_location(objects, prefix);
    try {
      const std::vector<std::string> children = list_children(objects, prefix);
      // The objects of an unfinished array are replaced or continued (new_objects.cpp).
      const bool is_unfinished = std::ranges::find(children, store::kUnfinishedMark) != children.end();
      if (children.empty() || (is_unfinished && !objects.renames())) return Kind::kNothing;
    } catch (const Error& error) {
      if (error.system_code() != ENOTDIR) throw;
      base::throw_argument_error(location, " is no folder, but Zarr arrays are; remove it, or choose another name");
    }
    base::throw_argument_error(location,
                               " is a folder without Zarr's metadata, whose content would be lost; remove it, or "
                               "choose another name");
  }
  const std::optional<StoredText> found = read_text(objects, object);
  if (!found) return Kind::kNothing;
  return is_group(found->text, objects.object_location(object)) ? Kind::kGroup : Kind::kArray;
}

bool holds_folders(ObjectStore& objects, const std::string& prefix) {
  return std::ranges::any_of(list_children(objects, prefix),
                             [](const std::string& name) { return name.ends_with('/'); });
}

/// Removes the consolidated metadata of a group, the copies of all metadata below it.
void remove_consolidated(ObjectStore& group) {
  discard_consolidated();
  if (!group.contains(std::string(kVersion3))) return group.remove(std::string(kConsolidated2));
  constexpr const char* kCopies = "consolidated_metadata";
  const std::string object(kVersion3);
  change_text(group, object, [&](const std::optional<std::string>& content) -> std::optional<std::string> {
    if (!content || content->find(kCopies) == std::string::npos) return std::nullopt;
    std::optional<std::string> without = remove_member(*content, kCopies);
    if (!without)
      base::throw_argument_error(
          group.object_location(object),
          " has consolidated metadata and is no JSON object; copy or download it again, or write it anew");
    if (*without == *content) return std::nullopt;
    return without;
  });
}

}  // namespace

std::string metadata_object(ObjectStore& objects, const std::string& prefix) {
  for (const std::string_view name : kFiles)
    if (const std::string object = text(prefix, name); objects.contains(object)) return object;
  return text(prefix, kVersion3);
}

FolderMetadata find_metadata(const fs::path& folder, Version version) {
  const std::shared_ptr<ObjectStore> objects = store::open_objects(folder.string(), Sharing::kPrivate);
  for (const std::string_view name : kFiles)
    if (objects->contains(std::string(name))) return {(folder / name).string(), true};
  return {(folder / (version == Version::k2 ? kArray2 : kVersion3)).string(), false};
}

namespace {

void check_size(std::int64_t size, const std::string& name) {
  if (size > kMaxMetadata)
    base::throw_system_error(0, "cannot open ", name, " as Zarr: it has ", size, " bytes, and metadata at most ",
                             kMaxMetadata, "; copy or download it again");
}

}  // namespace

std::string read_content(store::Store& store) {
  const std::int64_t size = store.size();
  check_size(size, store.name());
  std::string content(static_cast<std::size_t>(size), '\0');
  store.read({{0, reinterpret_cast<std::byte*>(content.data()), size}});
  return content;
}

std::optional<StoredText> read_text(ObjectStore& objects, const std::string& object) {
  StoredText found;
  const auto memory = [&](std::int64_t bytes) {
    check_size(bytes, objects.object_location(object));
    found.text.resize(static_cast<std::size_t>(bytes));
    return std::as_writable_bytes(std::span(found.text));
  };
  store::GetResult got = objects.get_whole(object, memory, {.identity = true});
  if (!got.found()) return std::nullopt;
  found.identity = std::move(got.identity);
  return found;
}

void change_text(ObjectStore& objects, const std::string& object,
                 base::FunctionRef<std::optional<std::string>(const std::optional<std::string>&)> change) {
  while (true) {
    std::optional<StoredText> found = read_text(objects, object);
    const store::ObjectIdentity identity = found ? found->identity : store::ObjectIdentity{};
    std::optional<std::string> before;
    if (found) before = std::move(found->text);
    const std::optional<std::string> changed = change(before);
    if (!changed || objects.put(object, std::as_bytes(std::span(*changed)), identity)) return;
  }
}

std::string_view strip_slashes(std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  return name;
}

void for_each_parent(const std::string& location, base::FunctionRef<bool(const std::string&)> visit) {
  for (std::string above = store::parent_location(location); !above.empty(); above = store::parent_location(above))
    if (!visit(above)) return;
}

void remove_parent_copies(const std::string& location) {
  // Stop at the first location that is not a group of version 3: version 2 stores the copies elsewhere.
  for_each_parent(location, [](const std::string& above) {
    const std::shared_ptr<ObjectStore> group = store::open_objects(above, Sharing::kShared);
    if (!group->contains(std::string(kVersion3)) || detect_kind(*group, {}) != Kind::kGroup) return false;
    remove_consolidated(*group);
    return true;
  });
}

fs::path array_folder(std::string_view path, std::optional<std::string_view> array) {
  fs::path folder(path);
  for (const std::string& part : split_name(path, array)) folder /= part;
  return folder;
}

namespace {

/// Adds the metadata of a group to a new folder.  inside: path of the group in the new folder.  metadata: the text in
/// NewContent::groups, see new_array().
void add_group(NewFolder& result, const fs::path& inside, const std::string& metadata, Version version) {
  const auto add = [&](std::string_view name, const std::string& content) {
    result.other_files.emplace_back((inside / name).lexically_normal().string(), content);
  };
  if (version == Version::k3) return add(kVersion3, metadata);
  add(kGroup2, "{\n  \"zarr_format\": 2\n}\n");
  add(kAttributes2, metadata);
}

/// Checks that a group has the same version as the new array in it.
void check_version(ObjectStore& objects, const std::string& prefix, const std::string& folder, Version version) {
  const bool is_version_3 = metadata_object(objects, prefix) == text(prefix, kVersion3);
  if (is_version_3 == (version == Version::k3)) return;
  base::throw_argument_error(folder, " is a group of Zarr's version ", is_version_3 ? 3 : 2,
                             ", and the new array has version ", is_version_3 ? 2 : 3, "; put ",
                             is_version_3 ? "zarr:" : "zarr2:", " in front of the name, or write into another folder");
}

}  // namespace

NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups, Version version) {
  const std::vector<std::string> parts = split_name(path, array);
  // Check that no name leads out of the folder, as `../a` would.
  for (const auto& [group, metadata] : groups) (void)split_name(path, group);
  const std::shared_ptr<ObjectStore> objects = store::open_objects(std::string(path), Sharing::kShared);
  std::vector<fs::path> above;  // existing groups above the array
  // Go down from the root of the hierarchy to the array, as long as groups exist.
  fs::path folder(path);
  std::string prefix;    // prefix of the objects in `folder`
  std::size_t next = 0;  // index in `parts` of the part after `folder`
  Kind kind = detect_kind(*objects, prefix);
  if (kind != Kind::kNothing) objects->check();
  while (kind == Kind::kGroup && next < parts.size()) {
    check_version(*objects, prefix, folder.string(), version);
    above.push_back(folder);
    base::append_parts(prefix, parts[next], '/');
    folder /= parts[next++];
    kind = detect_kind(*objects, prefix);
  }
  if (kind == Kind::kArray && next < parts.size())
    base::throw_argument_error(folder.string(), " is an array, which holds no other; choose another name");
  if (kind == Kind::kGroup && holds_folders(*objects, prefix))
    base::throw_argument_error(folder.string(),
                               " is a group that holds others, which the new array would replace; name the array in "
                               "it, as in data.zarr::/group/array, or remove the folder first");
  NewFolder result;
  result.target = folder.string();
  fs::path inside;  // path of the next missing group or of the array in the new folder
  fs::path name;    // its name in the hierarchy
  for (std::size_t i = 0; i < next; ++i) name /= parts[i];
  const fs::path begin = name;  // the part of `name` that exists or is the target
  for (; next < parts.size(); name /= parts[next], inside /= parts[next], ++next) {
    const auto listed = groups.find(name.string());
    add_group(result, inside,
              listed == groups.end() ? make_group_metadata({}, std::string(path), version) : listed->second, version);
  }
  const std::string_view group_file = version == Version::k3 ? kVersion3 : kGroup2;
  // Add groups that are in the same new folder, but not above the array.
  for (const auto& [group, metadata] : groups) {
    const fs::path relative = fs::path(group).lexically_relative(begin.empty() ? fs::path(".") : begin);
    const std::string file = (relative / group_file).lexically_normal().string();
    const bool below =
        !result.other_files.empty() && !relative.empty() && *relative.begin() != ".." && fs::path(group) != name;
    if (below && std::ranges::find(result.other_files, file, &std::pair<std::string, std::string>::first) ==
                     result.other_files.end())
      add_group(result, relative, metadata, version);
  }
  if (const auto attributes = groups.find(name.string()); version == Version::k2 && attributes != groups.end())
    result.other_files.emplace_back((inside / kAttributes2).string(), attributes->second);
  result.file = (inside / (version == Version::k2 ? kArray2 : kVersion3)).string();
  result.replaces = [objects, prefix] {
    return detect_kind(*objects, prefix) != Kind::kGroup || !holds_folders(*objects, prefix);
  };
  result.on_appearance = [above] {
    for (const fs::path& group : above) remove_consolidated(*store::open_objects(group.string(), Sharing::kShared));
  };
  return result;
}

}  // namespace plait::container::zarr
