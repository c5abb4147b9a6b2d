/// Metadata that are read ahead of their use, in few requests.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "container/zarr/hierarchy/consolidated.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// The objects of a hierarchy, for reading. Objects that read_ahead() or the adopt functions have found are in memory;
/// all others are read from the store.
/// threads  One at a time.
class MetadataObjects : public store::ObjectStore {
 public:
  explicit MetadataObjects(std::shared_ptr<store::ObjectStore> objects);

  /// Reads the metadata of members of a group in one or two batches. If an object cannot be read, the error appears
  /// when the object is read later.
  /// prefix: that of the group. has_version_2: true if the group has metadata of version 2, as its members probably
  /// have too.
  void read_ahead(const std::string& prefix, std::span<const std::string> members, bool has_version_2);
  /// Adopts the consolidated metadata of the whole hierarchy.
  void adopt(const ConsolidatedMetadata& metadata);
  /// Adopts the consolidated metadata of a group, which have the metadata of everything below it. Nothing changes if
  /// there are none, or if they cannot be read.
  /// object, content: the metadata object of the group, and its text.
  void adopt_consolidated(const std::string& object, std::string_view content);
  /// Removes the metadata of a member from memory, unless they are consolidated.  prefix: that of the member.
  void evict(const std::string& prefix);

  store::GetResult get(const std::string& object, std::vector<store::ReadSegment> ranges,
                       const store::GetOptions& options) override;
  store::GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                             const store::GetOptions& options) override;
  store::ObjectIdentity identity(const std::string& object) override { return objects_->identity(object); }
  bool contains(const std::string& object) override;
  void list(const std::string& prefix, store::ListDepth depth,
            base::FunctionRef<void(const store::ListedObject&)> visit) override;
  bool has_lists() const override { return objects_->has_lists(); }
  bool put(const std::string& object, std::span<const std::byte> bytes, const store::Condition& condition) override {
    return objects_->put(object, bytes, condition);
  }
  std::unique_ptr<store::NewObject> create(const std::string& object) override { return objects_->create(object); }
  void remove(const std::string& object) override { objects_->remove(object); }

 private:
  /// Returns true if the texts in memory include every object below this name.
  bool is_consolidated(std::string_view object) const;
  /// Reads objects into texts_, many at a time; ignores errors.
  void read_batch(std::vector<std::string> objects);

  std::shared_ptr<store::ObjectStore> objects_;
  std::map<std::string, std::optional<std::string>> texts_;  ///< by object; no text: the object does not exist
  std::optional<std::string> consolidated_;                  ///< prefix of the group with consolidated metadata
};

}  // namespace plait::container::zarr
