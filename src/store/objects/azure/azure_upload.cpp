// Put Block and Put Block List: https://learn.microsoft.com/rest/api/storageservices/put-block-list
//
// Blocks have names and belong to no upload, so that the names of each upload begin with a random number. A list of
// blocks makes the blob, under a condition, and removes all blocks that are not in the list: also those of another
// program that writes the same blob. That program's list then fails with status 400 (InvalidBlockList). Azure removes
// blocks that no list names after a week.

#include "store/objects/azure/azure_upload.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/bucket/bucket_objects.hpp"
#include "store/objects/bucket/pending_puts.hpp"

namespace plait::store::azure {

namespace {

using base::text;

class AzureUpload : public ObjectUpload {
 public:
  AzureUpload(std::shared_ptr<bucket::ConditionalObjects> objects, std::shared_ptr<Container> container,
              std::string object)
      : objects_(std::move(objects)),
        container_(std::move(container)),
        object_(std::move(object)),
        url_(container_->url(objects_->key(object_))) {}

  std::string begin() override { return id_ = bucket::random_name(); }
  void join(const std::string& id) override { id_ = id; }
  void send(std::int64_t number, std::vector<std::byte> bytes) override;
  std::vector<SentPart> finish() override;
  bool commit(const std::vector<SentPart>& parts, const Condition& condition) override;
  void abort() noexcept override;

 private:
  /// Returns the name of a block. All have the same length. It is base64 as it is: digits and letters, 40 of them.
  std::string block(std::int64_t number) const;
  void take(const bucket::PendingPut& part);

  std::shared_ptr<bucket::ConditionalObjects> objects_;
  std::shared_ptr<Container> container_;
  std::string object_;
  std::string url_;
  std::string id_;
  bucket::PendingPuts parts_{kMaxPartsInFlight};
  std::vector<SentPart> sent_;
};

std::string AzureUpload::block(std::int64_t number) const {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lld", static_cast<long long>(number));
  return id_ + digits.data();
}

void AzureUpload::take(const bucket::PendingPut& part) {
  if (part.error.empty() && part.response.header("x-ms-error-code") == "InvalidBlobOrBlock")
    base::throw_system_error(EBUSY, "cannot write ", objects_->object_location(object_), ": another program has left ",
                             "blocks of an unfinished upload, whose names do not fit; choose another name, or remove ",
                             "them by writing the object with that program again");
  if (!part.error.empty() || !part.response.ok()) objects_->throw_failed("write a part of", object_, part);
  sent_.push_back({part.number, block(part.number)});
}

void AzureUpload::send(std::int64_t number, std::vector<std::byte> bytes) {
  bucket::PendingPut part;
  part.number = number;
  part.bytes = std::move(bytes);
  part.request.method = "PUT";
  part.request.url = text(url_, "?comp=block&blockid=", block(number));
  part.request.headers = {{"Content-Type", "application/octet-stream"}};
  part.adapter = container_->adapter();
  parts_.submit(std::move(part), [this](const bucket::PendingPut& one) { take(one); });
}

std::vector<SentPart> AzureUpload::finish() {
  parts_.finish([this](const bucket::PendingPut& one) { take(one); });
  return std::move(sent_);
}

bool AzureUpload::commit(const std::vector<SentPart>& parts, const Condition& condition) {
  if (condition && objects_->identity(object_) != *condition) return false;
  const bool sends_condition = condition && container_->has_conditions();
  if (sends_condition) bucket::check_comparable(*container_, objects_->object_location(object_), *condition);
  std::string body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (const SentPart& part : parts) base::append_parts(body, "<Uncommitted>", part.tag, "</Uncommitted>");
  body += "</BlockList>";
  http::Call call;
  call.request.method = "PUT";
  call.request.url = url_ + "?comp=blocklist";
  call.request.body = std::as_bytes(std::span(body));
  call.request.headers = {{container_->write_header(), id_}, {"Content-Type", "application/xml"}};
  if (sends_condition) call.request.headers.push_back(container_->put_condition(*condition));
  call.adapter = container_->adapter();
  http::perform(call);
  if (call.error.empty() && call.response.ok()) return true;
  const int status = call.error.empty() ? call.response.status : 0;
  if (status == 400 || status == 409 || status == 412) {
    // The answer to the first of several attempts may be lost.
    if (bucket::is_own(*objects_, *container_, object_, id_)) return true;
    if (status != 400 && condition && container_->is_unmet(call.response, *condition)) return false;
    if (condition && objects_->identity(object_) != *condition) return false;
  }
  objects_->throw_failed("write", object_, call);
}

void AzureUpload::abort() noexcept {
  try {
    parts_.finish([](const bucket::PendingPut&) {});
  } catch (const std::exception&) {  // the blocks remain for a week
  }
}

}  // namespace

std::unique_ptr<ObjectUpload> make_upload(const std::string& location, const std::string& object,
                                          std::shared_ptr<Container> container) {
  auto objects = bucket::open_for_upload(location, container);
  return std::make_unique<AzureUpload>(std::move(objects), std::move(container), object);
}

}  // namespace plait::store::azure
