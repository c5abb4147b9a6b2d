#include "container/zarr/hierarchy/hierarchy.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/zarr/hierarchy/array_description.hpp"
#include "container/zarr/hierarchy/consolidated.hpp"
#include "container/zarr/hierarchy/metadata_objects.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/nczarr.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "plait/error.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::Rejection;
using base::text;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxArrays = 100'000;
/// Members of a group whose metadata are read together.
constexpr std::size_t kReadAhead = 1000;

/// Describes the chunks of an array, for listings.
std::string chunks_text(const Metadata& metadata) {
  std::string out = "chunks ";
  for (std::size_t d = 0; d < metadata.chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", metadata.chunk[d]);
  if (metadata.chunk.empty()) out = "one chunk";
  return text(out, ", ", metadata.describe());
}

/// An array of a hierarchy, and the paths of its dimensions if netCDF's library has stored them.
struct ListedArray {
  Member member;
  std::vector<std::string> references;
};

/// Describes an array. If it cannot be opened, the description has the metadata that was read before the error.
ListedArray describe_array(store::ObjectStore& objects, const std::string& object, const std::string& content) {
  const std::string file = objects.object_location(object);
  ListedArray found;
  Member& member = found.member;
  member.storage = "chunks";
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {  // the other fields can still be read
      if (!member.rejection) member.rejection = Rejection(error.what());
    }
  };
  Metadata metadata;
  attempt([&] { parse_metadata(content, file, metadata); });
  static_cast<Content&>(member) = make_content(metadata);
  attempt([&] { found.references = add_attributes(member, {content, objects, object}); });
  member.element = metadata.element;
  member.stored = Member::kNotCounted;
  if (!member.rejection) {
    member.storage = chunks_text(metadata);
    member.rejection = metadata.codecs.missing_library();
  }
  return found;
}

/// Adds the array with this metadata object to `found`, or the group and everything below it. Links to other
/// hierarchies are not followed.
/// name: the name of the array or group in the hierarchy.
void collect_nodes(MetadataObjects& objects, const std::string& object, const std::string& name,
                   HierarchyContent& found) {
  std::vector<Member>& members = found.members;
  const std::string prefix = object.substr(0, object.rfind('/') + 1);
  try {
    const std::optional<StoredText> content = read_text(objects, object);
    if (!content) return;
    const std::string metadata = without_consolidated(content->text);  // the copies may be long
    if (!is_group(metadata, objects.object_location(object))) {
      ListedArray array = describe_array(objects, object, metadata);
      members.push_back(std::move(array.member));
      members.back().name = name;
      found.references.push_back(std::move(array.references));
      return;
    }
    GroupAttributes group{name, read_attributes(metadata, objects, object), {}};
    group.dimensions = read_group_dimensions({metadata, objects, object}, group.attributes);
    remove_nczarr_attributes(group.attributes);
    found.groups.push_back(std::move(group));
    if (!objects.has_lists()) objects.adopt_consolidated(object, content->text);
  } catch (const Error& failure) {  // the other arrays can still be read
    Member& member = members.emplace_back();
    member.name = name;
    member.storage = "chunks";
    member.rejection = Rejection(failure.what());
    found.references.emplace_back();
    return;
  }
  if (std::ranges::count(prefix, '/') == kMaxDepth || members.size() > kMaxArrays)
    base::throw_system_error(0, objects.object_location(prefix), ": groups are nested deeper than ", kMaxDepth,
                             ", or hold more than ", kMaxArrays, " arrays; name one");
  std::vector<std::string> below;
  objects.list(prefix, store::ListDepth::kChildren, [&](const store::ListedObject& child) {
    if (child.name.ends_with('/')) below.push_back(child.name.substr(0, child.name.size() - 1));
  });
  std::ranges::sort(below);
  const bool has_version_2 = is_version_2(object);
  for (std::size_t i = 0; i < below.size(); ++i) {
    const std::span<const std::string> rest = std::span(below).subspan(i);
    if (i % kReadAhead == 0) objects.read_ahead(prefix, rest.first(std::min(rest.size(), kReadAhead)), has_version_2);
    const std::string child = text(prefix, below[i], '/');
    collect_nodes(objects, metadata_object(objects, child), name.empty() ? below[i] : text(name, '/', below[i]), found);
    objects.evict(child);
  }
}

}  // namespace

HierarchyContent list_hierarchy(const store::Store& store, const std::string& file) {
  const fs::path folder = fs::path(store.name()).parent_path();
  const std::string name = folder.lexically_relative(file).string();
  const std::string metadata_name = fs::path(store.name()).filename().string();
  const bool is_root = name == ".";
  HierarchyContent found;
  MetadataObjects objects(store::open_objects(folder.string(), store::Sharing::kPrivate));
  const std::shared_ptr<const ConsolidatedMetadata> consolidated =
      requests_consolidated(file) ? read_consolidated(file, CopyValidation::kRecent) : nullptr;
  if (!consolidated && (objects.has_lists() || is_root)) {
    collect_nodes(objects, metadata_name, is_root ? std::string() : name, found);
  } else {
    MetadataObjects all(store::open_objects(file, store::Sharing::kPrivate));
    if (consolidated) {
      all.adopt(*consolidated);
    } else {
      const std::string root = metadata_object(all, {});
      if (const std::optional<StoredText> content = read_text(all, root)) all.adopt_consolidated(root, content->text);
    }
    collect_nodes(all, is_root ? metadata_name : text(name, '/', metadata_name), is_root ? std::string() : name, found);
  }
  for (std::size_t i = 0; i < found.members.size(); ++i)
    found.members[i].unlimited = find_unlimited_dimensions(found.references[i], found.groups);
  return found;
}

}  // namespace plait::container::zarr
