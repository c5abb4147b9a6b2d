// Opening arrays by the consolidated metadata of their hierarchy.
//
// Problem: to open 500 arrays of a hierarchy, a program reads 500 objects with metadata. The consolidated metadata have
// copies of all of them, but other programs may add or change arrays without updating the copies. So Plait uses them
// only if the caller states by the option `consolidated=true` that they are up to date.
//
// Idea: the copies are read once, by one request, and are retained. Listing a hierarchy compares the ETag of the
// object that has them, by another request; opening an array does so if five seconds have passed since. The chunks of
// an opened array are read from the object store as usual.
//
// Example: `s3://b/run.zarr?consolidated=true::g/a`. The text of `g/a/zarr.json` is the value of "g/a" in
// {"consolidated_metadata": {"metadata": {"g/a": {...}}}}, in run.zarr/zarr.json.

#include "container/zarr/hierarchy/consolidated.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "store/objects/object_bytes.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/objects/web/web_objects.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::ObjectStore;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kRecently{5};
constexpr std::size_t kMaxHierarchies = 4;
constexpr const char* kCopies = "consolidated_metadata";
constexpr std::string_view kRoot3 = "zarr.json";

/// Consolidated metadata that this process has read.
struct RetainedMetadata {
  std::string location;  ///< of the hierarchy
  std::string object;    ///< the object that has the copies
  store::ObjectIdentity identity;
  Clock::time_point validated;
  std::shared_ptr<const ConsolidatedMetadata> metadata;
};

/// The consolidated metadata that were read last, the latest first.
struct RetainedHierarchies {
  std::mutex mutex;
  std::vector<RetainedMetadata> hierarchies;
};

RetainedHierarchies& retained_hierarchies() {
  static base::PerProcess<RetainedHierarchies> retained;
  return retained.get();
}

RetainedMetadata find_retained(const std::string& location) {
  RetainedHierarchies& retained = retained_hierarchies();
  const std::scoped_lock lock(retained.mutex);
  const auto found = std::ranges::find(retained.hierarchies, location, &RetainedMetadata::location);
  return found == retained.hierarchies.end() ? RetainedMetadata{} : *found;
}

void retain(RetainedMetadata metadata) {
  RetainedHierarchies& retained = retained_hierarchies();
  const std::scoped_lock lock(retained.mutex);
  std::erase_if(retained.hierarchies,
                [&](const RetainedMetadata& other) { return other.location == metadata.location; });
  retained.hierarchies.insert(retained.hierarchies.begin(), std::move(metadata));
  if (retained.hierarchies.size() > kMaxHierarchies) retained.hierarchies.pop_back();
}

/// Returns true if the object still has the content that was read; false if it has changed, or if its identity cannot
/// be compared.
bool is_current(ObjectStore& objects, const RetainedMetadata& retained) {
  if (!store::web::is_strong(retained.identity)) return false;
  std::byte first{};
  const store::GetResult found =
      objects.get(retained.object, {{0, &first, 1}}, {.identity = true, .if_none_match = &retained.identity});
  return found.status == store::GetStatus::kMatch && found.identity.numbers == retained.identity.numbers;
}

[[noreturn]] void throw_not_consolidated(const std::string& location) {
  base::throw_system_error(0, "cannot open ", location,
                           " by its consolidated metadata, which the option consolidated=true requests: it has none; "
                           "write them, for example by zarr.consolidate_metadata(), or leave out the option");
}

/// Reads the consolidated metadata; without a result there is no hierarchy.
std::optional<RetainedMetadata> read_copies(ObjectStore& objects, const std::string& location) {
  RetainedMetadata read{location, std::string(kRoot3), {}, Clock::now(), nullptr};
  std::optional<StoredText> root = read_text(objects, read.object);
  const bool second = !root;
  if (second) {
    read.object = kConsolidated2;
    root = read_text(objects, read.object);
    if (!root && objects.contains(metadata_object(objects, {}))) throw_not_consolidated(location);
    if (!root) return std::nullopt;
  }
  std::optional<std::vector<MemberText>> members = consolidated_members(root->text, second);
  if (!members) throw_not_consolidated(location);
  auto metadata = std::make_shared<ConsolidatedMetadata>();
  for (MemberText& member : *members)
    metadata->texts[text(member.name, second ? "" : "/zarr.json")] = std::move(member.value);
  if (!second) metadata->texts[std::string(kRoot3)] = without_consolidated(root->text);
  read.identity = std::move(root->identity);
  read.metadata = std::move(metadata);
  return read;
}

bool is_metadata(std::string_view object) {
  constexpr std::array<std::string_view, 6> kObjects{kRoot3,       ".zarray",   ".zgroup",
                                                     kAttributes2, ".nczarray", ".nczgroup"};
  return std::ranges::find(kObjects, object) != kObjects.end();
}

/// The objects of one array, for reading: metadata as the consolidated metadata state them, and chunks in the store.
class ConsolidatedArray : public ObjectStore {
 public:
  /// prefix: that of the array's objects in the hierarchy.
  ConsolidatedArray(std::shared_ptr<ObjectStore> objects, std::shared_ptr<const ConsolidatedMetadata> metadata,
                    std::string prefix)
      : ObjectStore(objects->name()),
        objects_(std::move(objects)),
        metadata_(std::move(metadata)),
        prefix_(std::move(prefix)) {}

  store::GetResult get(const std::string& object, std::vector<store::ReadSegment> ranges,
                       const store::GetOptions& options) override {
    return objects_->get(object, std::move(ranges), options);
  }
  store::GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                             const store::GetOptions& options) override {
    if (!is_metadata(object)) return objects_->get_whole(object, memory, options);
    const std::string* const copy = find(object);
    if (copy == nullptr) return {};
    const std::span<std::byte> into = memory(std::ssize(*copy));
    std::memcpy(into.data(), copy->data(), copy->size());
    return {.status = store::GetStatus::kRead, .bytes = std::ssize(*copy)};
  }
  void get_all(std::span<store::GetRequest> requests, GetMemory memory, GetCallback done) override {
    objects_->get_all(requests, memory, done);
  }
  store::ObjectIdentity identity(const std::string& object) override { return objects_->identity(object); }
  bool contains(const std::string& object) override {
    return is_metadata(object) ? find(object) != nullptr : objects_->contains(object);
  }
  void list(const std::string& prefix, store::ListDepth depth,
            base::FunctionRef<void(const store::ListedObject&)> visit) override {
    objects_->list(prefix, depth, visit);
  }
  bool put(const std::string& object, std::span<const std::byte> bytes, const store::Condition& condition) override {
    return objects_->put(object, bytes, condition);
  }
  std::unique_ptr<store::NewObject> create(const std::string& object) override { return objects_->create(object); }
  void remove(const std::string& object) override { objects_->remove(object); }

 private:
  const std::string* find(const std::string& object) const {
    const auto found = metadata_->texts.find(prefix_ + object);
    return found == metadata_->texts.end() ? nullptr : &found->second;
  }

  std::shared_ptr<ObjectStore> objects_;
  std::shared_ptr<const ConsolidatedMetadata> metadata_;
  std::string prefix_;
};

}  // namespace

std::optional<std::vector<MemberText>> consolidated_members(std::string_view text, bool second) {
  return list_members(find_member_text(second ? std::string(text) : find_member_text(text, kCopies), "metadata"));
}

std::string without_consolidated(const std::string& text) {
  if (text.find(kCopies) == std::string::npos) return text;
  return remove_member(text, kCopies).value_or(text);
}

bool requests_consolidated(const std::string& location) {
  if (!store::is_url(location) || !store::object_store_kind(location).has_options) return false;
  return std::ranges::any_of(store::web::parse_web_url(location).options, [](const store::UrlOption& option) {
    return option.key == "consolidated" && option.value == "true";
  });
}

std::shared_ptr<const ConsolidatedMetadata> read_consolidated(const std::string& location, CopyValidation validation) {
  RetainedMetadata retained = find_retained(location);
  const Clock::time_point now = Clock::now();
  if (retained.metadata && validation == CopyValidation::kRecent && now - retained.validated < kRecently)
    return retained.metadata;
  const std::shared_ptr<ObjectStore> objects = store::open_objects(location, store::Sharing::kShared);
  if (retained.metadata && is_current(*objects, retained)) {
    retained.validated = now;
    retain(retained);
    return retained.metadata;
  }
  std::optional<RetainedMetadata> read = read_copies(*objects, location);
  if (!read) return nullptr;
  retain(*read);
  return read->metadata;
}

void discard_consolidated() {
  RetainedHierarchies& retained = retained_hierarchies();
  const std::scoped_lock lock(retained.mutex);
  retained.hierarchies.clear();
}

std::unique_ptr<store::Store> open_consolidated(const std::string& location, const std::string& name) {
  // A name without an array is usually that of a hierarchy to be listed, whose arrays are then opened one by one.
  std::shared_ptr<const ConsolidatedMetadata> metadata =
      read_consolidated(location, name.empty() ? CopyValidation::kNow : CopyValidation::kRecent);
  if (!metadata) return nullptr;
  const std::string folder = array_folder(location, name).string();
  auto array = std::make_shared<ConsolidatedArray>(store::open_objects(folder, store::Sharing::kShared),
                                                   std::move(metadata), name.empty() ? name : text(name, '/'));
  const std::string object = metadata_object(*array, {});
  if (!array->contains(object))
    base::throw_system_error(ENOENT, "cannot open ", location, "::", name, ": the consolidated metadata of ", location,
                             " have no array or group of this name; check the name, or leave out the option "
                             "consolidated=true if they are outdated");
  return std::make_unique<store::ObjectBytes>(array->object_location(object), std::move(array));
}

}  // namespace plait::container::zarr
