// Writes a file format, whose file becomes one object, to an object store.
//
// Problem: ranks write elements in any order, the shares of ranks do not end at the boundaries of parts, and several
// formats change bytes that were written before: HDF5 the length of the file, .npz its checksums. An upload takes parts
// of at least 5 MiB, and one process must send each part as a whole.
//
// Idea: all ranks of a host write into one unnamed file, the spool, as they write into any file. At the end rank 0
// begins an upload, rank r of P sends the parts r + 1, r + 1 + P, ..., and rank 0 completes the upload, under the
// condition that the name still has the object that it had when the file was opened.
//
// Example: 20 MB from 2 ranks are parts of 8,388,608, 8,388,608 and 3,222,784 bytes. Rank 0 sends parts 1 and 3, rank 1
// sends part 2. Both have written into part 2. An object of up to 8 MiB is one put.
//
// An upload that a killed program has left can be resumed (NewFileOptions::continues). The ranks write the whole spool
// again but send only the parts that the server lacks. Each rank first compares the MD5s of the stored parts that it
// would send. Rank 0 joins an upload only if all of its stored parts have the right bytes, because the upload of
// another content may belong to a program that still runs. Example: after a kill the server has parts 1 and 2 of 3.
// Rank 0 compares part 1 and sends part 3; rank 1 compares part 2 and sends nothing.
//
// The spool has no name, so that a killed program leaves no file. Other ranks open it as /proc/PID/fd/NUMBER.

#include "driver/objects/new_object_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "collective/broadcast.hpp"
#include "collective/gather.hpp"
#include "store/objects/open_objects.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"
#include "store/posix/temporary.hpp"

namespace plait::driver::objects {

namespace {

using store::kMinPartBytes;
using store::SentPart;
using store::StoredPart;

constexpr std::string_view kSpool = "spool ";

/// The location of an object's store, and the name of the object in it.
std::pair<std::string, std::string> split_object(const std::string& url) {
  const std::size_t slash = url.rfind('/');
  return {url.substr(0, slash), url.substr(slash + 1)};
}
std::unique_ptr<store::ObjectUpload> make_upload(const std::string& url) {
  const auto [location, object] = split_object(url);
  return store::object_store_kind(url).upload(location, object);
}

store::posix::Descriptor make_spool(const std::string& url) {
  const std::string folder = store::posix::temporary_folder();
  const std::string what = base::text("a temporary file in ", folder, " (TMPDIR) for ", url);
  try {
    return store::posix::open_file(folder, O_RDWR | O_TMPFILE, 0600, what);
  } catch (const Error& error) {
    if (error.system_code() != EOPNOTSUPP && error.system_code() != EISDIR) throw;
  }
  // Some file systems, such as NFS, cannot create a file without a name: create one with a name and unlink it.
  std::string path = folder + "/plait-XXXXXX";
  const int number = ::mkostemp(path.data(), O_CLOEXEC);
  if (number < 0) throw store::posix::system_error(base::text("make ", what), errno);
  store::posix::Descriptor file(number);
  if (::unlink(path.c_str()) != 0) throw store::posix::system_error(base::text("remove ", path), errno);
  return file;
}

/// The spool as a store whose name is that of the object.
class SpoolStore : public store::posix::PosixStore {
 public:
  SpoolStore(std::string url, const std::string& path) : PosixStore(path, Access::kReadWrite), url_(std::move(url)) {}
  const std::string& name() const override { return url_; }
  std::string description() const override { return "a new object"; }
  void sync() override {}  // the object is durable when it appears

 private:
  std::string url_;
};

/// An unfinished upload of the object, and the parts that the server has.
struct Candidate {
  std::string id;
  std::vector<StoredPart> stored;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Candidate>& candidate) {
  codec(candidate.id, candidate.stored);
}

/// States how the object is uploaded; rank 0 determines and broadcasts it.
struct UploadPlan {
  std::string id;  ///< empty if one put suffices, or if the ranks still compare the candidates
  std::int64_t bytes = 0;
  std::int64_t part_bytes = 0;
  std::vector<StoredPart> stored;     ///< parts of the upload that is resumed
  std::vector<Candidate> candidates;  ///< uploads that may be resumed, the newest first

  std::int64_t parts() const { return (bytes - 1) / part_bytes + 1; }
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, UploadPlan>& plan) {
  codec(plan.id, plan.bytes, plan.part_bytes, plan.stored, plan.candidates);
}

/// Reads part `index`, counted from 0.
std::vector<std::byte> read_part(const UploadPlan& plan, std::int64_t index, store::Store& spool) {
  const std::int64_t offset = index * plan.part_bytes;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(plan.part_bytes, plan.bytes - offset)));
  spool.read({{offset, bytes.data(), std::ssize(bytes)}});
  return bytes;
}

/// Returns the stored part with a number; nullptr if the server does not have it.
const StoredPart* find_part(const std::vector<StoredPart>& stored, std::int64_t number) {
  const auto found = std::ranges::lower_bound(stored, number, {}, &StoredPart::number);
  return found != stored.end() && found->number == number ? &*found : nullptr;
}

/// The uploads that this process has begun; see active_uploads().
struct ActiveUploads {
  std::mutex mutex;
  std::vector<ActiveUpload> uploads;
};

ActiveUploads& registry() {
  static base::PerProcess<ActiveUploads> active;
  return active.get();
}

class NewObjectFile : public store::NewFile {
 public:
  NewObjectFile(const std::string& url, const store::NewFileOptions& options)
      : url_(url),
        keeps_unfinished_(options.keeps_unfinished),
        continues_(options.continues),
        spool_(make_spool(url)),
        upload_(make_upload(url)) {  // the requests report errors of the server before anything is written
    const auto [location, object] = split_object(url);
    objects_ = store::open_objects(location, store::Sharing::kShared);
    object_ = object;
    before_ = objects_->identity(object_);
    if (continues_) unfinished_ = upload_->unfinished();
    resize(options.bytes);
    SpoolStore(url_, path()).write({{0, options.head.data(), std::ssize(options.head)}});
  }
  ~NewObjectFile() override { NewObjectFile::discard(); }

  store::Location location() const override {
    return {path(), base::text(kSpool, url_), {store::posix::read_identity(spool_.number(), url_)}};
  }
  void resize(std::int64_t bytes) override {
    if (::ftruncate(spool_.number(), bytes) != 0)
      throw store::posix::system_error(base::text("size the temporary file in TMPDIR for ", url_), errno);
    store::posix::reserve(spool_.number(), bytes, base::text("the temporary file in TMPDIR for ", url_));
  }
  void commit() override;
  void discard() noexcept override {
    if (upload_ && owner_.here() && !leaves_upload()) upload_->abort();  // no effect unless begin() was called
    end_upload();
  }

  /// Plans the upload of a content, and begins it if there is no candidate to compare.
  UploadPlan plan_upload(store::Store& spool);
  /// Begins the upload.
  void begin(UploadPlan& plan);
  /// Joins an upload whose stored parts all have the bytes of the content.
  void join(UploadPlan& plan, const Candidate& candidate);
  /// Sets the parts that were sent. If this is not called, commit() puts the object by one request.
  void set_parts(std::vector<SentPart> parts) { parts_ = std::move(parts); }

 private:
  std::string path() const { return base::text("/proc/", ::getpid(), "/fd/", spool_.number()); }
  bool put();
  bool leaves_upload() noexcept;
  void record_upload(const std::string& id) {
    if (keeps_unfinished_) return;
    const std::scoped_lock lock(registry().mutex);
    registry().uploads.push_back(active_ = {url_, id});
  }
  void end_upload() noexcept {
    upload_ = nullptr;
    if (active_.id.empty() || !owner_.here()) return;
    const std::scoped_lock lock(registry().mutex);
    std::erase(registry().uploads, active_);
  }

  base::Owner owner_;
  std::string url_;
  bool keeps_unfinished_;
  bool continues_;
  bool joined_ = false;  // another program has begun the upload
  std::int64_t part_bytes_ = 0;
  std::string id_;
  std::vector<store::UnfinishedUpload> unfinished_;
  store::posix::Descriptor spool_;
  std::shared_ptr<store::ObjectStore> objects_;
  std::string object_;
  store::ObjectIdentity before_;
  std::unique_ptr<store::ObjectUpload> upload_;
  std::vector<SentPart> parts_;
  ActiveUpload active_;
};

UploadPlan NewObjectFile::plan_upload(store::Store& spool) {
  UploadPlan plan{{}, spool.size(), kMinPartBytes, {}, {}};
  constexpr std::int64_t kUsualParts = store::kMaxParts * 9 / 10;
  plan.part_bytes = std::max(plan.part_bytes, plan.bytes / kUsualParts + 1);
  if (plan.bytes <= plan.part_bytes) return plan;
  for (const store::UnfinishedUpload& unfinished : unfinished_) {
    std::vector<StoredPart> stored = upload_->stored_parts(unfinished.id);
    if (!stored.empty() && stored.front().number >= 1 && stored.back().number <= plan.parts())
      plan.candidates.push_back({unfinished.id, std::move(stored)});
  }
  if (plan.candidates.empty()) begin(plan);
  return plan;
}

void NewObjectFile::begin(UploadPlan& plan) {
  part_bytes_ = plan.part_bytes;
  plan.id = id_ = upload_->begin();
  record_upload(id_);
}

void NewObjectFile::join(UploadPlan& plan, const Candidate& candidate) {
  joined_ = true;
  plan.id = candidate.id;
  plan.stored = candidate.stored;
  upload_->join(plan.id);
}

/// Returns true if the upload stays after a failure: a joined one always, one that this object has begun if the caller
/// has requested it and a later program can resume it, by ETags of parts that are MD5s.
bool NewObjectFile::leaves_upload() noexcept {
  if (joined_) return true;
  if (!keeps_unfinished_ || id_.empty()) return false;
  try {
    const std::vector<StoredPart> stored = upload_->stored_parts(id_);
    SpoolStore spool(url_, path());
    const UploadPlan plan{id_, spool.size(), part_bytes_, {}, {}};
    return !stored.empty() && upload_->has_bytes(stored.front(), read_part(plan, stored.front().number - 1, spool));
  } catch (const std::exception&) {
    return true;  // a later program may be able to resume the upload
  }
}

bool NewObjectFile::put() {
  SpoolStore spool(url_, path());
  std::vector<std::byte> bytes(static_cast<std::size_t>(spool.size()));
  if (!bytes.empty()) spool.read({{0, bytes.data(), std::ssize(bytes)}});
  return objects_->put(object_, bytes, before_);
}

void NewObjectFile::commit() {
  owner_.check(url_);
  // Abort the upload unless it succeeds. If the upload has succeeded but the answer reports a failure, the abort has no
  // effect.
  if (parts_.empty() ? put() : upload_->commit(parts_, before_)) {
    end_upload();
    return;
  }
  // An upload that stays is of use: a later program opens the present object, and may then replace it by these parts.
  discard();
  const bool existed = before_ != store::ObjectIdentity{};
  base::throw_system_error(
      existed ? ESTALE : EEXIST, "cannot finish ", url_,
      existed ? ": another program has replaced or removed the object since it was opened; it is unchanged"
              : ": an object of that name has appeared since it was opened; it is unchanged",
      "; write again to replace it, or choose another name");
}

/// Returns the numbers of the candidates whose stored parts have the right bytes, among the parts that this rank sends.
std::vector<std::int64_t> matching_candidates(const UploadPlan& plan, const std::string& url, store::Store& spool,
                                              const transport::Transport& transport) {
  const std::unique_ptr<store::ObjectUpload> upload = make_upload(url);
  std::vector<std::int64_t> matching(plan.candidates.size());
  std::iota(matching.begin(), matching.end(), 0);
  const auto find = [&](std::int64_t candidate, std::int64_t part) {
    return find_part(plan.candidates[static_cast<std::size_t>(candidate)].stored, part + 1);
  };
  for (std::int64_t part = transport.rank(); part < plan.parts(); part += transport.size()) {
    if (std::ranges::none_of(matching, [&](std::int64_t candidate) { return find(candidate, part) != nullptr; }))
      continue;
    const std::vector<std::byte> bytes = read_part(plan, part, spool);
    std::erase_if(matching, [&](std::int64_t candidate) {
      const StoredPart* const stored = find(candidate, part);
      return stored != nullptr && !upload->has_bytes(*stored, bytes);
    });
  }
  return matching;
}

/// Joins the newest candidate whose stored parts all have the right bytes, or begins an upload.  Collective.
void join_or_begin(collective::Collective& call, UploadPlan& plan, const std::string& url, store::Store& spool,
                   NewObjectFile* object) {
  const std::vector<std::string> matching = collective::gather(
      call.transport(), [&] { return base::encode(matching_candidates(plan, url, spool, call.transport())); });
  call.run_phase([&] {
    if (object == nullptr) return;
    std::vector<std::size_t> ranks(plan.candidates.size());
    for (const std::string& encoded : matching)
      for (const std::int64_t candidate : base::decode<std::vector<std::int64_t>>(encoded, base::kAnotherRank))
        ++ranks[static_cast<std::size_t>(candidate)];
    const auto found = std::ranges::find(ranks, matching.size());
    if (found == ranks.end())
      object->begin(plan);
    else
      object->join(plan, plan.candidates[static_cast<std::size_t>(found - ranks.begin())]);
    plan.candidates.clear();
  });
  plan = base::decode<UploadPlan>(collective::broadcast_text(call.transport(), base::encode(plan)), base::kAnotherRank);
}

std::vector<SentPart> send_parts(const UploadPlan& plan, const std::string& url, store::Store& spool,
                                 const transport::Transport& transport) {
  if (transport.rank() >= plan.parts()) return {};
  const std::unique_ptr<store::ObjectUpload> upload = make_upload(url);
  upload->join(plan.id);
  std::vector<SentPart> present;
  for (std::int64_t part = transport.rank(); part < plan.parts(); part += transport.size())
    if (const StoredPart* const stored = find_part(plan.stored, part + 1))
      present.push_back({part + 1, stored->tag});
    else
      upload->send(part + 1, part * plan.part_bytes, read_part(plan, part, spool));
  std::vector<SentPart> sent = upload->finish();
  std::ranges::move(present, std::back_inserter(sent));
  return sent;
}

}  // namespace

std::unique_ptr<store::NewFile> make_new_object(const std::string& url, const store::NewFileOptions& options) {
  return std::make_unique<NewObjectFile>(url, options);
}

std::vector<ActiveUpload> active_uploads() {
  const std::scoped_lock lock(registry().mutex);
  return registry().uploads;
}

bool is_spool(const store::Location& location) { return location.details.starts_with(kSpool); }

std::unique_ptr<store::Store> open_spool(const store::Location& location) {
  const std::string url = location.details.substr(kSpool.size());
  try {
    // O_PATH, because on another host the path may lead to something else, such as a pipe or a device, which must not
    // be opened.
    const store::posix::Descriptor found = store::posix::open_file(location.path, O_PATH, 0, url);
    if (store::may_be_same_files(location, {store::posix::read_identity(found.number(), url)}))
      return std::make_unique<SpoolStore>(url, location.path);
  } catch (const Error& error) {
    const int code = error.system_code();
    if (code != ENOENT && code != EACCES && code != EPERM) throw;
  }
  base::throw_system_error(ENOTSUP, "cannot write ", url,
                           ": this rank cannot open the temporary file of rank 0, because it is on another host or in "
                           "another container; let the ranks of one host write the object, or write a Zarr array");
}

void send_spool(collective::Collective& call, const std::string& url, store::Store& store, store::NewFile* made) {
  auto* const object = dynamic_cast<NewObjectFile*>(made);
  UploadPlan plan;
  call.run_phase([&] {
    if (object != nullptr) plan = object->plan_upload(store);
  });
  plan = base::decode<UploadPlan>(collective::broadcast_text(call.transport(), base::encode(plan)), base::kAnotherRank);
  if (!plan.candidates.empty()) join_or_begin(call, plan, url, store, object);
  if (plan.id.empty()) return;
  const std::vector<std::string> sent = collective::gather(
      call.transport(), [&] { return base::encode(send_parts(plan, url, store, call.transport())); });
  call.run_phase([&] {
    if (object == nullptr) return;
    std::vector<SentPart> parts;
    for (const std::string& encoded : sent)
      for (SentPart& part : base::decode<std::vector<SentPart>>(encoded, base::kAnotherRank))
        parts.push_back(std::move(part));
    std::ranges::sort(parts, {}, &SentPart::number);
    object->set_parts(std::move(parts));
  });
}

}  // namespace plait::driver::objects
