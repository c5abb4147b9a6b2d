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
#include "store/objects/bucket/part_upload.hpp"

namespace plait::store::azure {

namespace {

using base::text;

class AzureUpload : public bucket::PartUpload {
 public:
  AzureUpload(std::shared_ptr<bucket::ConditionalObjects> objects, std::shared_ptr<Container> container,
              std::string object)
      : PartUpload(std::move(objects), *container, std::move(object)), container_(std::move(container)) {}

  std::string begin() override {
    set_id(bucket::random_name());
    return id();
  }
  void abort() noexcept override;

 private:
  /// Returns the name of a block. All have the same length. It is base64 as it is: digits and letters, 40 of them.
  std::string block(std::int64_t number) const;
  void fill_part(bucket::PendingPut& part) override;
  std::string part_tag(const bucket::PendingPut& part) override;
  bool complete(const std::vector<SentPart>& parts, const Condition& sent, const Condition& condition) override;

  std::shared_ptr<Container> container_;
};

std::string AzureUpload::block(std::int64_t number) const {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lld", static_cast<long long>(number));
  return id() + digits.data();
}

std::string AzureUpload::part_tag(const bucket::PendingPut& part) {
  if (part.error.empty() && part.response.header("x-ms-error-code") == "InvalidBlobOrBlock")
    base::throw_system_error(EBUSY, "cannot write ", objects().object_location(object()), ": another program has left ",
                             "blocks of an unfinished upload, whose names do not fit; choose another name, or remove ",
                             "them by writing the object with that program again");
  if (!part.error.empty() || !part.response.ok()) objects().throw_failed("write a part of", object(), part);
  return block(part.number);
}

void AzureUpload::fill_part(bucket::PendingPut& part) {
  part.request.url = text(url(), "?comp=block&blockid=", block(part.number));
  part.request.headers = {{"Content-Type", "application/octet-stream"}};
  part.adapter = container_->adapter();
}

bool AzureUpload::complete(const std::vector<SentPart>& parts, const Condition& sent, const Condition& condition) {
  std::string body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (const SentPart& part : parts) base::append_parts(body, "<Uncommitted>", part.tag, "</Uncommitted>");
  body += "</BlockList>";
  http::Call call;
  call.request.method = "PUT";
  call.request.url = url() + "?comp=blocklist";
  call.request.body = std::as_bytes(std::span(body));
  call.request.headers = {{container_->write_header(), id()}, {"Content-Type", "application/xml"}};
  if (sent) call.request.headers.push_back(container_->put_condition(*sent));
  call.adapter = container_->adapter();
  http::perform(call);
  if (call.error.empty() && call.response.ok()) return true;
  const int status = call.error.empty() ? call.response.status : 0;
  if (status == 400 || status == 409 || status == 412) {
    // The answer to the first of several attempts may be lost.
    if (bucket::is_from_write(objects(), *container_, object(), id())) return true;
    if (status != 400 && condition && container_->is_unmet(call.response, *condition)) return false;
    if (condition && objects().identity(object()) != *condition) return false;
  }
  objects().throw_failed("write", object(), call);
}

void AzureUpload::abort() noexcept {
  try {
    drop_parts();
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
