// Example of a page, whose keys are percent-encoded, as the query asks:
//   <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
//   <NextContinuationToken>k3</NextContinuationToken><Contents><Key>a.zarr/c/0</Key><Size>80</Size></Contents>
//   <CommonPrefixes><Prefix>a.zarr/c/</Prefix></CommonPrefixes></ListBucketResult>

#include "store/objects/s3/listing.hpp"

#include <algorithm>
#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/http/request.hpp"
#include "store/objects/bucket/xml_text.hpp"

namespace plait::store::s3 {

namespace {

using bucket::for_each_element;
using bucket::xml_text;

}  // namespace

std::string decoded_key(std::string key) {
  std::ranges::replace(key, '+', ' ');
  return unescaped(key, key);
}

std::string list_query(const std::string& prefix, ListDepth depth, const std::string& next) {
  std::string query = "list-type=2&encoding-type=url";
  if (depth == ListDepth::kChildren) query += "&delimiter=%2F";
  if (!next.empty()) query += "&continuation-token=" + http::percent_encoded(next);
  return query + "&prefix=" + http::percent_encoded(prefix);
}

void check_document(std::string_view document, std::string_view name, const std::string& what) {
  if (document.find(base::text('<', name)) != std::string_view::npos &&
      document.find(base::text("</", name, '>')) != std::string_view::npos)
    return;
  const std::string code = xml_text(document, "Code");
  base::throw_system_error(EIO, what, ": the server has answered with something else than a list",
                           code.empty() ? std::string() : base::text(" (", code, ')'),
                           "; check the endpoint, which must have the interface of S3");
}

bucket::ListPage parse_page(std::string_view document, const std::string& where) {
  check_document(document, "ListBucketResult", "cannot list " + where);
  const bool encoded = xml_text(document, "EncodingType") == "url";
  const auto key = [&](std::string_view element, std::string_view tag) {
    std::string found = xml_text(element, tag);
    return encoded ? decoded_key(std::move(found)) : found;
  };
  bucket::ListPage page;
  for_each_element(document, "Contents", [&](std::string_view element) {
    page.objects.push_back(
        {key(element, "Key"), http::parse_count(xml_text(element, "Size")), xml_text(element, "ETag")});
  });
  for_each_element(document, "CommonPrefixes",
                   [&](std::string_view element) { page.objects.push_back({key(element, "Prefix"), 0}); });
  if (xml_text(document, "IsTruncated") == "true") page.next = xml_text(document, "NextContinuationToken");
  return page;
}

}  // namespace plait::store::s3
