#include "store/objects/memory/memory_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::memory {

namespace {

using Bytes = std::vector<std::byte>;

ObjectIdentity find_identity(const Bucket& bucket, const std::string& location) {
  const auto found = bucket.objects.find(location);
  return found == bucket.objects.end() ? ObjectIdentity{} : ObjectIdentity{{}, base::text('v', found->second.version)};
}

/// Replaces an object if the condition is met.
bool replace(Bucket& bucket, const std::string& location, std::span<const std::byte> bytes,
             const Condition& condition) {
  const std::scoped_lock lock(bucket.mutex);
  ++bucket.puts;
  if (condition && find_identity(bucket, location) != *condition) return false;
  bucket.objects[location] = {Bytes(bytes.begin(), bytes.end()), ++bucket.versions};
  return true;
}

/// Determines the result of a get without the bytes. The caller holds the bucket's lock.
GetResult examine(Bucket& bucket, const std::string& location, const GetOptions& options) {
  ++bucket.gets;
  GetResult result;
  const auto found = bucket.objects.find(location);
  if (found == bucket.objects.end()) return result;
  result.identity = find_identity(bucket, location);
  result.bytes = static_cast<std::int64_t>(found->second.bytes.size());
  if (meets(options, result)) result.status = GetStatus::kRead;
  return result;
}

bool copy_out(const Bytes& bytes, const std::vector<ReadSegment>& ranges) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const auto first_byte = [&](const ReadSegment& range) {
    return range.offset < 0 ? range.offset + size : range.offset;
  };
  for (const ReadSegment& range : ranges)
    if (first_byte(range) < 0 || first_byte(range) > size || range.bytes > size - first_byte(range)) return false;
  for (const ReadSegment& range : ranges) std::copy_n(bytes.begin() + first_byte(range), range.bytes, range.data);
  return true;
}

void copy_in(Bytes& bytes, const std::vector<WriteSegment>& segments) {
  for (const WriteSegment& segment : segments) {
    bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(segment.offset + segment.bytes)));
    std::copy_n(segment.data, segment.bytes, bytes.begin() + segment.offset);
  }
}

class NewBytes : public NewObject {
 public:
  NewBytes(std::shared_ptr<Bucket> bucket, std::string location)
      : bucket_(std::move(bucket)), location_(std::move(location)) {}

  std::int64_t size() override { return static_cast<std::int64_t>(bytes_.size()); }
  void resize(std::int64_t bytes) override { bytes_.resize(static_cast<std::size_t>(bytes)); }
  void write(std::vector<WriteSegment> segments, Part /*part*/) override { copy_in(bytes_, segments); }
  void read(std::vector<ReadSegment> segments) override {
    if (!copy_out(bytes_, segments))
      base::throw_system_error(EINVAL, "cannot read ", location_, ": the bytes are not written yet");
  }
  bool commit(const Condition& condition) override { return replace(*bucket_, location_, bytes_, condition); }
  void commit(Condition condition, base::FunctionRef<Condition()> update) override {
    while (!commit(condition)) condition = update();
  }

 private:
  std::shared_ptr<Bucket> bucket_;
  std::string location_;
  Bytes bytes_;
};

}  // namespace

GetResult MemoryObjects::get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) {
  const std::string location = object_location(object);
  const std::scoped_lock lock(bucket_->mutex);
  GetResult result = examine(*bucket_, location, options);
  if (result.found() && !copy_out(bucket_->objects[location].bytes, ranges)) result.status = GetStatus::kOutside;
  return result;
}

GetResult MemoryObjects::get_whole(const std::string& object,
                                   base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                                   const GetOptions& options) {
  const std::string location = object_location(object);
  Bytes bytes;
  GetResult result;
  {
    const std::scoped_lock lock(bucket_->mutex);
    result = examine(*bucket_, location, options);
    if (result.found()) bytes = bucket_->objects[location].bytes;
  }
  if (result.found()) std::ranges::copy(bytes, memory(result.bytes).begin());
  return result;
}

ObjectIdentity MemoryObjects::identity(const std::string& object) {
  const std::scoped_lock lock(bucket_->mutex);
  ++bucket_->heads;
  return find_identity(*bucket_, object_location(object));
}

bool MemoryObjects::contains(const std::string& object) {
  const std::scoped_lock lock(bucket_->mutex);
  ++bucket_->heads;
  return bucket_->objects.contains(object_location(object));
}

void MemoryObjects::list(const std::string& prefix, ListDepth depth,
                         base::FunctionRef<void(const ListedObject&)> visit) {
  const std::string begin = object_location(prefix);
  std::map<std::string, std::int64_t> listed;
  {
    const std::scoped_lock lock(bucket_->mutex);
    for (auto at = bucket_->objects.lower_bound(begin); at != bucket_->objects.end(); ++at) {
      if (!at->first.starts_with(begin)) break;
      const std::string name = at->first.substr(begin.size());
      const std::size_t slash = name.find('/');
      if (depth == ListDepth::kAll) {
        listed[name] = static_cast<std::int64_t>(at->second.bytes.size());
      } else {
        listed[slash == std::string::npos ? name : name.substr(0, slash + 1)] = 0;
      }
    }
  }
  for (const auto& [name, bytes] : listed) visit({name, bytes});
}

bool MemoryObjects::put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  return replace(*bucket_, object_location(object), bytes, condition);
}

std::unique_ptr<NewObject> MemoryObjects::create(const std::string& object) {
  return std::make_unique<NewBytes>(bucket_, object_location(object));
}

void MemoryObjects::write(const std::string& object, std::vector<WriteSegment> segments) {
  if (!in_place_) return ObjectStore::write(object, std::move(segments));
  const std::scoped_lock lock(bucket_->mutex);
  const auto found = bucket_->objects.find(object_location(object));
  if (found == bucket_->objects.end())
    base::throw_system_error(ENOENT, "cannot write ", object_location(object), ": it does not exist");
  copy_in(found->second.bytes, segments);
  found->second.version = ++bucket_->versions;
}

void MemoryObjects::remove(const std::string& object) {
  const std::scoped_lock lock(bucket_->mutex);
  bucket_->objects.erase(object_location(object));
}

}  // namespace plait::store::memory
