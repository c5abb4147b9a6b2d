#include "store/objects/web/http_objects.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/web/web_objects.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::web {

namespace {

/// Characters of paths that stay as they are. A `%` begins an escape that the user has written.
constexpr std::string_view kPathCharacters = "/%!$&'()*+,;=:@";

class HttpServer : public Server {
 public:
  explicit HttpServer(WebUrl url) : url_(std::move(url)) {}
  std::string url(const std::string& key) const override {
    return base::text(url_.scheme, "://", url_.authority, '/', http::percent_encoded(key, kPathCharacters),
                      url_.query.empty() ? "" : "?", url_.query);
  }
  http::Adapter* adapter() override { return nullptr; }
  std::string advice(int status) const override {
    if (status == 401 || status == 403) return "the server does not permit this request; check the URL and its query";
    return {};
  }

 private:
  WebUrl url_;
};

class HttpObjects : public WebObjects {
 public:
  HttpObjects(const std::string& location, WebUrl url)
      : WebObjects(location, std::make_shared<HttpServer>(url), to_prefix(url.key, location)) {}

  void list(const std::string& prefix, ListDepth /*depth*/,
            base::FunctionRef<void(const ListedObject&)> /*visit*/) override {
    base::throw_system_error(ENOTSUP, "cannot list ", object_location(prefix),
                             ": HTTP servers do not list their objects; name an array, as in data.zarr::/group/a, or "
                             "use a hierarchy with consolidated metadata");
  }
  bool has_lists() const override { return false; }
  bool put(const std::string& object, std::span<const std::byte> /*bytes*/, const Condition& /*condition*/) override {
    throw_read_only("write", object);
  }
  std::unique_ptr<NewObject> create(const std::string& object) override { throw_read_only("write", object); }
  void remove(const std::string& object) override { throw_read_only("remove", object); }

 private:
  [[noreturn]] void throw_read_only(const char* operation, const std::string& object) const {
    base::throw_system_error(EROFS, "cannot ", operation, ' ', object_location(object),
                             ": objects of HTTP servers are only read; write to a file or to s3://");
  }
};

std::shared_ptr<ObjectStore> open_http(const std::string& url, Sharing /*sharing*/) {
  return std::make_shared<HttpObjects>(url, parse_web_url(url));
}

}  // namespace

const ObjectStoreKind& http_kind() {
  static constexpr ObjectStoreKind kKind{
      .scheme = "http", .open = open_http, .has_options = true, .whole_objects = true, .writable = false};
  return kKind;
}

const ObjectStoreKind& https_kind() {
  static constexpr ObjectStoreKind kKind{
      .scheme = "https", .open = open_http, .has_options = true, .whole_objects = true, .writable = false};
  return kKind;
}

}  // namespace plait::store::web
