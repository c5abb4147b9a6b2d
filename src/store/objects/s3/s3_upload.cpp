// Multipart uploads: CreateMultipartUpload, UploadPart, CompleteMultipartUpload and AbortMultipartUpload.
//
// Readers find the object after CompleteMultipartUpload, as a whole, and its condition is checked in that moment. The
// answer to it may get lost: the upload is gone then, and the repeated request fails with 404 or 412. The number in the
// object's metadata says whether the first request has succeeded.
//
// CompleteMultipartUpload may answer with status 200 and an error in its body, which may pass. Some servers check
// conditions of puts but not those of completions, so that the object's identity is compared before as well.

#include "store/objects/s3/s3_upload.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <list>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/s3/xml_text.hpp"

namespace plait::store::s3 {

namespace {

using base::text;

/// Maximum number of completions that fail after their status.
constexpr int kMaxCompletions = 3;

std::string document(const std::vector<SentPart>& parts) {
  std::string made = "<CompleteMultipartUpload>";
  for (const SentPart& part : parts)
    base::append_parts(made, "<Part><PartNumber>", part.number, "</PartNumber><ETag>", part.tag, "</ETag></Part>");
  return made + "</CompleteMultipartUpload>";
}

class S3Upload : public ObjectUpload {
 public:
  S3Upload(std::shared_ptr<web::WebObjects> objects, std::shared_ptr<Bucket> bucket, std::string object,
           std::string write_id)
      : objects_(std::move(objects)),
        bucket_(std::move(bucket)),
        object_(std::move(object)),
        url_(bucket_->url(objects_->key(object_))),
        write_id_(std::move(write_id)) {}
  ~S3Upload() override {
    while (!parts_.empty()) (void)take_one();
  }

  std::string begin() override;
  void join(const std::string& id) override { id_ = id; }
  void send(std::int64_t number, std::vector<std::byte> bytes) override;
  std::vector<SentPart> finish() override;
  bool commit(const std::vector<SentPart>& parts, const Condition& condition) override;
  void abort() noexcept override;

 private:
  struct PendingPart : http::Call {
    std::int64_t number = 0;
    std::vector<std::byte> bytes;
  };
  /// Waits for one of the parts in flight, and removes it from the list.
  std::list<PendingPart> take_one();
  void wait_for_one();
  std::string upload_url() const { return text(url_, "?uploadId=", http::percent_encoded(id_)); }
  void complete(http::Call& call, const std::string& body, const Condition& condition);
  bool is_own(const http::Call& failed, const Condition& condition);

  std::shared_ptr<web::WebObjects> objects_;
  std::shared_ptr<Bucket> bucket_;
  std::string object_;
  std::string url_;
  std::string write_id_;
  std::string id_;
  http::Completions completions_;
  std::list<PendingPart> parts_;
  std::vector<SentPart> sent_;
};

std::string S3Upload::begin() {
  http::Call call;
  call.request.method = "POST";
  call.request.url = url_ + "?uploads";
  call.request.headers = {{bucket_->header(kWriteHeader), write_id_}};
  call.adapter = bucket_->adapter();
  http::perform(call);
  if (!call.error.empty() || !call.response.ok()) objects_->throw_failed("write", object_, call);
  id_ = xml_text(call.response.text, "UploadId");
  if (id_.empty()) objects_->throw_failed("write", object_, call);
  return id_;
}

std::list<S3Upload::PendingPart> S3Upload::take_one() {
  auto* const done = static_cast<PendingPart*>(&completions_.wait());
  std::list<PendingPart> ended;
  ended.splice(ended.begin(), parts_, std::ranges::find(parts_, done, [](const PendingPart& one) { return &one; }));
  return ended;
}

void S3Upload::wait_for_one() {
  const std::list<PendingPart> ended = take_one();
  const PendingPart& part = ended.front();
  if (!part.error.empty() || !part.response.ok() || part.response.header("etag").empty())
    objects_->throw_failed("write a part of", object_, part);
  sent_.push_back({part.number, std::string(part.response.header("etag"))});
}

void S3Upload::send(std::int64_t number, std::vector<std::byte> bytes) {
  while (parts_.size() >= kMaxPartsInFlight) wait_for_one();
  // An error must not leave a part in parts_ for which no answer comes.
  std::list<PendingPart> added(1);
  PendingPart& part = added.front();
  part.number = number;
  part.bytes = std::move(bytes);
  part.request.method = "PUT";
  part.request.url = text(url_, "?partNumber=", number, "&uploadId=", http::percent_encoded(id_));
  part.request.headers = {{bucket_->header("content-sha256"), sha256_hex(part.bytes)}};
  part.request.body = part.bytes;
  part.adapter = bucket_->adapter();
  http::submit(part, completions_);
  parts_.splice(parts_.end(), added);
}

std::vector<SentPart> S3Upload::finish() {
  while (!parts_.empty()) wait_for_one();
  return std::move(sent_);
}

bool S3Upload::commit(const std::vector<SentPart>& parts, const Condition& condition) {
  if (condition && objects_->identity(object_) != *condition) return false;
  const bool sends_condition = condition && bucket_->configuration().conditions;
  if (sends_condition) check_comparable(*bucket_, objects_->object_location(object_), *condition);
  const std::string body = document(parts);
  for (int completions = 1;; ++completions) {
    http::Call call;
    complete(call, body, sends_condition ? condition : std::nullopt);
    if (call.error.empty() && call.response.ok()) {
      if (call.response.text.find("<Error>") == std::string::npos) return true;
      if (completions < kMaxCompletions) continue;
    }
    const int status = call.error.empty() ? call.response.status : 0;
    if (status == 404 || status == 409 || status == 412) return is_own(call, condition);
    objects_->throw_failed("write", object_, call);
  }
}

void S3Upload::complete(http::Call& call, const std::string& body, const Condition& condition) {
  call.request.method = "POST";
  call.request.url = upload_url();
  call.request.body = std::as_bytes(std::span(body));
  call.request.headers = {{bucket_->header("content-sha256"), sha256_hex(call.request.body)}};
  if (condition) call.request.headers.push_back(bucket_->put_condition(*condition));
  call.request.repeats_conflicts = condition.has_value();
  call.adapter = bucket_->adapter();
  http::perform(call);
}

/// Returns true if the object is that of this upload, and false if the condition is not met.
bool S3Upload::is_own(const http::Call& failed, const Condition& condition) {
  http::Call present;
  objects_->perform(present, object_, "HEAD");
  const bool is_gone = present.error.empty() && present.response.status == 404;
  if (!present.error.empty() || (!present.response.ok() && !is_gone)) objects_->throw_failed("check", object_, present);
  if (!is_gone && present.response.header(bucket_->header(kWriteHeader)) == write_id_) return true;
  const ObjectIdentity found = is_gone ? ObjectIdentity{} : web::to_identity(present.response);
  if (failed.response.status == 412 || (condition && found != *condition)) return false;
  objects_->throw_failed("write", object_, failed);
}

void S3Upload::abort() noexcept {
  if (id_.empty()) return;
  try {
    while (!parts_.empty()) (void)take_one();
    http::Call call;
    call.request.method = "DELETE";
    call.request.url = upload_url();
    call.adapter = bucket_->adapter();
    http::perform(call);
  } catch (const std::exception&) {  // the parts remain until the bucket's rules for incomplete uploads remove them
  }
  id_.clear();
}

}  // namespace

void check_comparable(const Bucket& bucket, const std::string& location, const ObjectIdentity& condition) {
  if (condition == ObjectIdentity{} || bucket.compares(condition)) return;
  const Dialect& dialect = *bucket.configuration().dialect;
  const char* const what = dialect.has_generations ? "generation" : "strong ETag";
  base::throw_system_error(ENOTSUP, "cannot write ", location, ": the server gives it no ", what, ", so that a ",
                           "program could overwrite what another one has written; use a server that gives ", what,
                           "s, or, if no other ", "program writes there, add conditions=off to the name, as in ",
                           dialect.scheme, "://bucket/data.zarr?conditions=off");
}

std::unique_ptr<ObjectUpload> make_upload(std::shared_ptr<web::WebObjects> objects, std::shared_ptr<Bucket> bucket,
                                          const std::string& object, const std::string& write_id) {
  return std::make_unique<S3Upload>(std::move(objects), std::move(bucket), object, write_id);
}

}  // namespace plait::store::s3
