// Reading entries of zip files as objects.
//
// Chunks of one array are usually next to each other in the file. If the zip file is in an object store, a batch of
// reads therefore becomes one batch of ranges of the zip file (Archive::read_compressed), in which neighbours share
// requests (web/pieces.hpp).
// Example: 1,000 chunks of 10 KB need three concurrent requests of up to 4 MiB.

#include "store/zip/zip_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::zip {

namespace {

using base::text;

/// Size of a batch in bytes that must be in memory at the same time: deflated entries, and whole stored ones.
constexpr std::int64_t kMaxBatchBytes = std::int64_t{32} << 20;

class ZipObjects : public ObjectStore {
 public:
  ZipObjects(const std::string& location, std::shared_ptr<Archive> archive)
      : ObjectStore(location), archive_(std::move(archive)) {
    std::string_view inside = std::string_view(location).substr(archive_->name().size());
    while (inside.starts_with('/')) inside.remove_prefix(1);
    while (inside.ends_with('/')) inside.remove_suffix(1);
    if (!inside.empty()) prefix_ = text(inside, '/');
  }

  using ObjectStore::get;
  using ObjectStore::put;

  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override {
    GetResult result;
    const Entry* const entry = find_entry(object, options, result);
    if (entry == nullptr) return result;
    result.status = GetStatus::kOutside;
    if (!resolve_offsets(ranges, result.bytes)) return result;
    if (!ranges.empty()) archive_->read(*entry, std::move(ranges));
    result.status = GetStatus::kRead;
    return result;
  }

  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override {
    GetResult result;
    const Entry* const entry = find_entry(object, options, result);
    if (entry == nullptr) return result;
    check_whole(*entry, options);
    const std::span<std::byte> bytes = memory(result.bytes);
    archive_->read(*entry, {{0, bytes.data(), result.bytes}});
    if (entry->method == kStored) archive_->verify_checksum(*entry, bytes);
    result.status = GetStatus::kRead;
    return result;
  }

  void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) override {
    if (archive_->object() == nullptr) return ObjectStore::get_all(requests, memory, done);
    for (std::size_t next = 0; next < requests.size();) {
      std::vector<BatchedRead> batch;
      for (std::int64_t bytes = 0; next < requests.size() && bytes < kMaxBatchBytes; ++next)
        bytes += add_to_batch(requests[next], batch, memory, done);
      std::vector<CompressedRead> reads;
      for (BatchedRead& read : batch) reads.push_back(std::move(read.compressed_read));
      archive_->read_compressed(reads);
      for (std::size_t i = 0; i < batch.size(); ++i) finish(batch[i], *reads[i].entry, done);
    }
  }

  ObjectIdentity identity(const std::string& object) override {
    const Entry* const entry = archive_->find(prefix_ + object);
    return entry != nullptr ? archive_->identity(*entry) : ObjectIdentity{};
  }
  bool contains(const std::string& object) override { return archive_->find(prefix_ + object) != nullptr; }

  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override {
    const std::string begin = prefix_ + prefix;
    const std::vector<Entry>& entries = archive_->entries();
    for (auto entry = std::ranges::lower_bound(entries, begin, {}, &Entry::name);
         entry != entries.end() && entry->name.starts_with(begin);) {
      const std::string name = entry->name.substr(begin.size());
      const std::size_t slash = depth == ListDepth::kChildren ? name.find('/') : std::string::npos;
      if (slash == std::string::npos) {
        if (!name.empty() && !name.ends_with('/')) visit({name, entry->content_bytes});
        ++entry;
        continue;
      }
      visit({name.substr(0, slash + 1), 0});
      // Skip all entries below: `0` is the character after `/`.
      entry = std::lower_bound(entry, entries.end(), begin + name.substr(0, slash) + '0',
                               [](const Entry& skipped, const std::string& end) { return skipped.name < end; });
    }
  }

  bool put(const std::string& object, std::span<const std::byte> /*bytes*/, const Condition& /*condition*/) override {
    reject(object);
  }
  std::unique_ptr<NewObject> create(const std::string& object) override { reject(object); }
  void write(const std::string& object, std::vector<WriteSegment> /*segments*/) override { reject(object); }
  void remove(const std::string& object) override { reject(object); }
  void check() override { reject({}); }

 private:
  [[noreturn]] void reject(const std::string& object) const {
    base::throw_system_error(EROFS, "cannot write ", object.empty() ? name() : object_location(object),
                             ": it is in the zip file ", archive_->name(),
                             ", which Plait only reads; copy it to a folder first");
  }

  /// Finds an entry, and sets the size and the identity in `result`. Returns nullptr if there is no such object or a
  /// condition is not met.
  const Entry* find_entry(const std::string& object, const GetOptions& options, GetResult& result) const {
    const Entry* const entry = archive_->find(prefix_ + object);
    if (entry == nullptr) return nullptr;
    result.bytes = entry->content_bytes;
    result.identity = archive_->identity(*entry);
    return meets(options, result) ? entry : nullptr;
  }

  /// A read of a batch, with the bytes of a deflated entry.
  struct BatchedRead {
    GetRequest* request = nullptr;
    CompressedRead compressed_read{};
    std::vector<std::byte> compressed{};
    std::span<std::byte> content{};  // the caller's memory for a whole entry
  };

  /// Checks an entry that is read as a whole, before memory is allocated for it.
  void check_whole(const Entry& entry, const GetOptions& options) const {
    archive_->check_readable(entry);
    if (entry.content_bytes > options.max_bytes)
      base::throw_system_error(EFBIG, "cannot read ", archive_->name(), '/', entry.name, ": it has ",
                               entry.content_bytes, " bytes, but such an object has at most ", options.max_bytes,
                               "; copy or download the file again");
  }

  /// Adds a read to a batch if it needs bytes of the file. Returns how many bytes the batch has in memory for it.
  std::int64_t add_to_batch(GetRequest& request, std::vector<BatchedRead>& batch, GetMemory memory,
                            GetCallback done) const {
    request.result = {};
    const Entry* const entry = find_entry(request.object, request.options, request.result);
    if (entry == nullptr) {
      done(request);
      return 0;
    }
    if (!request.whole && (!resolve_offsets(request.ranges, request.result.bytes) || request.ranges.empty())) {
      request.result.status = request.ranges.empty() ? GetStatus::kRead : GetStatus::kOutside;
      done(request);
      return 0;
    }
    request.whole ? check_whole(*entry, request.options) : archive_->check_readable(*entry);
    BatchedRead& read = batch.emplace_back(BatchedRead{&request, {entry, {}}});
    if (request.whole) read.content = memory(request, entry->content_bytes);
    if (entry->method == kStored) {
      read.compressed_read.ranges = request.ranges;
      if (request.whole) read.compressed_read.ranges = {{0, read.content.data(), entry->content_bytes}};
      return request.whole ? entry->content_bytes : 0;
    }
    read.compressed.resize(static_cast<std::size_t>(entry->compressed_bytes));
    read.compressed_read.ranges = {{0, read.compressed.data(), entry->compressed_bytes}};
    return entry->compressed_bytes;
  }

  /// Decompresses or verifies the bytes of a read, and reports its completion.
  void finish(BatchedRead& read, const Entry& entry, GetCallback done) const {
    GetRequest& request = *read.request;
    if (request.whole) {
      if (entry.method == kDeflated)
        archive_->inflate(entry, read.compressed, read.content);
      else
        archive_->verify_checksum(entry, read.content);
    } else if (entry.method == kDeflated) {
      std::vector<std::byte> content(static_cast<std::size_t>(entry.content_bytes));
      archive_->inflate(entry, read.compressed, content);
      for (const ReadSegment& range : request.ranges)
        std::memcpy(range.data, content.data() + range.offset, static_cast<std::size_t>(range.bytes));
    }
    read.compressed = {};
    request.result.status = GetStatus::kRead;
    done(request);
  }

  std::shared_ptr<Archive> archive_;
  std::string prefix_;  // beginning of the names of the entries in the location, with a slash at the end
};

}  // namespace

std::shared_ptr<ObjectStore> open_objects(const std::string& location, std::shared_ptr<Archive> archive) {
  return std::make_shared<ZipObjects>(location, std::move(archive));
}

}  // namespace plait::store::zip
