// ListMultipartUploads and ListParts. Example of a page of uploads, whose keys are percent-encoded, as the query asks:
//   <ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
//   <NextKeyMarker>a.nc</NextKeyMarker><NextUploadIdMarker>u1</NextUploadIdMarker><Upload><Key>a.nc</Key>
//   <UploadId>u1</UploadId><Initiated>2026-11-30T08:15:00.000Z</Initiated></Upload></ListMultipartUploadsResult>
// Example of a page of parts:
//   <ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker><Part>
//   <PartNumber>1</PartNumber><ETag>&quot;900150983cd24fb0d6963f7d28e17f72&quot;</ETag><Size>3</Size></Part>
//   </ListPartsResult>

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

[[noreturn]] void throw_failed(const char* operation, const Bucket& bucket, const std::string& key,
                               const http::Call& call) {
  const std::string what =
      text("cannot ", operation, ' ', bucket.scheme(), "://", bucket.configuration().bucket, '/', key, ": ");
  const std::string_view host = http::url_authority(call.request.url);
  if (!call.error.empty())
    base::throw_system_error(call.error_code, what, "the request to ", host, " failed: ", call.error,
                             "; check the name and the network, and try again");
  const int status = call.response.status;
  const std::string advice = bucket.advice(status);
  base::throw_system_error(status == 401 || status == 403 ? EACCES : EIO, what, host, " answered with status ", status,
                           bucket.explain(call.response), advice.empty() ? "; try again later" : "; ", advice);
}

http::Call request(Bucket& bucket, const char* method, const std::string& key, const std::string& query) {
  http::Call call;
  call.request.method = method;
  call.request.url = text(bucket.url(key), '?', query);
  call.adapter = bucket.adapter();
  http::perform(call);
  return call;
}

bool is_missing(const http::Call& call) { return call.error.empty() && call.response.status == 404; }

/// Checks that a list has arrived, and not the page of another kind of server.
void check_list(const Bucket& bucket, const std::string& key, const http::Call& call, std::string_view element) {
  constexpr const char* kOperation = "list the unfinished uploads of";
  if (!call.error.empty() || !call.response.ok()) throw_failed(kOperation, bucket, key, call);
  if (call.response.text.find(text("</", element, '>')) == std::string::npos)
    base::throw_system_error(EIO, "cannot ", kOperation, ' ', bucket.scheme(), "://", bucket.configuration().bucket,
                             '/', key,
                             ": the server has answered with something else than a list; check the endpoint, ",
                             "which must have the interface of S3");
}

}  // namespace

UploadPage<UnfinishedUpload> parse_uploads(std::string_view document) {
  const bool encoded = xml_text(document, "EncodingType") == "url";
  const auto decoded = [encoded](const std::string& key) { return encoded ? decoded_key(key) : key; };
  UploadPage<UnfinishedUpload> page;
  for_each_element(document, "Upload", [&](std::string_view element) {
    page.entries.push_back(
        {decoded(xml_text(element, "Key")), xml_text(element, "UploadId"), xml_text(element, "Initiated")});
  });
  if (is_truncated(document))
    page.next = text("&key-marker=", http::percent_encoded(decoded(xml_text(document, "NextKeyMarker"))),
                     "&upload-id-marker=", http::percent_encoded(xml_text(document, "NextUploadIdMarker")));
  return page;
}

UploadPage<StoredPart> parse_parts(std::string_view document) {
  UploadPage<StoredPart> page;
  for_each_element(document, "Part", [&](std::string_view element) {
    page.entries.push_back({http::parse_count(xml_text(element, "PartNumber")),
                            http::parse_count(xml_text(element, "Size")), xml_text(element, "ETag")});
  });
  if (is_truncated(document))
    page.next = text("&part-number-marker=", http::percent_encoded(xml_text(document, "NextPartNumberMarker")));
  return page;
}

std::vector<UnfinishedUpload> unfinished_uploads(Bucket& bucket, const std::string& key) {
  std::vector<UnfinishedUpload> uploads;
  std::string next;
  do {
    const std::string query = text("uploads&encoding-type=url&prefix=", http::percent_encoded(key), next);
    const http::Call call = request(bucket, "GET", "", query);
    check_list(bucket, key, call, "ListMultipartUploadsResult");
    UploadPage<UnfinishedUpload> page = parse_uploads(call.response.text);
    std::ranges::move(page.entries, std::back_inserter(uploads));
    next = std::move(page.next);
  } while (!next.empty());
  const std::string below = key.empty() ? key : key + '/';
  std::erase_if(uploads, [&](const UnfinishedUpload& one) { return one.key != key && !one.key.starts_with(below); });
  // The times have one form, so that their order is that of the texts.
  std::ranges::stable_sort(uploads, std::greater<>(), &UnfinishedUpload::begun);
  return uploads;
}

std::vector<StoredPart> stored_parts(Bucket& bucket, const std::string& key, const std::string& id) {
  std::vector<StoredPart> parts;
  std::string next;
  do {
    const http::Call call = request(bucket, "GET", key, text("uploadId=", http::percent_encoded(id), next));
    if (is_missing(call)) return {};
    check_list(bucket, key, call, "ListPartsResult");
    UploadPage<StoredPart> page = parse_parts(call.response.text);
    std::ranges::move(page.entries, std::back_inserter(parts));
    next = std::move(page.next);
  } while (!next.empty());
  std::ranges::sort(parts, {}, &StoredPart::number);
  return parts;
}

void abort_upload(Bucket& bucket, const std::string& key, const std::string& id) {
  const http::Call call = request(bucket, "DELETE", key, text("uploadId=", http::percent_encoded(id)));
  if (is_missing(call)) return;
  if (!call.error.empty() || !call.response.ok()) throw_failed("abort an upload of", bucket, key, call);
}

}  // namespace plait::store::s3
