// https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api
//
// A put that requires that there is no blob, and finds one, fails with status 409 (BlobAlreadyExists); all other
// conditions that are not met give status 412.

#include "store/objects/azure/container.hpp"
#include "store/http/request.hpp"

#include <cerrno>
#include <memory>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/http/request.hpp"
#include "store/objects/azure/shared_key.hpp"
#include "store/objects/bucket/xml_text.hpp"
#include "store/url.hpp"

namespace plait::store::azure {

namespace {

using base::text;
using bucket::xml_text;

constexpr const char* kVersion = "2021-08-06";
/// Characters of keys that stay as they are, besides unreserved ones.
constexpr std::string_view kKeyCharacters = "/";

/// Returns the name of a blob, or the prefix of blobs. Names with characters that XML does not have are encoded.
std::string blob_name(std::string_view element, const std::string& where) {
  constexpr std::string_view kEncoded = "<Name Encoded=\"true\">";
  const std::size_t at = element.find(kEncoded);
  if (at == std::string_view::npos) return xml_text(element, "Name");
  const std::string_view rest = element.substr(at + kEncoded.size());
  return unescaped(rest.substr(0, rest.find('<')), where);
}

}  // namespace

std::string Container::url(const std::string& key) const {
  const std::string path = http::percent_encoded(key, kKeyCharacters);
  return text(id(), path.empty() ? "" : "/", path);
}

http::Adapter* Container::adapter() {
  // Not in prepare(): that runs on the client's thread, which sends the requests for new tokens.
  if (configuration_.keys != nullptr) configuration_.keys->renew();
  return this;
}

http::Request Container::prepare(const http::Request& request, std::int64_t seconds) {
  http::Request made = request;
  made.headers.push_back({"x-ms-version", kVersion});
  made.headers.push_back({"x-ms-date", http_date(seconds)});
  if (!configuration_.sas.empty()) {
    made.url += made.url.find('?') == std::string::npos ? '?' : '&';
    made.url += configuration_.sas;
  }
  if (configuration_.keys == nullptr) return made;
  const std::shared_ptr<const s3::Credentials> keys = configuration_.keys->current();
  if (keys->access_key.empty())
    made.headers.push_back({"Authorization", text("Bearer ", keys->session_token)});
  else
    sign(made, keys->access_key, keys->secret_key);
  return made;
}

std::string Container::explain(const http::Response& response) const {
  std::string code(response.header("x-ms-error-code"));
  if (code.empty()) code = xml_text(response.text, "Code");
  if (code.empty()) return {};
  std::string message = xml_text(response.text, "Message");
  message = message.substr(0, message.find('\n'));  // lines with the request's number and time follow
  return text(" (", code, message.empty() ? "" : ": ", message, ')');
}

std::string Container::advice(int status) const {
  switch (status) {
    case 401:
    case 403: return "check the account, its key or token, and the permissions";
    case 404: return "check the account and the container";
    case 400: return "check the account and the endpoint";
    default: return {};
  }
}

void Container::add_put_headers(http::Request& request, std::span<const std::byte> /*bytes*/) const {
  request.headers.push_back({"x-ms-blob-type", "BlockBlob"});
  request.headers.push_back({"Content-Type", "application/octet-stream"});
}

http::Header Container::put_condition(const ObjectIdentity& condition) const {
  if (condition == ObjectIdentity{}) return {"If-None-Match", "*"};
  return {"If-Match", condition.tag};
}

bool Container::is_unmet(const http::Response& response, const ObjectIdentity& condition) const {
  std::string code(response.header("x-ms-error-code"));
  if (code.empty()) code = xml_text(response.text, "Code");
  if (response.status == 409) return code == "BlobAlreadyExists";
  // Status 412 also says that a lease is missing.
  if (response.status == 412 && !code.empty() && code != "ConditionNotMet" && code != "TargetConditionNotMet")
    return false;
  return Bucket::is_unmet(response, condition);
}

std::string Container::list_url(const std::string& prefix, ListDepth depth, const std::string& next) const {
  std::string made = text(id(), "?restype=container&comp=list");
  if (depth == ListDepth::kChildren) made += "&delimiter=%2F";
  if (!next.empty()) made += "&marker=" + http::percent_encoded(next);
  if (!prefix.empty()) made += "&prefix=" + http::percent_encoded(prefix);
  return made;
}

bucket::ListPage Container::parse_page(std::string_view document, const std::string& where) const {
  if (document.find("<EnumerationResults") == std::string_view::npos ||
      document.find("</EnumerationResults>") == std::string_view::npos)
    base::throw_system_error(EIO, "cannot list ", where, ": the server has answered with something else than a list; ",
                             "check the endpoint, which must have the interface of Azure Blob Storage");
  bucket::ListPage page;
  bucket::for_each_element(document, "Blob", [&](std::string_view element) {
    // Accounts with a hierarchical namespace list directories as well.
    if (xml_text(element, "ResourceType") == "directory") return;
    page.objects.push_back({blob_name(element, where), http::parse_count(xml_text(element, "Content-Length"))});
  });
  bucket::for_each_element(document, "BlobPrefix",
                           [&](std::string_view element) { page.objects.push_back({blob_name(element, where), 0}); });
  page.next = xml_text(document, "NextMarker");
  return page;
}

}  // namespace plait::store::azure
