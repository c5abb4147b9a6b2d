// Reading the metadata of many arrays.
//
// Problem: the arrays and groups of a hierarchy have one or two small objects each. 500 arrays read one after another
// take 500 times the latency of a request.
//
// Idea: the metadata of all members of a group are requested at once. A group of version 3 has members with zarr.json
// as a rule; those without it are requested as version 2 afterwards. Members of a group of version 2 may have any of
// six objects. HTTP servers have no lists. There, consolidated metadata replace them: a copy of all metadata below a
// group, in its zarr.json or in .zmetadata.
//
// Example: {"consolidated_metadata": {"metadata": {"g": {...}, "g/a": {...}}}, ...} in zarr.json has the texts of
// g/zarr.json and g/a/zarr.json. The children of the group are `g/`, those of g are `a/`, and those of g/a nothing.

#include "container/zarr/hierarchy/metadata_objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {

namespace {

using base::text;

constexpr std::string_view kVersion3Object = "zarr.json";
/// The last two are those of older versions of netCDF's library.
constexpr std::array<std::string_view, 5> kVersion2Objects{".zarray", ".zgroup", kAttributes2, ".nczarray",
                                                           ".nczgroup"};

}  // namespace

MetadataObjects::MetadataObjects(std::shared_ptr<store::ObjectStore> objects)
    : ObjectStore(objects->name()), objects_(std::move(objects)) {}

bool MetadataObjects::is_consolidated(std::string_view object) const {
  return consolidated_ && object.starts_with(*consolidated_);
}

void MetadataObjects::read_batch(std::vector<std::string> objects) {
  std::vector<store::GetRequest> requests;
  for (std::string& object : objects)
    requests.push_back({.object = std::move(object), .whole = true, .options = {.max_bytes = kMaxMetadata}});
  std::map<std::string, std::string> unfinished;
  try {
    objects_->get_all(
        requests,
        [&](store::GetRequest& request, std::int64_t bytes) {
          std::string& content = unfinished[request.object];
          content.resize(static_cast<std::size_t>(bytes));
          return std::as_writable_bytes(std::span(content));
        },
        [&](store::GetRequest& request) {
          std::optional<std::string>& content = texts_[request.object];
          if (request.result.found()) content = std::move(unfinished[request.object]);
          unfinished.erase(request.object);
        });
  } catch (const Error&) {  // what was not read is read again where it is needed, and the error appears there
  }
}

void MetadataObjects::read_ahead(const std::string& prefix, std::span<const std::string> members, bool has_version_2) {
  if (is_consolidated(prefix)) return;
  std::vector<std::string> objects;
  const auto add_version_2 = [&](const std::string& member) {
    for (const std::string_view name : kVersion2Objects) objects.push_back(text(prefix, member, '/', name));
  };
  for (const std::string& member : members) {
    objects.push_back(text(prefix, member, '/', kVersion3Object));
    if (has_version_2) add_version_2(member);
  }
  read_batch(std::move(objects));
  if (has_version_2) return;
  objects.clear();
  for (const std::string& member : members) {
    const auto found = texts_.find(text(prefix, member, '/', kVersion3Object));
    if (found != texts_.end() && !found->second) add_version_2(member);
  }
  if (!objects.empty()) read_batch(std::move(objects));
}

void MetadataObjects::adopt(const ConsolidatedMetadata& metadata) {
  for (const auto& [object, content] : metadata.texts) texts_[object] = content;
  consolidated_ = std::string();
}

void MetadataObjects::adopt_consolidated(const std::string& object, std::string_view content) {
  if (consolidated_) return;
  const std::string prefix = object.substr(0, object.rfind('/') + 1);
  const bool has_version_2 = is_version_2(object);
  std::optional<std::vector<MemberText>> members;
  try {
    if (!has_version_2)
      members = consolidated_members(content, has_version_2);
    else if (const std::optional<StoredText> found = read_text(*objects_, text(prefix, kConsolidated2)))
      members = consolidated_members(found->text, has_version_2);
  } catch (const Error&) {  // the copies are optional
    return;
  }
  if (!members || members->empty()) return;
  for (const auto& [name, value] : *members) texts_[text(prefix, name, has_version_2 ? "" : "/zarr.json")] = value;
  consolidated_ = prefix;
}

void MetadataObjects::evict(const std::string& prefix) {
  if (is_consolidated(prefix)) return;
  texts_.erase(text(prefix, kVersion3Object));
  for (const std::string_view name : kVersion2Objects) texts_.erase(text(prefix, name));
}

bool MetadataObjects::contains(const std::string& object) {
  if (const auto found = texts_.find(object); found != texts_.end()) return found->second.has_value();
  return !is_consolidated(object) && objects_->contains(object);
}

store::GetResult MetadataObjects::get(const std::string& object, std::vector<store::ReadSegment> ranges,
                                      const store::GetOptions& options) {
  return objects_->get(object, std::move(ranges), options);
}

store::GetResult MetadataObjects::get_whole(const std::string& object,
                                            base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                                            const store::GetOptions& options) {
  const auto found = texts_.find(object);
  if (found == texts_.end() && is_consolidated(object)) return {};
  if (found == texts_.end()) return objects_->get_whole(object, memory, options);
  if (!found->second) return {};
  const std::string& content = *found->second;
  const std::span<std::byte> into = memory(std::ssize(content));
  std::memcpy(into.data(), content.data(), content.size());
  return {.status = store::GetStatus::kRead, .bytes = std::ssize(content)};
}

void MetadataObjects::list(const std::string& prefix, store::ListDepth depth,
                           base::FunctionRef<void(const store::ListedObject&)> visit) {
  if (depth != store::ListDepth::kChildren || !is_consolidated(prefix)) return objects_->list(prefix, depth, visit);
  std::set<std::string> children;
  for (auto at = texts_.lower_bound(prefix); at != texts_.end() && at->first.starts_with(prefix); ++at)
    if (const std::size_t slash = at->first.find('/', prefix.size()); slash != std::string::npos)
      children.insert(at->first.substr(prefix.size(), slash + 1 - prefix.size()));
  for (const std::string& child : children) visit({child, 0});
}

}  // namespace plait::container::zarr
