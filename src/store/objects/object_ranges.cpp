// Reads of one object by ranges.
//
// Opening a file reads its header several times: the signature, the header's length, the header, and the size. The
// first request therefore reads 64 KiB and states the size and the identity of the object. Reads inside these bytes
// take no further request.
//
// Example: a .npy file of 1 GB. One request reads [0, 65536), from which the header and the first elements are copied.
// A window [0, 16 MiB) then takes four requests of 4 MiB, which overlap (web/pieces.hpp).
//
// The other ranks get the size and the identity from the rank that has opened the object, as the details
// `1000000128 "v7"`, and send no request before they read.

#include "store/objects/object_ranges.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/object_content.hpp"
#include "store/objects/open_objects.hpp"
#include "store/pending_call.hpp"

namespace plait::store {

namespace {

constexpr std::int64_t kBeginBytes = std::int64_t{64} << 10;
constexpr std::int64_t kEndBytes = std::int64_t{128} << 10;

}  // namespace

ObjectRanges::ObjectRanges(std::string location, std::string_view details, FirstRead first)
    : location_(std::move(location)) {
  const std::size_t slash = location_.rfind('/');
  object_ = location_.substr(slash + 1);
  objects_ = open_objects(location_.substr(0, slash), Sharing::kShared);
  if (details.empty()) {
    read_first(first);
    return;
  }
  std::optional<ObjectContent> content = decode_content(details);
  if (!content)
    base::throw_system_error(EPROTO, "cannot open ", location_, ": another rank has sent \"", details,
                             "\" instead of its size and identity; use the same version of Plait on all ranks");
  size_ = content->bytes;
  identity_ = std::move(content->identity);
}

std::string ObjectRanges::details() const { return encode_content({identity_, size_}); }

std::optional<std::string> ObjectRanges::object_identity() const {
  const bool is_strong = identity_.tag.starts_with('"');
  return is_strong ? base::text(location_, ' ', details()) : std::string();
}

void ObjectRanges::read_first(FirstRead first) {
  const std::int64_t bytes = first == FirstRead::kBegin ? kBeginBytes : kEndBytes;
  known_.resize(static_cast<std::size_t>(bytes));
  const std::int64_t offset = first == FirstRead::kBegin ? 0 : -bytes;
  GetResult found = objects_->get(object_, {{offset, known_.data(), bytes}}, {.identity = true});
  if (found.status == GetStatus::kOutside) {  // the object is shorter
    known_.resize(static_cast<std::size_t>(std::min(found.bytes, bytes)));
    found = objects_->get(object_, {{0, known_.data(), std::ssize(known_)}}, {.identity = true});
  } else if (first == FirstRead::kEnd) {
    known_begin_ = found.bytes - bytes;
  }
  if (found.status == GetStatus::kMissing)
    base::throw_system_error(ENOENT, "cannot open ", location_, ": there is no such object; check the name");
  if (!found.found()) throw_replaced();
  size_ = found.bytes;
  identity_ = std::move(found.identity);
}

void ObjectRanges::throw_replaced() const {
  base::throw_system_error(ESTALE, "cannot read ", location_,
                           ": another program has replaced the object since it was opened; open it again");
}

/// Copies bytes that the first request has read. Returns false if it has not read all of them.
bool ObjectRanges::copy_known(const ReadSegment& segment) const {
  const std::int64_t begin = segment.offset - known_begin_;
  if (begin < 0 || segment.bytes > std::ssize(known_) - begin) return false;
  std::copy_n(known_.begin() + begin, segment.bytes, segment.data);
  return true;
}

void ObjectRanges::read_now(std::vector<ReadSegment> segments) {
  std::vector<ReadSegment> remote;
  for (const ReadSegment& segment : segments) {
    if (segment.offset < 0 || segment.bytes > size_ - segment.offset)
      base::throw_system_error(EIO, "cannot read ", segment.bytes, " bytes at offset ", segment.offset, " of ",
                               location_, ", which has ", size_);
    if (!copy_known(segment)) remote.push_back(segment);
  }
  if (remote.empty()) return;
  if (!objects_->get(object_, std::move(remote), {.if_match = &identity_, .object_bytes = size_}).found())
    throw_replaced();
}

std::unique_ptr<Pending> ObjectRanges::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingCall>(
      [this, segments = std::move(segments)]() mutable { read_now(std::move(segments)); });
}

std::unique_ptr<Pending> ObjectRanges::submit_write(std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", location_, ": objects are replaced as a whole");
}

}  // namespace plait::store
