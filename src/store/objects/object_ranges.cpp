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
#include "store/objects/open_objects.hpp"
#include "store/objects/web/pieces.hpp"
#include "store/pending_call.hpp"

namespace plait::store {

ObjectRanges::ObjectRanges(std::string location, std::string_view details) : location_(std::move(location)) {
  const std::size_t slash = location_.rfind('/');
  object_ = location_.substr(slash + 1);
  objects_ = open_objects(location_.substr(0, slash), Sharing::kShared);
  if (details.empty()) {
    read_head();
    return;
  }
  const std::size_t first = details.find(' ');
  const std::size_t second = std::min(details.find(' ', first + 1), details.size());
  size_ = web::parse_count(details.substr(0, first));
  if (first == std::string_view::npos || second == details.size() || size_ < 0)
    base::throw_system_error(EPROTO, "cannot open ", location_, ": another rank has sent \"", details,
                             "\" instead of its size and identity; use the same version of Plait on all ranks");
  identity_ = {{web::parse_count(details.substr(first + 1, second - first - 1))},
               std::string(details.substr(second + 1))};
}

std::string ObjectRanges::details() const { return base::text(size_, ' ', identity_.numbers[0], ' ', identity_.tag); }

std::optional<std::string> ObjectRanges::object_identity() const {
  const bool is_strong = identity_.tag.starts_with('"');
  return is_strong ? base::text(location_, ' ', details()) : std::string();
}

void ObjectRanges::read_head() {
  head_.resize(kHeadBytes);
  GetResult found = objects_->get(object_, {{0, head_.data(), kHeadBytes}}, {.identity = true});
  if (found.status == GetStatus::kOutside) {  // the object is shorter
    head_.resize(static_cast<std::size_t>(found.bytes));
    found = objects_->get(object_, {{0, head_.data(), found.bytes}}, {.identity = true});
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

void ObjectRanges::read_now(std::vector<ReadSegment> segments) {
  std::vector<ReadSegment> remote;
  for (const ReadSegment& segment : segments) {
    if (segment.offset < 0 || segment.bytes > size_ - segment.offset)
      base::throw_system_error(EIO, "cannot read ", segment.bytes, " bytes at offset ", segment.offset, " of ",
                               location_, ", which has ", size_);
    if (segment.offset + segment.bytes <= std::ssize(head_))
      std::copy_n(head_.begin() + segment.offset, segment.bytes, segment.data);
    else
      remote.push_back(segment);
  }
  if (remote.empty()) return;
  if (!objects_->get(object_, std::move(remote), {.if_match = &identity_}).found()) throw_replaced();
}

std::unique_ptr<Pending> ObjectRanges::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingCall>(
      [this, segments = std::move(segments)]() mutable { read_now(std::move(segments)); });
}

std::unique_ptr<Pending> ObjectRanges::submit_write(std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", location_, ": objects are replaced as a whole");
}

}  // namespace plait::store
