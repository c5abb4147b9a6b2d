// Reads of objects through a cache.
//
// Problem: the cache must not return a content that the server had already replaced when the file was opened or the
// object was read.
//
// Idea: entries belong to one content of an object, by its ETag. There are two kinds of reads:
// - Reads of a file that is open, with the condition that the object has a certain ETag (`if_match`). Opening the file
//   read the ETag from the server, so that cached blocks of 128 KiB of that content need no request. Missing blocks are
//   fetched with the condition and stored. Chunks of shards are read with the ETag of an index in memory, which may be
//   old. If all of their blocks are cached, a HEAD request with the condition verifies that ETag.
// - All other reads, such as those of chunks that are one object. The cache knows the ETag of the content that it has.
//   The read is sent with `If-None-Match`: the server sends no bytes if it still has that content (status 304), and the
//   current content otherwise. Each such read is therefore one request, even if the cache has the bytes.
// Objects without a strong ETag are not cached.
//
// Example: opening `s3://b/a.npy` reads [0, 64 KiB) and gets the ETag "v1". A read of [1 MiB, 1.2 MiB) with the
// condition "v1" needs the blocks 8 and 9, which are fetched and stored. The next program sends its first read with
// `If-None-Match: "v1"` and gets status 304; it takes the header and the two blocks from the cache.

#include "store/cache/cached_objects.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "store/cache/cache_folder.hpp"
#include "store/objects/object_content.hpp"
#include "store/objects/web/pieces.hpp"
#include "store/objects/web/web_objects.hpp"

namespace plait::store::cache {

namespace {

using base::text;

constexpr std::int64_t kBlockBytes = std::int64_t{128} << 10;
/// Maximum number of objects of a store whose identity and size are cached in memory.
constexpr std::size_t kMaxContents = 4096;

using Content = ObjectContent;  // identity (ETag and generation) and size of one content of an object

/// A read that is sent to the server, as it is, instead of its missing blocks.
struct ServerRead {
  GetRequest* request = nullptr;
  std::optional<Content> cached_content{};  ///< the content that the cache has of the object
  std::span<std::byte> content{};           ///< the caller's memory, for a read of a whole object
  bool stores_bytes = true;                 ///< true if the bytes that the server sends are stored
};

/// The blocks of one content that a batch needs and the cache lacks; `offsets` is empty if only the ETag must be
/// verified.
struct MissingBlocks {
  std::string object;
  Content content;
  std::map<std::int64_t, std::int64_t> offsets{};  ///< offset of each block in `bytes`; -1 before send()
  std::vector<std::byte> bytes{};
  std::vector<GetRequest*> requests{};  ///< the reads that need these blocks
};

/// The reads of one call of get_all(), divided into those that go to the server and blocks that the cache lacks.
struct Batch {
  ObjectStore::GetMemory memory;
  ObjectStore::GetCallback done;
  std::deque<ServerRead> server_reads{};  // a deque, because the requests that are sent refer to its elements
  std::deque<MissingBlocks> missing_blocks{};
  std::vector<GetRequest*> to_repeat{};  ///< reads whose cached bytes were lost; they are sent again
};

/// Calls `function(block number, offset in the block, memory)` for each part of a segment that is in one block.
template <typename Function>
void for_each_block(const ReadSegment& segment, const Function& function) {
  for (std::int64_t done = 0; done < segment.bytes;) {
    const std::int64_t offset = segment.offset + done;
    const std::int64_t inside = offset % kBlockBytes;
    const std::int64_t bytes = std::min(segment.bytes - done, kBlockBytes - inside);
    function(offset / kBlockBytes, inside, std::span(segment.data + done, static_cast<std::size_t>(bytes)));
    done += bytes;
  }
}

/// Returns the size of a block of an object; the last one may be shorter than kBlockBytes.
std::int64_t block_bytes(std::int64_t block, const Content& content) {
  return std::min(kBlockBytes, content.bytes - block * kBlockBytes);
}

/// Returns true if the blocks of all ranges would take much more memory than the ranges.
bool is_sparse(const GetRequest& request) {
  constexpr std::int64_t kMaxBlocks = 512;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  for (const ReadSegment& range : request.ranges) {
    blocks += (range.offset + range.bytes - 1) / kBlockBytes - range.offset / kBlockBytes + 1;
    bytes += range.bytes;
  }
  constexpr std::int64_t kMaxExcess = 4;
  return blocks > kMaxBlocks && blocks * kBlockBytes > kMaxExcess * bytes;
}

/// The object store `objects` with a cache for its reads; all other calls are passed on.
class CachedObjects : public ObjectStore {
 public:
  CachedObjects(const std::string& location, std::shared_ptr<ObjectStore> objects, const web::WebObjects& web,
                std::shared_ptr<Folder> folder)
      : ObjectStore(location), objects_(std::move(objects)), web_(web), folder_(std::move(folder)) {}

  using ObjectStore::get;
  using ObjectStore::put;

  void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) override;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override {
    GetRequest request{.object = object, .ranges = std::move(ranges), .options = options};
    get_all({&request, 1}, [](GetRequest&, std::int64_t) { return std::span<std::byte>(); }, [](GetRequest&) {});
    return std::move(request.result);
  }
  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override {
    GetRequest request{.object = object, .whole = true, .options = options};
    get_all({&request, 1}, [&](GetRequest&, std::int64_t bytes) { return memory(bytes); }, [](GetRequest&) {});
    return std::move(request.result);
  }

  ObjectIdentity identity(const std::string& object) override { return objects_->identity(object); }
  bool contains(const std::string& object) override { return objects_->contains(object); }
  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override {
    objects_->list(prefix, depth, visit);
  }
  bool has_lists() const override { return objects_->has_lists(); }
  bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) override {
    return objects_->put(object, bytes, condition);
  }
  void finish_puts() override { objects_->finish_puts(); }
  std::unique_ptr<NewObject> create(const std::string& object) override { return objects_->create(object); }
  void remove(const std::string& object) override { objects_->remove(object); }
  void remove_all(std::span<const std::string> objects) override { objects_->remove_all(objects); }
  std::unique_ptr<ObjectLock> lock() override { return objects_->lock(); }
  void end_writes() noexcept override { objects_->end_writes(); }
  void sync() override { objects_->sync(); }

 private:
  // Names of cache entries.
  std::string entry(std::string_view kind, const std::string& object, const Content& content,
                    std::string_view part = {}) const {
    return entry_name(text(kind, '\n', web_.object_url(object), '\n', content.identity.numbers[0], ' ',
                           content.identity.tag, '\n', part));
  }
  std::string block_entry(const std::string& object, const Content& content, std::int64_t block) const {
    return entry("block", object, content, std::to_string(block));
  }
  std::string range_entry(const std::string& object, const Content& content, const ReadSegment& range) const {
    return entry("range", object, content, text(range.offset, '+', range.bytes));
  }
  /// Returns the entry that has the identity and size of the content that the cache has of an object.
  std::string content_entry(const std::string& object) const {
    return entry_name(text("known\n", web_.object_url(object)));
  }

  std::optional<Content> find_expected_content(const GetRequest& request);
  std::optional<Content> find_cached_content(const GetRequest& request) const;
  void add(GetRequest& request, Batch& batch);
  void add_blocks(GetRequest& request, const Content& content, Batch& batch);
  void send(Batch& batch);
  void finish(ServerRead& read, GetResult result, Batch& batch);
  void finish(MissingBlocks& missing, const GetResult& result, Batch& batch);
  bool load(ServerRead& read, Batch& batch);
  void record(const ServerRead& read, const GetResult& result);

  std::shared_ptr<ObjectStore> objects_;
  const web::WebObjects& web_;
  std::shared_ptr<Folder> folder_;
  std::mutex mutex_;
  std::map<std::string, Content> contents_;  // the content that the server has stated last, by object
};

/// Returns the content that a conditional read of ranges expects. Returns nothing for other reads, if the size of the
/// content is unknown, or if a range is outside of it.
std::optional<Content> CachedObjects::find_expected_content(const GetRequest& request) {
  const GetOptions& options = request.options;
  if (request.whole || request.ranges.empty() || options.if_match == nullptr || options.if_none_match != nullptr ||
      !web::is_strong(*options.if_match))
    return std::nullopt;
  Content content{*options.if_match, options.object_bytes};
  if (content.bytes < 0) {
    const std::scoped_lock lock(mutex_);
    const auto found = contents_.find(request.object);
    if (found == contents_.end() || found->second.identity != content.identity) return std::nullopt;
    content.bytes = found->second.bytes;
  }
  const auto is_inside = [&](const ReadSegment& range) {
    return range.offset >= 0 && range.bytes <= content.bytes - range.offset;
  };
  return std::ranges::all_of(request.ranges, is_inside) ? std::optional(content) : std::nullopt;
}

/// Returns the content from which the cache can serve an unconditional read; nothing if it lacks a part.
std::optional<Content> CachedObjects::find_cached_content(const GetRequest& request) const {
  if (request.options.if_match != nullptr || request.options.if_none_match != nullptr) return std::nullopt;
  if (!request.whole && request.ranges.empty()) return std::nullopt;
  const std::optional<std::string> encoded = folder_->load_text(content_entry(request.object));
  std::optional<Content> content = encoded ? decode_content(*encoded) : std::nullopt;
  if (!content || !web::is_strong(content->identity)) return std::nullopt;
  if (request.whole) {
    const bool fits = content->bytes <= request.options.max_bytes;
    return fits && folder_->contains(entry("whole", request.object, *content)) ? content : std::nullopt;
  }
  std::vector<ReadSegment> ranges = request.ranges;
  if (!resolve_offsets(ranges, content->bytes)) return content;
  const auto is_cached = [&](const ReadSegment& range) {
    return folder_->contains(range_entry(request.object, *content, range));
  };
  return std::ranges::all_of(ranges, is_cached) ? content : std::nullopt;
}

/// Adds a read to a batch; completes it if the cache has its bytes and nothing need be verified.
void CachedObjects::add(GetRequest& request, Batch& batch) {
  const std::optional<Content> expected = find_expected_content(request);
  if (!expected) return batch.server_reads.push_back({&request, find_cached_content(request), {}});
  if (is_sparse(request)) return batch.server_reads.push_back({.request = &request, .stores_bytes = false});
  add_blocks(request, *expected, batch);
}

/// Adds a read of ranges by blocks: copies the blocks that the cache has, and records which ones are missing.
void CachedObjects::add_blocks(GetRequest& request, const Content& content, Batch& batch) {
  auto missing = std::ranges::find_if(batch.missing_blocks, [&](const MissingBlocks& candidate) {
    return candidate.object == request.object && candidate.content.identity == content.identity;
  });
  if (missing == batch.missing_blocks.end())
    missing = batch.missing_blocks.insert(missing, {.object = request.object, .content = content});
  std::vector<std::byte> block(static_cast<std::size_t>(kBlockBytes));
  std::int64_t loaded = -1;  // number of the block in `block`
  bool is_complete = true;
  for (const ReadSegment& range : request.ranges)
    for_each_block(range, [&](std::int64_t number, std::int64_t inside, std::span<std::byte> into) {
      if (number != loaded && !missing->offsets.contains(number)) {
        const std::span whole = std::span(block).first(static_cast<std::size_t>(block_bytes(number, content)));
        loaded = -1;  // load() may overwrite a part even if it fails
        if (folder_->load(block_entry(request.object, content, number), whole))
          loaded = number;
        else
          missing->offsets[number] = -1;
      }
      if (number == loaded)
        std::memcpy(into.data(), block.data() + inside, into.size());
      else
        is_complete = false;
    });
  // Without `object_bytes` the caller's identity may be old: it must be verified even if all blocks are cached.
  if (!is_complete || request.options.object_bytes < 0) return missing->requests.push_back(&request);
  request.result = {GetStatus::kRead, content.bytes, content.identity};
  batch.done(request);
}

/// Sends the reads and the missing blocks of a batch to the server, and completes them.
void CachedObjects::send(Batch& batch) {
  std::erase_if(batch.missing_blocks, [](const MissingBlocks& missing) { return missing.requests.empty(); });
  std::vector<GetRequest> sent;
  for (const ServerRead& read : batch.server_reads) {
    GetRequest& next = sent.emplace_back(*read.request);
    next.options.identity = true;
    if (read.cached_content) next.options.if_none_match = &read.cached_content->identity;
  }
  for (MissingBlocks& missing : batch.missing_blocks) {
    GetRequest next{.object = missing.object, .options = {.if_match = &missing.content.identity}};
    std::int64_t bytes = 0;
    for (auto& [block, offset] : missing.offsets)
      offset = std::exchange(bytes, bytes + block_bytes(block, missing.content));
    missing.bytes.resize(static_cast<std::size_t>(bytes));
    for (const auto& [block, offset] : missing.offsets)
      next.ranges.push_back({block * kBlockBytes, missing.bytes.data() + offset, block_bytes(block, missing.content)});
    sent.push_back(std::move(next));
  }
  if (sent.empty()) return;
  const auto index = [&](const GetRequest& request) { return static_cast<std::size_t>(&request - sent.data()); };
  objects_->get_all(
      sent,
      [&](GetRequest& request, std::int64_t bytes) {
        ServerRead& read = batch.server_reads[index(request)];
        return read.content = batch.memory(*read.request, bytes);
      },
      [&](GetRequest& request) {
        const std::size_t i = index(request);
        if (i < batch.server_reads.size()) return finish(batch.server_reads[i], std::move(request.result), batch);
        finish(batch.missing_blocks[i - batch.server_reads.size()], request.result, batch);
      });
}

/// Sets the result of a read that the server has answered: from the cache if the server still has the cached content.
void CachedObjects::finish(ServerRead& read, GetResult result, Batch& batch) {
  GetRequest& request = *read.request;
  if (read.cached_content && result.status == GetStatus::kMatch) {
    // Objects with equal bytes may have equal ETags and different generations.
    const bool is_known = result.identity.numbers == read.cached_content->identity.numbers;
    if (!is_known || !load(read, batch)) return batch.to_repeat.push_back(&request);
  } else {
    if (result.status == GetStatus::kRead || result.status == GetStatus::kOutside) record(read, result);
    request.result = std::move(result);
  }
  batch.done(request);
}

/// Serves a read from the cache after the server has confirmed the content, and sets the result. Returns false if the
/// cache has lost it.
bool CachedObjects::load(ServerRead& read, Batch& batch) {
  GetRequest& request = *read.request;
  const Content& content = *read.cached_content;
  GetResult result{GetStatus::kRead, content.bytes, content.identity};
  if (request.whole) {
    if (!folder_->load(entry("whole", request.object, content), batch.memory(request, content.bytes))) return false;
  } else if (std::vector<ReadSegment> ranges = request.ranges; resolve_offsets(ranges, content.bytes)) {
    for (const ReadSegment& range : ranges)
      if (!folder_->load(range_entry(request.object, content, range),
                         {range.data, static_cast<std::size_t>(range.bytes)}))
        return false;
  } else {
    result.status = GetStatus::kOutside;
  }
  record({&request, read.cached_content, {}}, {GetStatus::kMatch, content.bytes, content.identity});
  request.result = std::move(result);
  return true;
}

/// Records the content that the server has stated, and stores the bytes that it has sent.
void CachedObjects::record(const ServerRead& read, const GetResult& result) {
  const GetRequest& request = *read.request;
  if (!web::is_strong(result.identity) || !read.stores_bytes) return;
  const Content content{result.identity, result.bytes};
  {
    const std::scoped_lock lock(mutex_);
    if (contents_.size() >= kMaxContents) contents_.clear();
    contents_[request.object] = content;
  }
  if (result.status != GetStatus::kRead && result.status != GetStatus::kOutside) return;
  if (!read.cached_content || read.cached_content->identity != content.identity) {
    const std::string encoded = encode_content(content);
    if (std::ssize(encoded) <= Folder::kMaxTextBytes)
      folder_->store(content_entry(request.object), std::as_bytes(std::span(encoded)));
  }
  if (result.status != GetStatus::kRead) return;
  if (request.whole) return folder_->store(entry("whole", request.object, content), read.content);
  std::vector<ReadSegment> ranges = request.ranges;
  if (!resolve_offsets(ranges, content.bytes)) return;
  for (const ReadSegment& range : ranges)
    folder_->store(range_entry(request.object, content, range), {range.data, static_cast<std::size_t>(range.bytes)});
}

/// Stores the blocks that the server has sent, and copies them to the reads that need them.
void CachedObjects::finish(MissingBlocks& missing, const GetResult& result, Batch& batch) {
  if (result.found())
    for (const auto& [block, offset] : missing.offsets)
      folder_->store(block_entry(missing.object, missing.content, block),
                     {missing.bytes.data() + offset, static_cast<std::size_t>(block_bytes(block, missing.content))});
  for (GetRequest* const request : missing.requests) {
    request->result = result;
    if (result.found()) {
      request->result.identity = missing.content.identity;
      for (const ReadSegment& range : request->ranges)
        for_each_block(range, [&](std::int64_t number, std::int64_t inside, std::span<std::byte> into) {
          const auto offset_of_block = missing.offsets.find(number);
          if (offset_of_block != missing.offsets.end())
            std::memcpy(into.data(), missing.bytes.data() + offset_of_block->second + inside, into.size());
        });
    }
    batch.done(*request);
  }
  missing.bytes = {};
}

// Reads whose cached bytes another process removed after the server confirmed them are sent again without the cache.
void CachedObjects::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  Batch batch{memory, done};
  for (GetRequest& request : requests) add(request, batch);
  send(batch);
  if (batch.to_repeat.empty()) return;
  Batch repetition{memory, done};
  for (GetRequest* const request : batch.to_repeat) repetition.server_reads.push_back({request, std::nullopt, {}});
  send(repetition);
}

}  // namespace

std::shared_ptr<ObjectStore> with_cache(const std::string& location, std::shared_ptr<ObjectStore> objects) {
  const auto* const web = dynamic_cast<const web::WebObjects*>(objects.get());
  if (web == nullptr) return objects;
  const std::optional<Options> options = find_options(location);
  std::shared_ptr<Folder> folder = options ? Folder::open(*options) : nullptr;
  if (!folder) return objects;
  return std::make_shared<CachedObjects>(location, std::move(objects), *web, std::move(folder));
}

}  // namespace plait::store::cache
