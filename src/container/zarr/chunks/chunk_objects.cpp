// Reading chunks from objects and shards.
//
// A chunk of a shard takes two requests, one for the index and one for the bytes at the offset that the index states.
// Another program may replace the shard between the two, so that the offset would be wrong. Each request for bytes
// therefore has the condition that the shard has the identity from which the index was read; if it fails, both are
// repeated.
// Example: the index of shard A has chunk 3 at offset 100. Another program replaces A by B. The read at offset 100 with
// the condition "identity of A" fails, the cached index is dropped, the index of B has chunk 3 at offset 140, and the
// read at 140 with the condition "identity of B" succeeds. If a cached index has no entry for a chunk, a request
// without ranges verifies that it is still current.

#include "container/zarr/chunks/chunk_objects.hpp"

#include <algorithm>
#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::GetStatus;
using store::ReadSegment;

/// Reads one chunk of a batch without ObjectStore::get_all().
void read_single(ChunkObjects& chunks, ChunkRequest& chunk, ChunkObjects::ChunkMemory memory) {
  if (chunk.parts.empty()) {
    const auto memory_of_one = [&](std::int64_t bytes) { return memory(chunk, bytes); };
    chunk.result = chunks.read(chunk.number, memory_of_one, {.identity = chunk.identity, .unless = chunk.unless});
    return;
  }
  chunk.result.status = ChunkStatus::kRead;
  for (const ReadSegment& part : chunk.parts) {
    if (chunks.read_part(chunk.number, part)) continue;
    chunk.result.status = ChunkStatus::kMissing;  // removed between two parts: all parts get the fill value
    return;
  }
}

}  // namespace

std::string ChunkObjects::describe(std::int64_t number) const {
  const ChunkLocation location = names_.location(number);
  const std::string object = objects_->object_location(names_.object_name(location));
  if (!metadata_.shards) return text("the chunk ", object);
  return text("chunk ", location.number_in_shard, " of the shard ", object);
}

void ChunkObjects::throw_size(const char* operation, std::int64_t number, std::int64_t bytes) const {
  base::throw_system_error(EIO, "cannot ", operation, ' ', describe(number), ": it has ", bytes,
                           " bytes, but a chunk has ", metadata_.chunk_bytes, "; copy or download it again");
}

void throw_conflicts(const store::ObjectStore& objects, const char* operation, const std::string& shard) {
  base::throw_system_error(ESTALE, "cannot ", operation, " the shard ", objects.object_location(shard),
                           ": it has changed ", kMaxConflicts,
                           " times between the reads of its index and of its chunks; try again when no program "
                           "changes it");
}

ChunkResult ChunkObjects::read(std::int64_t number, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                               const ChunkReadOptions& options) {
  if (metadata_.shards) {
    const auto part = [&](std::int64_t bytes) { return ReadSegment{0, memory(bytes).data(), bytes}; };
    return read_from_shard(names_.location(number), part, options);
  }
  if (!is_new_) {
    const std::scoped_lock lock(new_mutex_);
    if (const auto chunk = new_chunks_.find(number); chunk != new_chunks_.end()) {
      const std::int64_t bytes = chunk->second.content->size();
      chunk->second.content->read({{0, memory(bytes).data(), bytes}});
      return {ChunkStatus::kRead, {}};
    }
  }
  store::GetResult got = objects_->get_whole(names_.object_name(number), memory,
                                             {.identity = options.identity, .if_none_match = options.unless});
  if (got.status == GetStatus::kMissing) return {};
  return {got.found() ? ChunkStatus::kRead : ChunkStatus::kSame, std::move(got.identity)};
}

bool ChunkObjects::read_part(std::int64_t number, const ReadSegment& part) {
  if (metadata_.shards) {
    const auto checked = [&](std::int64_t bytes) {
      if (bytes != metadata_.chunk_bytes) throw_size("read", number, bytes);
      return part;
    };
    return read_from_shard(names_.location(number), checked, {}).status == ChunkStatus::kRead;
  }
  if (!is_new_) {
    const std::scoped_lock lock(new_mutex_);
    if (const auto chunk = new_chunks_.find(number); chunk != new_chunks_.end()) {
      chunk->second.content->read({part});
      return true;
    }
  }
  const store::GetResult got = objects_->get(names_.object_name(number), {part});
  if (got.status == GetStatus::kMissing) return false;
  if (got.bytes != metadata_.chunk_bytes) throw_size("read", number, got.bytes);
  return true;
}

void ChunkObjects::read_all(std::span<ChunkRequest> chunks, ChunkMemory memory, ChunkCallback done) {
  std::vector<store::GetRequest> requests;
  std::vector<ChunkRequest*> requested;                    // chunk of each request
  std::vector<std::shared_ptr<const ShardIndex>> indexes;  // of the shards that are read
  const auto has_new = [this](std::int64_t number) {
    if (is_new_) return false;
    const std::scoped_lock lock(new_mutex_);
    return new_chunks_.contains(number);
  };
  for (ChunkRequest& chunk : chunks) {
    if (metadata_.shards) {
      indexes.push_back(find_index(chunk.number));
      if (std::optional<store::GetRequest> request = make_shard_request(chunk, indexes.back().get(), memory)) {
        requests.push_back(std::move(*request));
        requested.push_back(&chunk);
        continue;
      }
    }
    if (metadata_.shards || has_new(chunk.number)) {
      read_single(*this, chunk, memory);
      done(chunk);
      continue;
    }
    requests.push_back({.object = names_.object_name(chunk.number),
                        .ranges = chunk.parts,
                        .whole = chunk.parts.empty(),
                        .options = {.identity = chunk.identity, .if_none_match = chunk.unless}});
    requested.push_back(&chunk);
  }
  const auto find_chunk = [&](const store::GetRequest& request) -> ChunkRequest& {
    return *requested[static_cast<std::size_t>(&request - requests.data())];
  };
  objects_->get_all(
      requests, [&](store::GetRequest& request, std::int64_t bytes) { return memory(find_chunk(request), bytes); },
      [&](store::GetRequest& request) {
        ChunkRequest& chunk = find_chunk(request);
        store::GetResult& got = request.result;
        if (metadata_.shards) {
          if (got.found())
            chunk.result = {ChunkStatus::kRead, *request.options.if_match};
          else
            read_single(*this, chunk, memory);  // another program has replaced the shard
          return done(chunk);
        }
        if (!request.whole && got.status != GetStatus::kMissing && got.bytes != metadata_.chunk_bytes)
          throw_size("read", chunk.number, got.bytes);
        if (got.status != GetStatus::kMissing)
          chunk.result = {got.found() ? ChunkStatus::kRead : ChunkStatus::kSame, std::move(got.identity)};
        done(chunk);
      });
}

std::shared_ptr<const ShardIndex> ChunkObjects::find_index(std::int64_t number) {
  if (shards_in_place_) return nullptr;
  const ChunkLocation location = names_.location(number);
  {
    const std::scoped_lock lock(mutex_);
    if (open_shards_.contains(location.object)) return nullptr;
  }
  return indices_.find_cached(location.object);
}

std::optional<store::GetRequest> ChunkObjects::make_shard_request(ChunkRequest& chunk, const ShardIndex* index,
                                                                  ChunkMemory memory) const {
  const ChunkLocation location = names_.location(chunk.number);
  if (index == nullptr || (chunk.unless != nullptr && *chunk.unless == index->identity)) return std::nullopt;
  const ShardEntry& entry = index->entries[static_cast<std::size_t>(location.number_in_shard)];
  if (!entry.exists()) return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(entry.bytes);
  std::vector<ReadSegment> ranges = chunk.parts;
  if (!ranges.empty() && bytes != metadata_.chunk_bytes) throw_size("read", chunk.number, bytes);
  if (ranges.empty()) ranges.push_back({0, memory(chunk, bytes).data(), bytes});
  for (ReadSegment& range : ranges) range.offset += static_cast<std::int64_t>(entry.offset);
  return store::GetRequest{
      .object = names_.object_name(location), .ranges = std::move(ranges), .options = {.if_match = &index->identity}};
}

ChunkResult ChunkObjects::read_from_shard(const ChunkLocation& location, PartMemory part,
                                          const ChunkReadOptions& options) {
  if (shards_in_place_) return read_in_place(location, part);
  if (read_new(location, part)) return {ChunkStatus::kRead, {}};
  const std::string object = names_.object_name(location);
  // The index and the chunk must belong to one content of the object, hence the condition if_match.
  for (int conflicts = 0; conflicts < kMaxConflicts; ++conflicts) {
    bool cached = false;
    const std::shared_ptr<const ShardIndex> index = indices_.find(location.object, object, cached);
    if (!index) return {};
    const ShardEntry& entry = index->entries[static_cast<std::size_t>(location.number_in_shard)];
    const bool is_same = options.unless != nullptr && *options.unless == index->identity;
    if (!entry.exists() && !cached) return {ChunkStatus::kMissing, index->identity};
    std::vector<ReadSegment> ranges;
    if (entry.exists() && !is_same) {
      ranges.push_back(part(static_cast<std::int64_t>(entry.bytes)));
      ranges[0].offset += static_cast<std::int64_t>(entry.offset);
    }
    if (objects_->get(object, std::move(ranges), {.if_match = &index->identity}).found()) {
      if (!entry.exists()) return {ChunkStatus::kMissing, index->identity};
      return {is_same ? ChunkStatus::kSame : ChunkStatus::kRead, index->identity};
    }
    indices_.drop(location.object);
  }
  throw_conflicts(*objects_, "read", object);
}

ChunkResult ChunkObjects::read_in_place(const ChunkLocation& location, PartMemory part) {
  const std::string object = names_.object_name(location);
  ShardEntry entry;
  {
    const std::shared_ptr<OpenShard> shard = open_shard(location.object);
    const std::scoped_lock lock(shard->mutex);
    refresh(*shard, object);
    entry = shard->entries[static_cast<std::size_t>(location.number_in_shard)];
  }
  if (!entry.exists()) return {};
  ReadSegment range = part(static_cast<std::int64_t>(entry.bytes));
  range.offset += static_cast<std::int64_t>(entry.offset);
  if (!objects_->get(object, {range}).found())
    base::throw_system_error(EIO, "cannot read the shard ", objects_->object_location(object), ": chunk ",
                             location.number_in_shard, " is not in it any more; write the array again");
  return {ChunkStatus::kRead, {}};
}

std::shared_ptr<ChunkObjects::OpenShard> ChunkObjects::open_shard(std::int64_t number) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<OpenShard>& shard = open_shards_[number];
  if (!shard) shard = std::make_shared<OpenShard>();
  return shard;
}

void ChunkObjects::refresh(OpenShard& shard, const std::string& object) const {
  const Shards& shards = *metadata_.shards;
  if (shard.dirty) return;
  // A process that puts a chunk into a shard makes the object longer, or leaves the index as it is.
  const std::int64_t bytes = objects_->get(object, {}).bytes;
  if (bytes == shard.bytes) return;
  shard.entries.assign(static_cast<std::size_t>(shards.count), ShardEntry{});
  if (bytes > 0)
    if (std::optional<ShardIndex> read = read_index(shards, *objects_, object))
      shard.entries = std::move(read->entries);
  shard.end =
      shards.index_at_end ? std::max<std::int64_t>(bytes - shards.index_bytes, 0) : std::max(bytes, shards.index_bytes);
  shard.bytes = bytes;
}

}  // namespace plait::container::zarr
