// Lists the unfinished multipart uploads of a bucket, and the parts of one (ListMultipartUploads, ListParts).
//
// Example of a page of uploads, whose keys are percent-encoded, as the query asks:
//   <ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
//   <NextKeyMarker>a.nc</NextKeyMarker><NextUploadIdMarker>u1</NextUploadIdMarker><Upload><Key>a.nc</Key>
//   <UploadId>u1</UploadId><Initiated>2026-11-30T08:15:00.000Z</Initiated></Upload></ListMultipartUploadsResult>
// Example of a page of parts:
//   <ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker><Part>
//   <PartNumber>1</PartNumber><ETag>&quot;900150983cd24fb0d6963f7d28e17f72&quot;</ETag><Size>3</Size></Part>
//   </ListPartsResult>
//
// Some servers take the prefix of a list as the key of one object: MinIO lists no uploads below it. If a list with a
// prefix is empty, the uploads of the whole bucket are listed and selected here.

#include "store/objects/s3/unfinished_uploads.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/http/client.hpp"
#include "store/objects/bucket/xml_text.hpp"
#include "store/objects/s3/listing.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using bucket::for_each_element;
using bucket::xml_text;

bool is_truncated(std::string_view document) { return xml_text(document, "IsTruncated") == "true"; }

/// Returns the beginning of error messages, such as `cannot abort an upload of s3://bucket/a`.
std::string describe(const char* operation, const Bucket& bucket, const std::string& key) {
  return text("cannot ", operation, ' ', bucket.scheme(), "://", bucket.configuration().bucket, '/', key);
}

http::Call request(Bucket& bucket, const char* method, const std::string& key, const std::string& query) {
  http::Call call;
  call.request.method = method;
  call.request.url = text(bucket.url(key), '?', query);
  call.adapter = bucket.adapter();
  http::perform(call);
  return call;
}

bool is_rejected(const http::Call& call) {
  const int status = call.error.empty() ? call.response.status : 0;
  return status == 401 || status == 403 || status == 405 || status == 501;
}

bool is_missing(const http::Call& call) { return call.error.empty() && call.response.status == 404; }

/// A list that is requested page by page.
struct ListRequest {
  std::string path;          ///< key in the URL of the request
  std::string query;         ///< query of the first page
  std::string_view element;  ///< name of the document
  std::string key;           ///< the object in errors
  Rejected rejected;
  bool may_be_missing = false;  ///< true if status 404 stands for an empty list
};

/// Returns the entries of all pages.
template <class Entry>
std::vector<Entry> read_pages(Bucket& bucket, const ListRequest& list, UploadPage<Entry> (*parse)(std::string_view)) {
  std::vector<Entry> entries;
  std::string next;
  for (;;) {
    const http::Call call = request(bucket, "GET", list.path, list.query + next);
    if (list.may_be_missing && is_missing(call)) return {};
    if (list.rejected == Rejected::kEmpty && is_rejected(call)) return {};
    const std::string what = describe("list the unfinished uploads of", bucket, list.key);
    if (!call.error.empty() || !call.response.ok()) web::throw_failed(what, call, bucket);
    check_document(call.response.text, list.element, what);
    UploadPage<Entry> page = parse(call.response.text);
    std::ranges::move(page.entries, std::back_inserter(entries));
    if (page.is_last) return entries;
    if (page.next.empty() || page.next == next)
      base::throw_system_error(EIO, what, ": the server has answered with a page that is not the last one, but does ",
                               "not state where the next one begins; check the endpoint, which must have the ",
                               "interface of S3");
    next = std::move(page.next);
  }
}

std::vector<UnfinishedUpload> list_uploads(Bucket& bucket, const std::string& prefix, const std::string& key,
                                           Rejected rejected) {
  std::string query = "uploads&encoding-type=url";
  if (!prefix.empty()) query += "&prefix=" + http::percent_encoded(prefix);
  std::vector<UnfinishedUpload> uploads =
      read_pages<UnfinishedUpload>(bucket, {"", query, "ListMultipartUploadsResult", key, rejected}, parse_uploads);
  // All times have the same format, so sorting the texts sorts the times.
  std::ranges::stable_sort(uploads, std::greater<>(), &UnfinishedUpload::begun);
  return uploads;
}

class BucketUploads : public UnfinishedUploads {
 public:
  BucketUploads(std::shared_ptr<Bucket> bucket, std::string key) : bucket_(std::move(bucket)), key_(std::move(key)) {}

  std::vector<UnfinishedUpload> list() override {
    std::vector<UnfinishedUpload> uploads = list_uploads(*bucket_, key_, key_, Rejected::kThrow);
    if (key_.empty()) return uploads;
    if (uploads.empty()) uploads = list_uploads(*bucket_, "", key_, Rejected::kThrow);
    std::erase_if(uploads, [below = key_ + '/', this](const UnfinishedUpload& upload) {
      return upload.key != key_ && !upload.key.starts_with(below);
    });
    return uploads;
  }
  std::string last_change(const std::string& key, const std::string& id) override {
    std::string newest;
    for (const StoredPart& part : stored_parts(*bucket_, key, id, Rejected::kThrow))
      newest = std::max(newest, part.changed);
    return newest;
  }
  void abort(const std::string& key, const std::string& id) override { abort_upload(*bucket_, key, id); }

 private:
  std::shared_ptr<Bucket> bucket_;
  std::string key_;
};

}  // namespace

UploadPage<UnfinishedUpload> parse_uploads(std::string_view document) {
  const bool encoded = xml_text(document, "EncodingType") == "url";
  const auto decoded = [encoded](const std::string& key) { return encoded ? decoded_key(key) : key; };
  UploadPage<UnfinishedUpload> page;
  for_each_element(document, "Upload", [&](std::string_view element) {
    page.entries.push_back(
        {decoded(xml_text(element, "Key")), xml_text(element, "UploadId"), xml_text(element, "Initiated")});
  });
  page.is_last = !is_truncated(document);
  const std::string marker = decoded(xml_text(document, "NextKeyMarker"));
  if (!page.is_last && !marker.empty())
    page.next = text("&key-marker=", http::percent_encoded(marker),
                     "&upload-id-marker=", http::percent_encoded(xml_text(document, "NextUploadIdMarker")));
  return page;
}

UploadPage<StoredPart> parse_parts(std::string_view document) {
  UploadPage<StoredPart> page;
  for_each_element(document, "Part", [&](std::string_view element) {
    page.entries.push_back({http::parse_count(xml_text(element, "PartNumber")),
                            http::parse_count(xml_text(element, "Size")), xml_text(element, "ETag"),
                            xml_text(element, "LastModified")});
  });
  page.is_last = !is_truncated(document);
  const std::string marker = xml_text(document, "NextPartNumberMarker");
  if (!page.is_last && !marker.empty()) page.next = text("&part-number-marker=", http::percent_encoded(marker));
  return page;
}

std::vector<UnfinishedUpload> object_uploads(Bucket& bucket, const std::string& key, Rejected rejected) {
  std::vector<UnfinishedUpload> uploads = list_uploads(bucket, key, key, rejected);
  std::erase_if(uploads, [&](const UnfinishedUpload& upload) { return upload.key != key; });
  return uploads;
}

std::vector<StoredPart> stored_parts(Bucket& bucket, const std::string& key, const std::string& id, Rejected rejected) {
  const std::string query = "uploadId=" + http::percent_encoded(id);
  std::vector<StoredPart> parts = read_pages<StoredPart>(
      bucket, {key, query, "ListPartsResult", key, rejected, /*may_be_missing=*/true}, parse_parts);
  std::ranges::sort(parts, {}, &StoredPart::number);
  return parts;
}

void abort_upload(Bucket& bucket, const std::string& key, const std::string& id) {
  const http::Call call = request(bucket, "DELETE", key, text("uploadId=", http::percent_encoded(id)));
  if (is_missing(call)) return;
  if (!call.error.empty() || !call.response.ok())
    web::throw_failed(describe("abort an upload of", bucket, key), call, bucket);
}

std::unique_ptr<UnfinishedUploads> make_unfinished_uploads(std::shared_ptr<Bucket> bucket, std::string key) {
  return std::make_unique<BucketUploads>(std::move(bucket), std::move(key));
}

}  // namespace plait::store::s3
