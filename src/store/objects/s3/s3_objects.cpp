// Objects of S3.
//
// Puts with a condition are `PUT` with `If-None-Match: *` (the object must not exist) or `If-Match` (it must have this
// ETag); Google's name for both is `x-goog-if-generation-match`, with 0 or the number of the content. A server that ignores these headers would lose updates, so that the first one for a bucket is preceded by a
// probe, with an object that is removed again.
//
// The answer to a put may get lost, and the repeated put then fails, because the first one has succeeded. Each put has
// a random number in its metadata. If a repeated put fails, the number of the present object says whose it is.
//
// Programs that append to an array exclude each other by an object (kLock) that exists until the array is closed.
//
// Puts into a new array, which no other program sees, overlap (pending_puts.hpp). All others are complete when put()
// returns.

#include "store/objects/s3/s3_objects.hpp"

#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "store/objects/s3/bucket.hpp"
#include "store/objects/s3/listing.hpp"
#include "store/objects/s3/pending_puts.hpp"
#include "store/objects/s3/s3_upload.hpp"

namespace plait::store::s3 {

namespace {

using base::text;

/// Object of an array that exists while a program appends to it.
constexpr const char* kLock = ".plait-lock";
/// Maximum number of times that other programs may be faster in replacing one object.
constexpr int kMaxConflicts = 100;

/// Returns 128 random bits in hexadecimal.
std::string random_name() {
  std::array<std::byte, 16> bits{};
  ::randombytes_buf(bits.data(), bits.size());
  return sha256_hex(bits).substr(0, 32);
}

/// Buckets whose servers are known to check conditions.
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
  LockObject(std::unique_ptr<ObjectLock> in_process, std::shared_ptr<Bucket> bucket, const std::string& key)
      : in_process_(std::move(in_process)), bucket_(std::move(bucket)), url_(bucket_->url(key)) {}
  ~LockObject() override {
    if (::getpid() != owner_) return;  // a child of fork() has a copy
    try {
      http::Call call;
      call.request.method = "DELETE";
      call.request.url = url_;
      call.adapter = bucket_->adapter();
      http::perform(call);
    } catch (const std::exception&) {  // the object remains, and S3Objects::lock() says what to do
    }
  }

 private:
  std::unique_ptr<ObjectLock> in_process_;
  std::shared_ptr<Bucket> bucket_;
  std::string url_;
  ::pid_t owner_ = ::getpid();
};

class S3Objects : public web::WebObjects {
 public:
  S3Objects(const std::string& location, std::shared_ptr<Bucket> bucket, std::string prefix, bool is_private)
      : WebObjects(location, bucket, std::move(prefix)), bucket_(std::move(bucket)), is_private_(is_private) {}

  void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) override;
  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override;
  bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) override;
  std::unique_ptr<NewObject> create(const std::string& object) override;
  void remove(const std::string& object) override;
  void finish_puts() override;
  void sync() override { finish_puts(); }
  std::unique_ptr<ObjectLock> lock() override;
  /// Checks once for each bucket that its server checks conditions.
  void probe();

 private:
  void put_later(const std::string& object, std::span<const std::byte> bytes);
  bool put_now(const std::string& object, std::span<const std::byte> bytes, const Condition& condition);
  void fill_put(http::Request& request, const std::string& object, std::span<const std::byte> bytes) const;
  /// Returns false if the condition of a put is not met.  errors  kSystem: it has failed otherwise.
  bool check_put(const std::string& object, const http::Call& call, const Condition& condition);
  void probe_with(const std::string& object);

  std::shared_ptr<Bucket> bucket_;
  bool is_private_;
  PendingPuts pending_;
};

/// A new content in memory, which commit() puts.
class BufferedObject : public NewObject {
 public:
  BufferedObject(S3Objects& objects, std::string object) : objects_(objects), object_(std::move(object)) {}

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
  S3Objects& objects_;
  std::string object_;
  std::vector<std::byte> bytes_;
};

void S3Objects::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  if (is_private_) finish_puts();  // what is in flight may be read
  WebObjects::get_all(requests, memory, done);
}

void S3Objects::list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) {
  const std::string begin = key(prefix);
  for (std::string next; true;) {
    http::Call call;
    call.request.url = bucket_->bucket_url(list_query(begin, depth, next));
    call.adapter = bucket_->adapter();
    http::perform(call);
    if (!call.error.empty() || !call.response.ok()) throw_failed("list", prefix, call);
    const ListPage page = parse_page(call.response.text, object_location(prefix));
    for (const ListedObject& one : page.objects)
      if (one.name.size() > begin.size()) visit({one.name.substr(begin.size()), one.bytes});
    if (page.next.empty() || page.next == next) return;
    next = page.next;
  }
}

bool S3Objects::put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  if (!condition && is_private_) {
    put_later(object, bytes);
    return true;
  }
  if (!condition) return put_now(object, bytes, std::nullopt);
  if (!bucket_->configuration().conditions)
    return identity(object) == *condition && put_now(object, bytes, std::nullopt);
  check_comparable(*bucket_, object_location(object), *condition);
  probe();
  return put_now(object, bytes, condition);
}

std::unique_ptr<ObjectLock> S3Objects::lock() {
  std::unique_ptr<ObjectLock> in_process = ObjectStore::lock();
  if (!in_process || !bucket_->configuration().conditions) return in_process;
  if (!put(kLock, {}, ObjectIdentity{}))
    base::throw_system_error(EBUSY, "cannot append to ", name(), ": another program has opened it to append to it, as ",
                             object_location(kLock),
                             " shows; wait until that has closed it, or remove that object if the program was killed");
  return std::make_unique<LockObject>(std::move(in_process), bucket_, key(kLock));
}

void S3Objects::fill_put(http::Request& request, const std::string& object, std::span<const std::byte> bytes) const {
  request.method = "PUT";
  request.url = bucket_->url(key(object));
  request.headers = {{bucket_->header("content-sha256"), sha256_hex(bytes)},
                     {bucket_->header(kWriteHeader), random_name()}};
}

void S3Objects::put_later(const std::string& object, std::span<const std::byte> bytes) {
  PendingPut put;
  put.object = object;
  put.bytes.assign(bytes.begin(), bytes.end());
  put.adapter = bucket_->adapter();
  fill_put(put.request, object, bytes);
  pending_.submit(std::move(put), [this](const PendingPut& one) { (void)check_put(one.object, one, std::nullopt); });
}

void S3Objects::finish_puts() {
  pending_.finish([this](const PendingPut& one) { (void)check_put(one.object, one, std::nullopt); });
}

bool S3Objects::put_now(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  http::Call call;
  fill_put(call.request, object, bytes);
  call.request.body = bytes;
  call.adapter = bucket_->adapter();
  if (condition) call.request.headers.push_back(bucket_->put_condition(*condition));
  // 409 (ConditionalRequestConflict): another put of the object was in progress.
  call.request.repeats_conflicts = condition.has_value();
  http::perform(call);
  return check_put(object, call, condition);
}

bool S3Objects::check_put(const std::string& object, const http::Call& call, const Condition& condition) {
  if (call.error.empty() && call.response.ok()) {
    // Some servers report an error after they have sent the status.
    if (call.response.text.find("<Error>") == std::string::npos) return true;
    throw_failed("write", object, call);
  }
  const int status = call.error.empty() ? call.response.status : 0;
  const bool is_absent = status == 404 && condition && *condition != ObjectIdentity{};
  if (condition && (status == 412 || is_absent)) {
    // Also libcurl repeats requests, when a server closes a connection that was open before.
    http::Call present;
    perform(present, object, "HEAD");
    if (!present.error.empty() || (!present.response.ok() && present.response.status != 404))
      throw_failed("check", object, present);
    const std::string name = bucket_->header(kWriteHeader);
    const std::string_view own = present.response.header(name);
    return !own.empty() && std::ranges::any_of(call.request.headers, [&](const http::Header& one) {
      return one.name == name && one.value == own;
    });
  }
  throw_failed("write", object, call);
}

std::unique_ptr<NewObject> S3Objects::create(const std::string& object) {
  return std::make_unique<BufferedObject>(*this, object);
}

void S3Objects::remove(const std::string& object) {
  if (is_private_) finish_puts();
  http::Call call;
  perform(call, object, "DELETE");
  if (call.error.empty() && (call.response.ok() || call.response.status == 404)) return;
  throw_failed("remove", object, call);
}

void S3Objects::probe() {
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
  // Keys that do not permit to remove objects permit to write.
  const int status = removal.response.status;
  if (!removal.error.empty() || !(removal.response.ok() || status == 401 || status == 403 || status == 404))
    throw_failed("remove", object, removal);
  ProbedBuckets& probed = probed_buckets();
  const std::scoped_lock lock(probed.mutex);
  probed.ids.insert(id);
}

void S3Objects::probe_with(const std::string& object) {
  (void)put_now(object, {}, ObjectIdentity{});
  const bool creates_twice = put_now(object, {}, ObjectIdentity{});
  const ObjectIdentity other{{1}, "\"0\""};
  if (!creates_twice && !put_now(object, {}, other)) return;
  const http::Header ignored = bucket_->put_condition(creates_twice ? ObjectIdentity{} : other);
  base::throw_system_error(
      ENOTSUP, "cannot write ", name(), ": the server ignores the condition ", ignored.name,
      creates_twice ? ": " + ignored.value : std::string(),
      ", so that a program could overwrite what another one has written; use a server that checks conditions, or, if "
      "no other program writes there, add conditions=off to the name, as in ",
      bucket_->configuration().dialect->scheme, "://bucket/data.zarr?conditions=off");
}

std::shared_ptr<ObjectStore> open_s3(const std::string& url, Sharing sharing) {
  return open_bucket(url, resolve_configuration(web::parse_web_url(url), url), sharing);
}

std::unique_ptr<ObjectUpload> upload(const std::string& location, const std::string& object) {
  return make_bucket_upload(location, object, resolve_configuration(web::parse_web_url(location), location));
}

}  // namespace

std::shared_ptr<ObjectStore> open_bucket(const std::string& url, Configuration configuration, Sharing sharing) {
  std::string prefix = web::to_prefix(web::parse_web_url(url).key, url);
  auto bucket = std::make_shared<Bucket>(std::move(configuration));
  return std::make_shared<S3Objects>(url, std::move(bucket), std::move(prefix), sharing == Sharing::kPrivate);
}

std::unique_ptr<ObjectUpload> make_bucket_upload(const std::string& location, const std::string& object,
                                                 Configuration configuration) {
  auto bucket = std::make_shared<Bucket>(std::move(configuration));
  const std::string key = web::parse_web_url(location).key;
  auto objects = std::make_shared<S3Objects>(location, bucket, web::to_prefix(key, location), false);
  if (bucket->configuration().conditions) objects->probe();
  return make_upload(std::move(objects), std::move(bucket), object, random_name());
}

const ObjectStoreKind& kind() {
  static constexpr ObjectStoreKind kKind{
      .scheme = "s3", .open = open_s3, .has_options = true, .whole_objects = true, .upload = upload};
  return kKind;
}

}  // namespace plait::store::s3
