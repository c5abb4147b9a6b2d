// Writing chunks, each in an object of its own.
//
// Problem: readers, and programs after a crash, must find either the old chunk or the new one. Making each chunk
// durable on its own would cost one fsync for each chunk.
//
// Idea: a new array is written in place, because no program reads it yet. Chunks of other arrays are written as new
// contents without names. When an access ends, or there are too many of them, commit_chunks() does the following:
//    1. flush() makes all contents durable together
//    2. check() verifies that the array has not been replaced
//    3. all conditions are checked before the first content gets its name, so that a conflict usually changes nothing
//    4. commit() gives each content its name, if its condition still holds
// Example: 600 chunks of 1 MiB are put. The first 512 (kMaxNewChunks) are committed together, the other 88 by flush().
// With chunks of 4 MiB the limit of 1 GiB (kMaxNewBytes) commits 256 at a time.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "codec/buffer.hpp"
#include "container/zarr/chunks/chunk_objects.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::Condition;
using store::NewObject;
using store::Part;

/// Maximum number of new chunks that wait until all of them are made durable.
constexpr std::size_t kMaxNewChunks = 512;
/// Maximum number of bytes of these chunks.
constexpr std::int64_t kMaxNewBytes = std::int64_t{1} << 30;

}  // namespace

void ChunkObjects::throw_changed(const std::string& object) const {
  base::throw_system_error(
      EBUSY, "cannot write ", objects_->object_location(object),
      ": another program has changed it while a part of a chunk in it was changed here; that of the other "
      "one is kept; write again, or let each program write whole chunks");
}

void ChunkObjects::check_unchanged(const std::string& object, const Condition& condition) const {
  if (condition && objects_->identity(object) != *condition) throw_changed(object);
}

void ChunkObjects::add_new(std::int64_t number, NewChunk chunk, std::int64_t bytes) {
  const std::scoped_lock lock(new_mutex_);
  const auto former = new_chunks_.find(number);
  if (former == new_chunks_.end())
    new_chunks_.emplace(number, std::move(chunk));
  else  // its condition stays: the elements of the second put() were read from the first one
    former->second.content = std::move(chunk.content);
  new_bytes_ += bytes;
  if (new_chunks_.size() >= kMaxNewChunks || new_bytes_ >= kMaxNewBytes) commit_chunks();
}

void ChunkObjects::commit_chunks() {
  if (new_chunks_.empty()) return;
  std::vector<NewObject*> contents;
  for (const auto& [number, chunk] : new_chunks_) contents.push_back(chunk.content.get());
  objects_->flush(contents);
  objects_->check();
  for (const auto& [number, chunk] : new_chunks_) check_unchanged(names_.object_name(number), chunk.condition);
  while (!new_chunks_.empty()) {
    const auto first = new_chunks_.begin();
    if (!first->second.content->commit(first->second.condition)) throw_changed(names_.object_name(first->first));
    new_chunks_.erase(first);
  }
  new_bytes_ = 0;
}

void ChunkObjects::flush() {
  {
    const std::scoped_lock lock(new_mutex_);
    commit_chunks();
  }
  if (metadata_.shards) flush_shards();
  if (is_new_) objects_->finish_puts();
  discard();
}

void ChunkObjects::discard() noexcept {
  {
    const std::scoped_lock lock(new_mutex_);
    new_chunks_.clear();
    new_bytes_ = 0;
  }
  if (!shards_in_place_) {
    const std::scoped_lock lock(mutex_);
    open_shards_.clear();
    indices_.clear();
  }
  objects_->end_writes();
}

void ChunkObjects::put(std::int64_t number, std::span<const std::byte> encoded, const Condition& condition) {
  if (metadata_.shards) return put_in_shard(names_.location(number), encoded, condition);
  if (is_new_) return objects_->put(names_.object_name(number), encoded);
  std::unique_ptr<NewObject> content = objects_->create(names_.object_name(number));
  const auto bytes = static_cast<std::int64_t>(encoded.size());
  content->write({{0, encoded.data(), bytes}}, Part::kLast);
  add_new(number, {std::move(content), condition}, bytes);
}

void ChunkObjects::fill_whole(NewObject& content) const {
  if (std::ranges::all_of(metadata_.fill, [](std::byte one) { return one == std::byte{}; }))
    return content.resize(metadata_.chunk_bytes);
  codec::Buffer buffer;
  constexpr std::int64_t kBlock = std::int64_t{1} << 20;
  const auto element = static_cast<std::int64_t>(metadata_.fill.size());
  const std::int64_t block = std::min(metadata_.chunk_bytes, std::max(kBlock / element, std::int64_t{1}) * element);
  const std::span<std::byte> filled = buffer.acquire(static_cast<std::size_t>(block));
  for (std::size_t i = 0; i < filled.size(); ++i) filled[i] = metadata_.fill[i % metadata_.fill.size()];
  for (std::int64_t at = 0; at < metadata_.chunk_bytes; at += block)
    content.write({{at, filled.data(), std::min(block, metadata_.chunk_bytes - at)}}, Part::kMore);
}

void ChunkObjects::change(std::int64_t number, std::vector<store::WriteSegment> parts) {
  if (!is_new_) {
    const std::scoped_lock lock(new_mutex_);
    if (const auto chunk = new_chunks_.find(number); chunk != new_chunks_.end())
      return chunk->second.content->write(std::move(parts), Part::kLast);
  }
  const std::string object = names_.object_name(number);
  const store::GetResult found = objects_->get(object, {});
  if (found.found()) {
    if (found.bytes != metadata_.chunk_bytes) throw_size("write", number, found.bytes);
    return objects_->write(object, std::move(parts));
  }
  std::unique_ptr<NewObject> content = objects_->create(object);
  fill_whole(*content);
  content->write(std::move(parts), is_new_ ? Part::kMore : Part::kLast);
  if (is_new_)
    (void)content->commit(std::nullopt);
  else
    add_new(number, {std::move(content), store::ObjectIdentity{}}, metadata_.chunk_bytes);
}

}  // namespace plait::container::zarr
