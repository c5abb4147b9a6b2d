// Multipart uploads: CreateMultipartUpload, UploadPart, CompleteMultipartUpload and AbortMultipartUpload.
//
// Readers find the object after CompleteMultipartUpload, as a whole, and its condition is checked in that moment. The
// answer to it may get lost: the upload is gone then, and the repeated request fails with 404 or 412. The number in the
// object's metadata says whether the first request has succeeded.
//
// CompleteMultipartUpload may answer with status 200 and an error in its body, which may pass. Some servers check
// conditions of puts but not those of completions, so that the object's identity is compared before as well.
//
// An upload that a killed program has left can be joined. The list of its parts has the MD5 of each, which shows
// whether a part has the bytes that would be sent. Its random number is not listed. A program that is not killed, but
// slow, can lose its upload in this way: another one joins it, replaces later parts and completes it. The random number
// of the object is then that of the slow program, but the bytes are not. For both reasons an object counts as that of
// this upload only if its ETag, the MD5 of the MD5s of its parts, shows that it consists of the parts of this upload.

#include "store/objects/s3/s3_upload.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/bucket/bucket_objects.hpp"
#include "store/objects/bucket/part_upload.hpp"
#include "store/objects/bucket/xml_text.hpp"
#include "store/objects/s3/part_tags.hpp"
#include "store/objects/s3/unfinished_uploads.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using bucket::xml_text;

/// Seconds without a byte that a completion may take: servers put the parts together before they answer.
constexpr long kCompletionSeconds = 600;
/// Maximum number of requests to complete an upload that answer with status 200 and then with an error in the body.
constexpr int kMaxCompletionAttempts = 3;

/// Returns the body of CompleteMultipartUpload: the number and the ETag of each part.
std::string completion_document(const std::vector<SentPart>& parts) {
  std::string document = "<CompleteMultipartUpload>";
  for (const SentPart& part : parts)
    base::append_parts(document, "<Part><PartNumber>", part.number, "</PartNumber><ETag>", part.tag, "</ETag></Part>");
  return document + "</CompleteMultipartUpload>";
}

class S3Upload : public bucket::PartUpload {
 public:
  S3Upload(std::shared_ptr<bucket::ConditionalObjects> objects, std::shared_ptr<Bucket> bucket, std::string object)
      : PartUpload(std::move(objects), *bucket, std::move(object)),
        bucket_(std::move(bucket)),
        write_id_(bucket::random_name()) {}

  std::string begin() override;
  void join(const std::string& id) override {
    PartUpload::join(id);
    write_id_.clear();
  }
  void abort() noexcept override;
  std::vector<UnfinishedUpload> unfinished() override { return object_uploads(*bucket_, key(), Rejected::kEmpty); }
  std::vector<StoredPart> stored_parts(const std::string& id) override {
    return s3::stored_parts(*bucket_, key(), id, Rejected::kEmpty);
  }
  bool has_bytes(const StoredPart& part, std::span<const std::byte> bytes) const override {
    return part.bytes == std::ssize(bytes) && is_md5_tag(part.tag, bytes);
  }

 private:
  void fill_part(bucket::PendingPut& part) override;
  std::string part_tag(const bucket::PendingPut& part) override;
  bool complete(const std::vector<SentPart>& parts, const Condition& sent, const Condition& condition) override;
  std::string upload_url() const { return text(url(), "?uploadId=", http::percent_encoded(id())); }
  void request_completion(http::Call& call, const std::string& body, const Condition& condition);
  bool is_from_upload(const http::Call& failed, const std::vector<SentPart>& parts, const Condition& condition);
  [[noreturn]] void throw_unknown_parts() const;
  std::string key() const { return objects().key(object()); }

  std::shared_ptr<Bucket> bucket_;
  std::string write_id_;  // empty if another process has begun the upload
};

std::string S3Upload::begin() {
  http::Call call;
  call.request.method = "POST";
  call.request.url = url() + "?uploads";
  bucket_->add_content_headers(call.request, write_id_);
  call.adapter = bucket_->adapter();
  http::perform(call);
  if (!call.error.empty() || !call.response.ok()) objects().throw_failed("write", object(), call);
  set_id(xml_text(call.response.text, "UploadId"));
  if (id().empty()) objects().throw_failed("write", object(), call);
  return id();
}

std::string S3Upload::part_tag(const bucket::PendingPut& part) {
  if (!part.error.empty() || !part.response.ok() || part.response.header("etag").empty())
    objects().throw_failed("write a part of", object(), part);
  return std::string(part.response.header("etag"));
}

void S3Upload::fill_part(bucket::PendingPut& part) {
  part.request.url = text(url(), "?partNumber=", part.number, "&uploadId=", http::percent_encoded(id()));
  bucket_->add_put_headers(part.request, part.bytes);
  part.adapter = bucket_->adapter();
}

bool S3Upload::complete(const std::vector<SentPart>& parts, const Condition& sent, const Condition& condition) {
  const std::string body = completion_document(parts);
  for (int completions = 1;; ++completions) {
    http::Call call;
    request_completion(call, body, sent);
    if (call.error.empty() && call.response.ok()) {
      if (call.response.text.find("<Error>") == std::string::npos) return true;
      if (completions < kMaxCompletionAttempts) continue;
    }
    const int status = call.error.empty() ? call.response.status : 0;
    if (status == 404 || status == 409 || status == 412) return is_from_upload(call, parts, condition);
    objects().throw_failed("write", object(), call);
  }
}

void S3Upload::request_completion(http::Call& call, const std::string& body, const Condition& condition) {
  call.request.method = "POST";
  call.request.url = upload_url();
  call.request.body = std::as_bytes(std::span(body));
  call.request.headers = {{bucket_->header("content-sha256"), sha256_hex(call.request.body)}};
  if (condition) call.request.headers.push_back(bucket_->put_condition(*condition));
  call.request.repeats_conflicts = condition.has_value();
  call.request.stall_seconds = kCompletionSeconds;
  call.adapter = bucket_->adapter();
  http::perform(call);
}

/// Returns true if the object consists of the parts of this upload, and false if the condition is not met.
/// errors  kSystem: neither; or the object may have been made by this upload, but its ETag does not show its parts.
bool S3Upload::is_from_upload(const http::Call& failed, const std::vector<SentPart>& parts,
                              const Condition& condition) {
  http::Call present;
  objects().perform(present, object(), "HEAD");
  const bool is_gone = present.error.empty() && present.response.status == 404;
  if (!present.error.empty() || (!present.response.ok() && !is_gone))
    objects().throw_failed("check", object(), present);
  const bool is_written = !is_gone && present.response.header(bucket_->write_header()) == write_id_;
  const std::string tag = joined_tag(parts);
  const bool has_parts = !is_gone && !tag.empty() && present.response.header("etag") == tag;
  if (has_parts && (write_id_.empty() || is_written)) return true;
  if (is_written && !write_id_.empty()) throw_unknown_parts();
  const ObjectIdentity found = is_gone ? ObjectIdentity{} : web::to_identity(present.response);
  if (failed.response.status == 412 || (condition && found != *condition)) return false;
  objects().throw_failed("write", object(), failed);
}

void S3Upload::throw_unknown_parts() const {
  base::throw_system_error(EIO, "cannot write ", objects().object_location(object()),
                           ": the upload has been completed, but the ETag of the object does not show that it has ",
                           "the bytes of this program; another program may have resumed the upload with other bytes; ",
                           "write the object again");
}

void S3Upload::abort() noexcept {
  if (id().empty()) return;
  try {
    drop_parts();
    abort_upload(*bucket_, key(), id());
  } catch (const std::exception&) {  // the parts remain until `plait clean` or a rule of the bucket removes them
  }
  set_id({});
}

}  // namespace

std::unique_ptr<ObjectUpload> make_upload(const std::string& location, const std::string& object,
                                          std::shared_ptr<Bucket> bucket) {
  auto objects = bucket::open_for_upload(location, bucket);
  return std::make_unique<S3Upload>(std::move(objects), std::move(bucket), object);
}

}  // namespace plait::store::s3
