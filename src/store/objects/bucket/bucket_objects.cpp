// Reads, writes and lists objects in the buckets of S3, Google Cloud Storage and Azure.
//
// Puts with a condition are `PUT` with `If-None-Match: *` (the object must not exist) or `If-Match` (it must have this
// ETag). Google has one header for both: `x-goog-if-generation-match`, with 0 or the number of the content. A server
// that ignores these headers would lose updates. Before the first put with a condition into a bucket, probe() therefore
// puts an empty object under conditions that are not met, and removes it again.
//
// The answer to a put may get lost. The repeated put then finds its condition unmet, because the first one has taken
// effect. Each put stores a random number in the object's metadata, which shows whether the object is its own.
//
// Programs that append to an array exclude each other by an object (kLock) that exists until the array is closed.
//
// Puts into a new array, which no other program sees, overlap (pending_puts.hpp). All others are complete when put()
// returns. If the array continues one that a killed program has left, the objects are listed before the first put, and
// those whose ETags show that they have the right bytes are not sent again (present_objects.hpp).

#include "store/objects/bucket/bucket_objects.hpp"

#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "store/objects/bucket/absolute_ranges.hpp"
#include "store/objects/bucket/pending_puts.hpp"
#include "store/objects/bucket/present_objects.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::bucket {

namespace {

using base::text;

/// Object of an array that exists while a program appends to it.
constexpr const char* kLock = ".plait-lock";
/// Maximum number of attempts to read or replace an object that other programs keep changing.
constexpr int kMaxConflicts = 100;

/// Buckets that probe() has found to check conditions, by Bucket::id().
struct ProbedBuckets {
  std::mutex mutex;
  std::set<std::string> ids;
};

ProbedBuckets& probed_buckets() {
  static base::PerProcess<ProbedBuckets> probed;
  return probed.get();
}

/// Excludes other programs by an object, and other callers in this process.
class LockObject : public ObjectLock {
 public:
  LockObject(std::unique_ptr<ObjectLock> in_process, std::shared_ptr<Bucket> bucket, const std::string& key,
             ObjectIdentity identity)
      : in_process_(std::move(in_process)),
        bucket_(std::move(bucket)),
        url_(bucket_->url(key)),
        identity_(std::move(identity)) {}
  ~LockObject() override {
    if (::getpid() != owner_) return;  // a child of fork() has a copy
    try {
      http::Call call;
      call.request.method = "DELETE";
      call.request.url = url_;
      // If the answer is lost, another program may have made the object again before a second request arrives.
      if (bucket_->has_conditional_removal() && bucket_->compares(identity_))
        call.request.headers.push_back(bucket_->put_condition(identity_));
      else
        call.request.max_attempts = 1;
      call.adapter = bucket_->adapter();
      http::perform(call);
    } catch (const std::exception&) {  // the object remains, and BucketObjects::lock() says what to do
    }
  }

 private:
  std::unique_ptr<ObjectLock> in_process_;
  std::shared_ptr<Bucket> bucket_;
  std::string url_;
  ObjectIdentity identity_;
  ::pid_t owner_ = ::getpid();
};

class BucketObjects : public ConditionalObjects {
 public:
  BucketObjects(const std::string& location, std::shared_ptr<Bucket> bucket, std::string prefix, Sharing sharing)
      : ConditionalObjects(location, bucket, std::move(prefix)),
        bucket_(std::move(bucket)),
        is_private_(sharing != Sharing::kShared) {
    if (sharing == Sharing::kResumable) reusable_.emplace(*this, *bucket_);
  }

  void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) override;
  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override;
  bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) override;
  std::unique_ptr<NewObject> create(const std::string& object) override;
  void remove(const std::string& object) override { remove_all({&object, 1}); }
  void remove_all(std::span<const std::string> objects) override;
  void finish_puts() override;
  void sync() override { finish_puts(); }
  std::unique_ptr<ObjectLock> lock() override;
  void probe() override;
  bool finds_equal_objects() const override { return true; }

 private:
  void get_absolute(std::span<GetRequest> requests, GetMemory memory, GetCallback done, int conflicts);
  void put_later(const std::string& object, std::span<const std::byte> bytes);
  bool put_now(const std::string& object, std::span<const std::byte> bytes, const Condition& condition);
  void fill_put(http::Request& request, const std::string& object, std::span<const std::byte> bytes) const;
  /// Returns false if the condition of a put is not met.  errors  kSystem: it has failed otherwise.
  bool check_put(const std::string& object, const http::Call& call, const Condition& condition);
  void probe_with(const std::string& object);

  std::shared_ptr<Bucket> bucket_;
  bool is_private_;
  PendingPuts pending_;                     // of put_later()
  std::optional<PresentObjects> reusable_;  // objects of a killed program, if this one continues its array
};

/// A new content in memory, which commit() puts.
class BufferedObject : public NewObject {
 public:
  BufferedObject(BucketObjects& objects, std::string object) : objects_(objects), object_(std::move(object)) {}

  std::int64_t size() override { return std::ssize(bytes_); }
  void resize(std::int64_t bytes) override { bytes_.resize(static_cast<std::size_t>(bytes)); }
  void write(std::vector<WriteSegment> segments, Part /*part*/) override {
    for (const WriteSegment& segment : segments) {
      const auto end = static_cast<std::size_t>(segment.offset + segment.bytes);
      if (bytes_.size() < end) bytes_.resize(end);
      std::copy_n(segment.data, segment.bytes, bytes_.begin() + segment.offset);
    }
  }
  void read(std::vector<ReadSegment> segments) override {
    if (!resolve_offsets(segments, size()))
      base::throw_system_error(EINVAL, "cannot read ", objects_.object_location(object_),
                               ": the bytes are not written yet");
    for (const ReadSegment& segment : segments)
      std::copy_n(bytes_.begin() + segment.offset, segment.bytes, segment.data);
  }
  bool commit(const Condition& condition) override { return objects_.put(object_, bytes_, condition); }
  void commit(Condition condition, base::FunctionRef<Condition()> update) override {
    for (int conflicts = 0; !commit(condition); condition = update())
      if (++conflicts == kMaxConflicts)
        base::throw_system_error(ESTALE, "cannot write ", objects_.object_location(object_), ": it has changed ",
                                 conflicts, " times while it was read and written again; write when fewer programs do");
  }

 private:
  BucketObjects& objects_;
  std::string object_;
  std::vector<std::byte> bytes_;
};

void BucketObjects::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  const auto is_in_flight = [this](const GetRequest& request) { return pending_.has(request.object); };
  if (is_private_ && std::ranges::any_of(requests, is_in_flight)) finish_puts();
  if (bucket_->has_suffix_ranges()) return WebObjects::get_all(requests, memory, done);
  get_absolute(requests, memory, done, /*conflicts=*/0);
}

void BucketObjects::get_absolute(std::span<GetRequest> requests, GetMemory memory, GetCallback done, int conflicts) {
  std::vector<GetRequest*> changed;
  {
    const AbsoluteRanges ranges(requests, [this](std::span<GetRequest> sizes) {
      WebObjects::get_all(sizes, [](GetRequest&, std::int64_t) { return std::span<std::byte>(); }, [](GetRequest&) {});
    });
    std::vector<GetRequest> sent;
    std::vector<GetRequest*> originals;
    for (GetRequest& request : requests) {
      if (ranges.is_match(request)) {
        done(request);
        continue;
      }
      sent.push_back(request);
      originals.push_back(&request);
    }
    const auto find_original = [&](const GetRequest& copy) -> GetRequest& {
      return *originals[static_cast<std::size_t>(&copy - sent.data())];
    };
    WebObjects::get_all(
        sent, [&](GetRequest& copy, std::int64_t bytes) { return memory(find_original(copy), bytes); },
        [&](GetRequest& copy) {
          GetRequest& request = find_original(copy);
          request.result = std::move(copy.result);
          if (ranges.has_changed(request)) return changed.push_back(&request);
          done(request);
        });
  }
  for (GetRequest* const request : changed) {
    if (conflicts == kMaxConflicts)
      base::throw_system_error(ESTALE, "cannot read ", object_location(request->object), ": it has changed ", conflicts,
                               " times while it was read; read when fewer programs write");
    get_absolute({request, 1}, memory, done, conflicts + 1);
  }
}

void BucketObjects::list(const std::string& prefix, ListDepth depth,
                         base::FunctionRef<void(const ListedObject&)> visit) {
  const std::string begin = key(prefix);
  for (std::string next; true;) {
    http::Call call;
    call.request.url = bucket_->list_url(begin, depth, next);
    call.adapter = bucket_->adapter();
    trace(call, prefix, {.kind = PLAIT_EVENT_METADATA, .offset = -1});
    http::perform(call);
    if (!call.error.empty() || !call.response.ok()) throw_failed("list", prefix, call);
    const ListPage page = bucket_->parse_page(call.response.text, object_location(prefix));
    for (const ListedObject& listed : page.objects)
      if (listed.name.size() > begin.size()) visit({listed.name.substr(begin.size()), listed.bytes, listed.tag});
    if (page.next.empty() || page.next == next) return;
    next = page.next;
  }
}

bool BucketObjects::put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  // No other program changes the objects of a continued array, so a condition on the present object is met.
  if (reusable_ && condition != ObjectIdentity{} && reusable_->has(object, bytes)) return true;
  if (!condition && is_private_) {
    put_later(object, bytes);
    return true;
  }
  if (!condition) return put_now(object, bytes, std::nullopt);
  if (!bucket_->has_conditions()) return identity(object) == *condition && put_now(object, bytes, std::nullopt);
  check_comparable(*bucket_, object_location(object), *condition);
  probe();
  return put_now(object, bytes, condition);
}

std::unique_ptr<ObjectLock> BucketObjects::lock() {
  std::unique_ptr<ObjectLock> in_process = ObjectStore::lock();
  if (!in_process || !bucket_->has_conditions()) return in_process;
  if (!put(kLock, {}, ObjectIdentity{}))
    base::throw_system_error(EBUSY, "cannot append to ", name(), ": another program has opened it to append to it, as ",
                             object_location(kLock),
                             " shows; wait until that has closed it, or remove that object if the program was killed");
  return std::make_unique<LockObject>(std::move(in_process), bucket_, key(kLock), identity(kLock));
}

void BucketObjects::fill_put(http::Request& request, const std::string& object,
                             std::span<const std::byte> bytes) const {
  request.method = "PUT";
  request.url = bucket_->url(key(object));
  bucket_->add_content_headers(request, random_name());
  bucket_->add_put_headers(request, bytes);
}

void BucketObjects::put_later(const std::string& object, std::span<const std::byte> bytes) {
  PendingPut put;
  put.object = object;
  put.bytes = pending_.take_memory(bytes.size());
  put.bytes.assign(bytes.begin(), bytes.end());
  put.adapter = bucket_->adapter();
  fill_put(put.request, object, bytes);
  trace(put, object, {.kind = PLAIT_EVENT_WRITE, .bytes = std::ssize(bytes)});
  pending_.submit(std::move(put), [this](const PendingPut& sent) { (void)check_put(sent.object, sent, std::nullopt); });
}

void BucketObjects::finish_puts() {
  pending_.finish([this](const PendingPut& sent) { (void)check_put(sent.object, sent, std::nullopt); });
}

bool BucketObjects::put_now(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  http::Call call;
  fill_put(call.request, object, bytes);
  call.request.body = bytes;
  trace(call, object, {.kind = PLAIT_EVENT_WRITE, .bytes = std::ssize(bytes)});
  call.adapter = bucket_->adapter();
  if (condition) call.request.headers.push_back(bucket_->put_condition(*condition));
  call.request.repeats_conflicts = condition.has_value() && bucket_->repeats_conflicts();
  http::perform(call);
  return check_put(object, call, condition);
}

bool BucketObjects::check_put(const std::string& object, const http::Call& call, const Condition& condition) {
  if (call.error.empty() && call.response.ok()) {
    // Some servers report an error after they have sent the status.
    if (call.response.text.find("<Error>") == std::string::npos) return true;
    throw_failed("write", object, call);
  }
  if (condition && call.error.empty() && bucket_->is_unmet(call.response, *condition)) {
    // Check this even after one attempt: libcurl itself repeats a request if the server closes a reused connection.
    const std::string header = bucket_->write_header();
    const auto write = std::ranges::find(call.request.headers, header, &http::Header::name);
    return is_from_write(*this, *bucket_, object, write->value);
  }
  throw_failed("write", object, call);
}

std::unique_ptr<NewObject> BucketObjects::create(const std::string& object) {
  return std::make_unique<BufferedObject>(*this, object);
}

void BucketObjects::remove_all(std::span<const std::string> objects) {
  if (is_private_) finish_puts();
  constexpr std::size_t kBlock = 1000;  // bounds the memory for calls
  for (std::size_t begin = 0; begin < objects.size(); begin += kBlock) {
    const std::span<const std::string> block = objects.subspan(begin, std::min(kBlock, objects.size() - begin));
    std::vector<http::Call> calls(block.size());
    for (std::size_t i = 0; i < block.size(); ++i) prepare(calls[i], block[i], "DELETE");
    http::perform_all(calls);
    for (std::size_t i = 0; i < block.size(); ++i)
      if (!calls[i].error.empty() || !(calls[i].response.ok() || calls[i].response.status == 404))
        throw_failed("remove", block[i], calls[i]);
  }
}

void BucketObjects::probe() {
  const std::string id = bucket_->id();
  {
    ProbedBuckets& probed = probed_buckets();
    const std::scoped_lock lock(probed.mutex);
    if (probed.ids.contains(id)) return;
  }
  const std::string object = ".plait-probe-" + random_name();
  http::Call removal;
  try {
    probe_with(object);
  } catch (...) {
    perform(removal, object, "DELETE");
    throw;
  }
  perform(removal, object, "DELETE");
  // An account may have the right to write objects but not to remove them.
  const int status = removal.response.status;
  if (!removal.error.empty() || !(removal.response.ok() || status == 401 || status == 403 || status == 404))
    throw_failed("remove", object, removal);
  ProbedBuckets& probed = probed_buckets();
  const std::scoped_lock lock(probed.mutex);
  probed.ids.insert(id);
}

void BucketObjects::probe_with(const std::string& object) {
  (void)put_now(object, {}, ObjectIdentity{});
  const bool is_created_twice = put_now(object, {}, ObjectIdentity{});
  const ObjectIdentity other{{1}, "\"0\""};  // no object has this generation or this ETag
  if (!is_created_twice && !put_now(object, {}, other)) return;
  const http::Header ignored_condition = bucket_->put_condition(is_created_twice ? ObjectIdentity{} : other);
  base::throw_system_error(
      ENOTSUP, "cannot write ", name(), ": the server ignores the condition ", ignored_condition.name,
      is_created_twice ? ": " + ignored_condition.value : std::string(),
      ", so that a program could overwrite what another one has written; use a server that checks conditions, or, if "
      "no other program writes there, add conditions=off to the name, as in ",
      bucket_->scheme(), "://bucket/data.zarr?conditions=off");
}

}  // namespace

std::shared_ptr<ConditionalObjects> open_objects(const std::string& url, std::shared_ptr<Bucket> bucket,
                                                 Sharing sharing) {
  std::string prefix = web::to_prefix(web::parse_web_url(url).key, url);
  return std::make_shared<BucketObjects>(url, std::move(bucket), std::move(prefix), sharing);
}

std::shared_ptr<ConditionalObjects> open_for_upload(const std::string& location, std::shared_ptr<Bucket> bucket) {
  const bool has_conditions = bucket->has_conditions();
  std::shared_ptr<ConditionalObjects> objects = open_objects(location, std::move(bucket), Sharing::kShared);
  if (has_conditions) objects->probe();
  return objects;
}

bool is_from_write(ConditionalObjects& objects, const Bucket& bucket, const std::string& object,
                   std::string_view write) {
  http::Call present;
  objects.perform(present, object, "HEAD");
  if (!present.error.empty() || (!present.response.ok() && present.response.status != 404))
    objects.throw_failed("check", object, present);
  return !write.empty() && present.response.header(bucket.write_header()) == write;
}

void check_comparable(const Bucket& bucket, const std::string& location, const ObjectIdentity& condition) {
  if (condition == ObjectIdentity{} || bucket.compares(condition)) return;
  base::throw_system_error(
      ENOTSUP, "cannot write ", location, ": the server gives it no identity that it compares, such as a strong ETag, ",
      "so that a program could overwrite what another one has written; use a server that gives one, or, if no other ",
      "program writes there, add conditions=off to the name, as in ", bucket.scheme(),
      "://bucket/data.zarr?conditions=off");
}

std::string random_name() {
  std::array<unsigned char, 16> bits{};
  ::randombytes_buf(bits.data(), bits.size());
  std::array<char, 2 * bits.size() + 1> digits{};
  return ::sodium_bin2hex(digits.data(), digits.size(), bits.data(), bits.size());
}

}  // namespace plait::store::bucket
