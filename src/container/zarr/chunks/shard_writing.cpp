// Writing shards.
//
// Problem: a shard is one object with many chunks and an index. A write of one chunk must not lose the others, or
// changes that another program makes to them meanwhile.
//
// Idea: put() appends chunks to a new content. When the access ends, complete_shard() copies the other chunks of the
// former shard after them, as they are stored, and then writes the index. The content gets its name under the condition
// that the shard is still the one whose chunks were copied; if it is not, the copies are replaced by those of the new
// shard.
//
// Example: a shard of 4 chunks with its index at the end, which has 4 * 16 bytes and a checksum of 4. Chunk 1 is put
// with 80 bytes.
//    former shard    chunk 0 at 0..99, chunk 1 at 100..149, chunk 3 at 150..249, index at 250..317
//    new content     chunk 1 at 0..79 (put_end = 80), chunk 0 at 80..179, chunk 3 at 180..279, index at 280..347
// If commit() finds another shard, drop_retained() cuts the content to 80 bytes, and complete_shard() copies the chunks
// of that one. If chunk 1 contains elements that were read from the former shard, this is an error instead
// (`condition`).
//
// A shard of a new array is written in place: a chunk is appended to the object, or overwritten if its size has not
// changed, and flush() writes the index.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/zarr/chunks/chunk_objects.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::Condition;
using store::NewObject;
using store::Part;
using store::ReadSegment;
using store::WriteSegment;

/// Number of bytes of retained chunks that are copied at once.
constexpr std::int64_t kCopyBytes = std::int64_t{1} << 20;

/// A chunk of the former shard that is copied to the new content.
struct RetainedChunk {
  std::size_t number_in_shard = 0;
  ShardEntry old;  ///< location in the former shard
};

/// The object of a shard as it was when it had a certain identity.
class OldShard {
 public:
  OldShard(store::ObjectStore& objects, const std::string& object, const store::ObjectIdentity& identity)
      : objects_(objects), object_(object), identity_(identity) {}
  /// Copies bytes of the object to an offset of a new content. Returns false if the object has been replaced.
  bool copy(std::int64_t begin, NewObject& target, std::int64_t target_begin, std::int64_t bytes) const {
    std::vector<std::byte> memory(static_cast<std::size_t>(std::min(bytes, kCopyBytes)));
    for (std::int64_t done = 0; done < bytes; done += kCopyBytes) {
      const std::int64_t count = std::min(kCopyBytes, bytes - done);
      if (!objects_.get(object_, {{begin + done, memory.data(), count}}, {.if_match = &identity_}).found())
        return false;
      target.write({{target_begin + done, memory.data(), count}}, Part::kMore);
    }
    return true;
  }

 private:
  store::ObjectStore& objects_;
  const std::string& object_;
  const store::ObjectIdentity& identity_;
};

/// Orders the chunks of a new shard by their numbers, from the offset `begin` on. If the order differs, `create` makes
/// the object that replaces the content.
template <typename Shard, typename Create>
void sort_chunks(Shard& shard, std::int64_t begin, Create&& create) {
  std::int64_t end = begin;
  bool is_sorted = true;
  for (const ShardEntry& entry : shard.entries) {
    if (!entry.exists()) continue;
    is_sorted = is_sorted && std::cmp_equal(entry.offset, end);
    end += static_cast<std::int64_t>(entry.bytes);
  }
  if (is_sorted) return;
  std::unique_ptr<NewObject> sorted = create();
  std::vector<std::byte> chunk;
  end = begin;
  for (ShardEntry& entry : shard.entries) {
    if (!entry.exists()) continue;
    chunk.resize(entry.bytes);
    const std::int64_t bytes = std::ssize(chunk);
    shard.content->read({{static_cast<std::int64_t>(entry.offset), chunk.data(), bytes}});
    sorted->write({{end, chunk.data(), bytes}}, Part::kMore);
    entry.offset = static_cast<std::uint64_t>(end);
    end += bytes;
  }
  shard.content = std::move(sorted);
  shard.end = end;
}

}  // namespace

void ChunkObjects::put_in_shard(const ChunkLocation& location, std::span<const std::byte> encoded,
                                const Condition& condition) {
  const std::string object = names_.object_name(location);
  const std::shared_ptr<OpenShard> shard = open_shard(location.object);
  const std::scoped_lock lock(shard->mutex);
  if (shards_in_place_) {
    refresh(*shard, object);
    if (shard->bytes == 0 && !shard->dirty) objects_->put(object, {});
  } else if (!shard->content) {
    shard->entries.assign(static_cast<std::size_t>(metadata_.shards->count), ShardEntry{});
    shard->end = metadata_.shards->index_at_end ? 0 : metadata_.shards->index_bytes;
    shard->content = objects_->create(object);
  }
  const auto bytes = static_cast<std::int64_t>(encoded.size());
  ShardEntry& entry = shard->entries[static_cast<std::size_t>(location.number_in_shard)];
  // If the chunk has been put before, its elements were read from the new content, not from the former shard.
  if (!is_new_ && !entry.exists() && !shard->condition) shard->condition = condition;
  const bool is_appended = !entry.exists() || entry.bytes != encoded.size();
  const std::int64_t offset = is_appended ? shard->end : static_cast<std::int64_t>(entry.offset);
  shard->dirty = true;
  if (shard->content)
    shard->content->write({{offset, encoded.data(), bytes}}, Part::kMore);
  else
    objects_->write(object, {{offset, encoded.data(), bytes}});
  if (!is_appended) return;
  entry = {static_cast<std::uint64_t>(offset), encoded.size()};
  shard->end += bytes;
}

bool ChunkObjects::read_new(const ChunkLocation& location, PartMemory part) {
  std::shared_ptr<OpenShard> shard;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = open_shards_.find(location.object);
    if (found == open_shards_.end()) return false;
    shard = found->second;
  }
  const std::scoped_lock lock(shard->mutex);
  if (!shard->content) return false;
  const ShardEntry& entry = shard->entries[static_cast<std::size_t>(location.number_in_shard)];
  if (!entry.exists()) return false;
  ReadSegment range = part(static_cast<std::int64_t>(entry.bytes));
  range.offset += static_cast<std::int64_t>(entry.offset);
  shard->content->read({range});
  return true;
}

Condition ChunkObjects::retain_others(OpenShard& shard, const std::string& object) const {
  const std::optional<ShardIndex> index = read_index(*metadata_.shards, *objects_, object);
  if (!index) return store::ObjectIdentity{};
  std::vector<RetainedChunk> retained;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < index->entries.size(); ++i) {
    if (shard.entries[i].exists() || !index->entries[i].exists()) continue;
    retained.push_back({i, index->entries[i]});
    all += index->entries[i].bytes;
    if (all > static_cast<std::uint64_t>(index->bytes))
      base::throw_system_error(EIO, "cannot write the shard ", objects_->object_location(object),
                               ": its chunks have more bytes than the file, ", index->bytes,
                               ", so some overlap; copy the array into a new one");
  }
  std::ranges::sort(retained, {}, [](const RetainedChunk& chunk) { return chunk.old.offset; });
  const OldShard old(*objects_, object, index->identity);
  for (std::size_t i = 0; i < retained.size();) {
    // Copy consecutive chunks together.
    const auto begin = static_cast<std::int64_t>(retained[i].old.offset);
    std::int64_t end = begin;
    for (; i < retained.size() && static_cast<std::int64_t>(retained[i].old.offset) == end; ++i) {
      const ShardEntry& entry = retained[i].old;
      shard.entries[retained[i].number_in_shard] = {static_cast<std::uint64_t>(shard.end + end - begin), entry.bytes};
      end += static_cast<std::int64_t>(entry.bytes);
    }
    if (!old.copy(begin, *shard.content, shard.end, end - begin)) return std::nullopt;
    shard.end += end - begin;
  }
  return index->identity;
}

std::int64_t ChunkObjects::write_index(OpenShard& shard,
                                       base::FunctionRef<void(std::vector<WriteSegment>)> write) const {
  const std::vector<std::byte> index = encode_index(*metadata_.shards, shard.entries);
  const bool at_end = metadata_.shards->index_at_end;
  const auto bytes = static_cast<std::int64_t>(index.size());
  write({{at_end ? shard.end : 0, index.data(), bytes}});
  return at_end ? shard.end + bytes : shard.end;
}

void ChunkObjects::drop_retained(OpenShard& shard) {
  for (ShardEntry& entry : shard.entries)
    if (entry.exists() && static_cast<std::int64_t>(entry.offset) >= shard.put_end) entry = {};
  shard.end = shard.put_end;
  shard.content->resize(shard.end);
}

Condition ChunkObjects::complete_shard(OpenShard& shard, const std::string& object) const {
  Condition former = retain_others(shard, object);
  for (int conflicts = 1; !former; ++conflicts) {
    if (conflicts == kMaxConflicts) throw_conflicts(*objects_, "write", object);
    drop_retained(shard);
    former = retain_others(shard, object);
  }
  (void)write_index(shard,
                    [&](std::vector<WriteSegment> index) { shard.content->write(std::move(index), Part::kLast); });
  return former;
}

void ChunkObjects::flush_shards() {
  std::vector<std::pair<std::int64_t, std::shared_ptr<OpenShard>>> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& shard : open_shards_)
      if (shard.second->dirty) all.emplace_back(shard);
  }
  std::vector<Condition> conditions;
  std::vector<NewObject*> contents;
  for (const auto& [number, shard] : all) {
    const std::scoped_lock lock(shard->mutex);
    const std::string object = names_.object_name(number);
    shard->dirty = false;
    if (shard->content) {
      // Threads put chunks in any order. A program that continues the array must make the same bytes.
      if (is_new_ && objects_->finds_equal_objects())
        sort_chunks(*shard, metadata_.shards->index_at_end ? 0 : metadata_.shards->index_bytes,
                    [&, &shard_object = object] { return objects_->create(shard_object); });
      shard->put_end = shard->end;
      conditions.push_back(complete_shard(*shard, object));
      contents.push_back(shard->content.get());
    } else {
      shard->bytes =
          write_index(*shard, [&](std::vector<WriteSegment> index) { objects_->write(object, std::move(index)); });
    }
  }
  if (contents.empty()) return;
  objects_->flush(contents);
  objects_->check();
  for (const auto& [number, shard] : all) check_unchanged(names_.object_name(number), shard->condition);
  for (std::size_t i = 0; i < all.size(); ++i) {
    OpenShard& shard = *all[i].second;
    const std::string object = names_.object_name(all[i].first);
    check_unchanged(object, shard.condition);
    shard.content->commit(conditions[i], [&] {
      check_unchanged(object, shard.condition);
      drop_retained(shard);
      return complete_shard(shard, object);
    });
    shard.content.reset();
  }
}

}  // namespace plait::container::zarr
