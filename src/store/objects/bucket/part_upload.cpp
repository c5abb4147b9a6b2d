#include "store/objects/bucket/part_upload.hpp"

#include <utility>

namespace plait::store::bucket {

PartUpload::PartUpload(std::shared_ptr<ConditionalObjects> objects, const Bucket& bucket, std::string object)
    : objects_(std::move(objects)),
      bucket_(bucket),
      object_(std::move(object)),
      url_(bucket.url(objects_->key(object_))) {}

void PartUpload::send(std::int64_t number, std::int64_t offset, std::vector<std::byte> bytes) {
  PendingPut part;
  part.number = number;
  part.bytes = std::move(bytes);
  part.request.method = "PUT";
  fill_part(part);
  objects_->trace(part, object_, {.kind = PLAIT_EVENT_WRITE, .offset = offset, .bytes = std::ssize(part.bytes)});
  parts_.submit(std::move(part), [this](const PendingPut& one) { sent_.push_back({one.number, part_tag(one)}); });
}

std::vector<SentPart> PartUpload::finish() {
  parts_.finish([this](const PendingPut& one) { sent_.push_back({one.number, part_tag(one)}); });
  return std::move(sent_);
}

bool PartUpload::commit(const std::vector<SentPart>& parts, const Condition& condition) {
  // Some servers check conditions of puts, but not those of completions.
  if (condition && objects_->identity(object_) != *condition) return false;
  const Condition sent = bucket_.has_conditions() ? condition : std::nullopt;
  if (sent) check_comparable(bucket_, objects_->object_location(object_), *sent);
  return complete(parts, sent, condition);
}

}  // namespace plait::store::bucket
