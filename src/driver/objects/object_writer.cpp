// Uploads the content of a new object in parts.
//
// Problem: an upload takes parts of at least 5 MiB, and one process must send each part as a whole. The shares of the
// ranks in the content do not end at the boundaries of these parts.
//
// Idea: the ranks first write the whole content into a store, such as a temporary file. Then rank 0 begins the upload,
// each rank sends parts of it, and rank 0 completes it, under the condition that the name still has the object that it
// had when the file was opened.
//
// Example: 20 MB from 2 ranks of one host are parts of 8,388,608, 8,388,608 and 3,222,784 bytes. Rank 0 sends parts 1
// and 3, rank 1 sends part 2. Both have written into part 2. One put sends an object of up to 8 MiB.
//
// An upload that a killed program has left can be resumed (NewFileOptions::continues). The ranks write the whole
// content again but send only the parts that the server lacks. Each rank first compares the MD5s of the stored parts
// that it would send. Rank 0 joins an upload only if all of its stored parts have the right bytes, because the upload
// of another content may belong to a program that still runs. Example: after a kill the server has parts 1 and 2 of 3.
// Rank 0 compares part 1 and sends part 3; rank 1 compares part 2 and sends nothing.

#include "driver/objects/object_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "collective/broadcast.hpp"
#include "collective/gather.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::driver::objects {

using store::kMinPartBytes;
using store::SentPart;
using store::StoredPart;

/// An unfinished upload of the object, and the parts that the server has.
struct UploadCandidate {
  std::string id;
  std::vector<StoredPart> stored;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, UploadCandidate>& candidate) {
  codec(candidate.id, candidate.stored);
}

/// States how the object is uploaded; rank 0 determines and broadcasts it.
struct UploadPlan {
  std::string id;  ///< empty if one put suffices, or if the ranks still compare the candidates
  std::int64_t bytes = 0;
  std::int64_t part_bytes = 0;
  std::int64_t unit = 0;                    ///< rank (b / unit) mod P sends the part that begins at byte b
  std::vector<StoredPart> stored;           ///< parts of the upload that is resumed
  std::vector<UploadCandidate> candidates;  ///< uploads that may be resumed, the newest first

  std::int64_t parts() const { return (bytes - 1) / part_bytes + 1; }
  bool is_sent_by(const transport::Transport& transport, std::int64_t part) const {
    return part * part_bytes / unit % transport.size() == transport.rank();
  }
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, UploadPlan>& plan) {
  codec(plan.id, plan.bytes, plan.part_bytes, plan.unit, plan.stored, plan.candidates);
}

namespace {

/// The location of an object's store, and the name of the object in it.
std::pair<std::string, std::string> split_object(const std::string& url) {
  const std::size_t slash = url.rfind('/');
  return {url.substr(0, slash), url.substr(slash + 1)};
}
std::unique_ptr<store::ObjectUpload> make_upload(const std::string& url) {
  const auto [location, object] = split_object(url);
  return store::object_store_kind(url).upload(location, object);
}

/// Reads part `index`, counted from 0.
std::vector<std::byte> read_part(const UploadPlan& plan, std::int64_t index, store::Store& content) {
  const std::int64_t offset = index * plan.part_bytes;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(plan.part_bytes, plan.bytes - offset)));
  content.read({{offset, bytes.data(), std::ssize(bytes)}});
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

ActiveUploads& registered_uploads() {
  static base::PerProcess<ActiveUploads> active;
  return active.get();
}

}  // namespace

std::vector<ActiveUpload> active_uploads() {
  const std::scoped_lock lock(registered_uploads().mutex);
  return registered_uploads().uploads;
}

std::int64_t part_bytes_for(std::int64_t bytes) {
  // A 10th of the permitted parts stays free.
  constexpr std::int64_t kUsualParts = store::kMaxParts * 9 / 10;
  return std::max(kMinPartBytes, bytes / kUsualParts + 1);
}

ObjectWriter::ObjectWriter(const std::string& url, const store::NewFileOptions& options)
    : url_(url),
      keeps_unfinished_(options.keeps_unfinished),
      upload_(make_upload(url)) {  // the requests report errors of the server before anything is written
  const auto [location, object] = split_object(url);
  objects_ = store::open_objects(location, store::Sharing::kShared);
  object_ = object;
  original_identity_ = objects_->identity(object_);
  if (options.continues) unfinished_ = upload_->unfinished();
}

void ObjectWriter::record_upload(const std::string& id) {
  if (keeps_unfinished_) return;
  const std::scoped_lock lock(registered_uploads().mutex);
  registered_uploads().uploads.push_back(active_ = {url_, id});
}

void ObjectWriter::end_upload() noexcept {
  upload_ = nullptr;
  if (active_.id.empty() || !owner_.here()) return;
  const std::scoped_lock lock(registered_uploads().mutex);
  std::erase(registered_uploads().uploads, active_);
}

void ObjectWriter::discard(store::Store* content) noexcept {
  if (upload_ && owner_.here() && !leaves_upload(content)) upload_->abort();  // no effect unless begin() was called
  end_upload();
}

UploadPlan ObjectWriter::plan_upload(store::Store& content) {
  UploadPlan plan;
  plan.bytes = content.size();
  plan.part_bytes = part_bytes_for(plan.bytes);
  if (plan.bytes <= plan.part_bytes) return plan;
  for (const store::UnfinishedUpload& unfinished : unfinished_) {
    std::vector<StoredPart> stored = upload_->stored_parts(unfinished.id);
    if (!stored.empty() && stored.front().number >= 1 && stored.back().number <= plan.parts())
      plan.candidates.push_back({unfinished.id, std::move(stored)});
  }
  if (plan.candidates.empty()) begin(plan);
  return plan;
}

void ObjectWriter::begin(UploadPlan& plan) {
  part_bytes_ = plan.part_bytes;
  plan.id = id_ = upload_->begin();
  record_upload(id_);
}

void ObjectWriter::join(UploadPlan& plan, const UploadCandidate& candidate) {
  is_joined_ = true;
  plan.id = candidate.id;
  plan.stored = candidate.stored;
  upload_->join(plan.id);
}

/// Returns true if the upload stays on the server after a failure, for a later program to resume it. A joined upload
/// always stays. One that this object has begun stays if the options request it and the ETags of its parts are MD5s,
/// which show a later program what the parts contain.
bool ObjectWriter::leaves_upload(store::Store* content) noexcept {
  if (is_joined_) return true;
  if (!keeps_unfinished_ || id_.empty()) return false;
  try {
    const std::vector<StoredPart> stored = upload_->stored_parts(id_);
    if (stored.empty() || content == nullptr) return !stored.empty();
    UploadPlan plan;
    plan.bytes = content->size();
    plan.part_bytes = part_bytes_;
    return upload_->has_bytes(stored.front(), read_part(plan, stored.front().number - 1, *content));
  } catch (const std::exception&) {
    return true;  // a later program may be able to resume the upload
  }
}

bool ObjectWriter::put(store::Store& content) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(content.size()));
  if (!bytes.empty()) content.read({{0, bytes.data(), std::ssize(bytes)}});
  return objects_->put(object_, bytes, original_identity_);
}

void ObjectWriter::commit(store::Store& content) {
  owner_.check(url_);
  // If this fails, the destructor aborts the upload. If the server has completed the upload but its answer was lost,
  // the abort has no effect.
  if (parts_.empty() ? put(content) : upload_->commit(parts_, original_identity_)) {
    end_upload();
    return;
  }
  // An upload that stays is still useful: a later program opens the present object, and may replace it by these parts.
  discard(&content);
  const bool existed = original_identity_ != store::ObjectIdentity{};
  base::throw_system_error(
      existed ? ESTALE : EEXIST, "cannot finish ", url_,
      existed ? ": another program has replaced or removed the object since it was opened; it is unchanged"
              : ": an object of that name has appeared since it was opened; it is unchanged",
      "; write again to replace it, or choose another name");
}

namespace {

/// Returns the numbers of the candidates whose stored parts have the right bytes, among the parts that this rank sends.
std::vector<std::int64_t> matching_candidates(const UploadPlan& plan, const std::string& url, store::Store& content,
                                              const transport::Transport& transport) {
  const std::unique_ptr<store::ObjectUpload> upload = make_upload(url);
  std::vector<std::int64_t> matching(plan.candidates.size());
  std::iota(matching.begin(), matching.end(), 0);
  const auto find_stored = [&](std::int64_t candidate, std::int64_t part) {
    return find_part(plan.candidates[static_cast<std::size_t>(candidate)].stored, part + 1);
  };
  for (std::int64_t part = 0; part < plan.parts(); ++part) {
    if (!plan.is_sent_by(transport, part)) continue;
    if (std::ranges::none_of(matching, [&](std::int64_t candidate) { return find_stored(candidate, part) != nullptr; }))
      continue;
    const std::vector<std::byte> bytes = read_part(plan, part, content);
    std::erase_if(matching, [&](std::int64_t candidate) {
      const StoredPart* const stored = find_stored(candidate, part);
      return stored != nullptr && !upload->has_bytes(*stored, bytes);
    });
  }
  return matching;
}

/// Joins the newest candidate whose stored parts all have the right bytes, or begins an upload.  Collective.
void join_or_begin(collective::Collective& call, UploadPlan& plan, const std::string& url, store::Store& content,
                   ObjectWriter* writer) {
  const std::vector<std::string> matching = collective::gather(
      call.transport(), [&] { return base::encode(matching_candidates(plan, url, content, call.transport())); });
  call.run_phase([&] {
    if (writer == nullptr) return;
    std::vector<std::size_t> matching_ranks(plan.candidates.size());  // number of ranks that a candidate suits
    for (const std::string& encoded : matching)
      for (const std::int64_t candidate : base::decode<std::vector<std::int64_t>>(encoded, base::kAnotherRank))
        ++matching_ranks[static_cast<std::size_t>(candidate)];
    const auto newest = std::ranges::find(matching_ranks, matching.size());  // that suits all ranks
    if (newest == matching_ranks.end())
      writer->begin(plan);
    else
      writer->join(plan, plan.candidates[static_cast<std::size_t>(newest - matching_ranks.begin())]);
    plan.candidates.clear();
  });
  plan = base::decode<UploadPlan>(collective::broadcast_text(call.transport(), base::encode(plan)), base::kAnotherRank);
}

/// Sends the parts of this rank that the server does not have, and returns all parts of this rank.
std::vector<SentPart> send_parts(const UploadPlan& plan, const std::string& url, store::Store& content,
                                 const transport::Transport& transport) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t part = 0; part < plan.parts(); ++part)
    if (plan.is_sent_by(transport, part)) numbers.push_back(part);
  if (numbers.empty()) return {};
  const std::unique_ptr<store::ObjectUpload> upload = make_upload(url);
  upload->join(plan.id);
  std::vector<SentPart> present;
  for (const std::int64_t part : numbers)
    if (const StoredPart* const stored = find_part(plan.stored, part + 1))
      present.push_back({part + 1, stored->tag});
    else
      upload->send(part + 1, part * plan.part_bytes, read_part(plan, part, content));
  std::vector<SentPart> sent = upload->finish();
  std::ranges::move(present, std::back_inserter(sent));
  return sent;
}

}  // namespace

void send_content(collective::Collective& call, const std::string& url, store::Store& content, ObjectWriter* writer,
                  std::int64_t unit) {
  UploadPlan plan;
  call.run_phase([&] {
    if (writer == nullptr) return;
    plan = writer->plan_upload(content);
    plan.unit = std::max(unit, plan.part_bytes);  // with a smaller unit some ranks could send more parts than others
  });
  plan = base::decode<UploadPlan>(collective::broadcast_text(call.transport(), base::encode(plan)), base::kAnotherRank);
  if (!plan.candidates.empty()) join_or_begin(call, plan, url, content, writer);
  if (plan.id.empty()) return;
  const std::vector<std::string> sent = collective::gather(
      call.transport(), [&] { return base::encode(send_parts(plan, url, content, call.transport())); });
  call.run_phase([&] {
    if (writer == nullptr) return;
    std::vector<SentPart> parts;
    for (const std::string& encoded : sent)
      for (SentPart& part : base::decode<std::vector<SentPart>>(encoded, base::kAnotherRank))
        parts.push_back(std::move(part));
    std::ranges::sort(parts, {}, &SentPart::number);
    writer->set_parts(std::move(parts));
  });
}

}  // namespace plait::driver::objects
