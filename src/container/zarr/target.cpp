#include "container/zarr/target.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "container/refuse.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/new_array.hpp"
#include "plait/error.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::posix::PosixStore;

constexpr std::string_view kNewest = "zarr.json";
constexpr std::array<std::string_view, 3> kFiles{kNewest, ".zarray", ".zgroup"};

std::vector<std::string> parts_of(std::string_view path, std::optional<std::string_view> array) {
  std::vector<std::string> parts;
  if (!array) return parts;
  for (std::string_view rest = bare(*array); !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      refuse(text(path, "::", *array, ": \"", part,
                  "\" is no part of the name of an array; give a name such as /group/array"));
    parts.emplace_back(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return parts;
}

enum class Kind : std::uint8_t { kNothing, kArray, kGroup };

/// What a folder is.  errors  kArgument: something that is neither, and what to do.
Kind kind_of(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return Kind::kNothing;
  if (!fs::is_directory(status))
    refuse(text(folder.string(), " is no folder, but Zarr arrays are; remove it, or choose another name"));
  const std::string file = metadata_file(folder);
  if (!fs::exists(file, error)) {
    if (fs::is_empty(folder, error)) return Kind::kNothing;
    refuse(text(folder.string(),
                " is a folder without Zarr's metadata, whose content would be lost; remove it, or "
                "choose another name"));
  }
  PosixStore store(file, PosixStore::Access::kRead);
  return is_group(content_of(store), file) ? Kind::kGroup : Kind::kArray;
}

bool holds_folders(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) return true;
  }
  return false;
}

/// Drops what a group keeps of the metadata of all that is below it.
void forget_consolidated(const fs::path& group) {
  constexpr const char* kKept = "consolidated_metadata";
  const std::string file = (group / kNewest).string();
  const store::posix::Descriptor alone = store::posix::lock_name(file);
  PosixStore store(file, PosixStore::Access::kRead);
  const std::string content = content_of(store);
  if (content.find(kKept) == std::string::npos) return;
  const std::optional<std::string> without = without_member(content, kKept);
  if (!without)
    refuse(text(file, " has consolidated metadata and is no JSON object; copy or download it again, or write it anew"));
  const std::string& made = *without;
  if (made == content) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(made.data());
  store::posix::Replacement(file, static_cast<std::int64_t>(made.size()), std::span(bytes, made.size())).commit();
}

}  // namespace

std::string metadata_file(const fs::path& folder) {
  std::error_code ignored;
  for (const std::string_view name : kFiles)
    if (fs::exists(folder / name, ignored)) return (folder / name).string();
  return (folder / kNewest).string();
}

std::string content_of(store::Store& store) {
  const std::int64_t size = store.size();
  if (size > kMostMetadata)
    throw Error(ErrorKind::kSystem,
                text("cannot open ", store.name(), " as Zarr: it has ", size, " bytes, and metadata at most ",
                     kMostMetadata, "; copy or download it again"));
  std::string content(static_cast<std::size_t>(size), '\0');
  store.read({{0, reinterpret_cast<std::byte*>(content.data()), size}});
  return content;
}

std::string_view bare(std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  return name;
}

void forget_consolidated_above(const fs::path& folder) {
  // As long as these are groups of the newest version: others keep it elsewhere.
  for (fs::path above = folder.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    std::error_code error;
    if (!fs::is_regular_file(above / kNewest, error) || kind_of(above) != Kind::kGroup) return;
    forget_consolidated(above);
  }
}

fs::path folder_of(std::string_view path, std::optional<std::string_view> array) {
  fs::path folder(path);
  for (const std::string& part : parts_of(path, array)) folder /= part;
  return folder;
}

NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups) {
  const std::vector<std::string> parts = parts_of(path, array);
  // No name leads out of the folder.
  for (const auto& [group, metadata] : groups) (void)parts_of(path, group);
  std::vector<fs::path> above;  // groups that are there
  fs::path folder(path);
  std::size_t next = 0;  // part behind `folder`
  Kind kind = kind_of(folder);
  while (kind == Kind::kGroup && next < parts.size()) {
    if (!fs::path(metadata_file(folder)).filename().string().ends_with(kNewest))
      refuse(text(folder.string(),
                  " is a group of Zarr's version 2, and Plait writes version 3; write into another "
                  "folder, or convert it first"));
    above.push_back(folder);
    folder /= parts[next++];
    kind = kind_of(folder);
  }
  if (kind == Kind::kArray && next < parts.size())
    refuse(text(folder.string(), " is an array, which holds no other; choose another name"));
  if (kind == Kind::kGroup && holds_folders(folder))
    refuse(text(folder.string(),
                " is a group that holds others, which the new array would replace; name the array in "
                "it, as in data.zarr::/group/array, or remove the folder first"));
  NewFolder made;
  made.target = folder.string();
  fs::path inside;
  fs::path name;  // of the group in the hierarchy
  for (std::size_t i = 0; i < next; ++i) name /= parts[i];
  const fs::path begin = name;
  for (; next < parts.size(); name /= parts[next], inside /= parts[next], ++next) {
    const auto told = groups.find(name.string());
    made.others.emplace_back((inside / kNewest).string(),
                             told == groups.end() ? new_group({}, std::string(path)) : told->second);
  }
  // Groups beside the array in the same new folder.
  for (const auto& [group, metadata] : groups) {
    const fs::path its = fs::path(group).lexically_relative(begin.empty() ? fs::path(".") : begin);
    const std::string file = (its / kNewest).lexically_normal().string();
    const bool below = !made.others.empty() && !its.empty() && *its.begin() != "..";
    if (below && std::ranges::find(made.others, file, &std::pair<std::string, std::string>::first) == made.others.end())
      made.others.emplace_back(file, metadata);
  }
  made.file = (inside / kNewest).string();
  made.replaces = [folder] { return kind_of(folder) != Kind::kGroup || !holds_folders(folder); };
  made.settle = [above] {
    for (const fs::path& group : above) forget_consolidated(group);
  };
  return made;
}

}  // namespace plait::container::zarr
