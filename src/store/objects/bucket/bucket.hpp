/// A bucket of a server whose objects are put under conditions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "store/objects/bucket/listing.hpp"
#include "store/objects/web/web_objects.hpp"

namespace plait::store::bucket {

/// Makes and interprets the requests of one kind of server.  threads  Any.
class Bucket : public web::Server {
 public:
  /// Returns the scheme of the names of arrays, such as `s3`.
  virtual std::string_view scheme() const = 0;
  /// Returns a name for the bucket that is the same for all its URLs.
  virtual std::string id() const = 0;
  /// Returns false if the user says that no other program writes, so that puts need no conditions.
  virtual bool has_conditions() const = 0;
  /// Returns the name of the header in the metadata of an object that states which write has made it.
  virtual std::string write_header() const = 0;
  /// Adds the headers of a new content, besides those of the put or of the upload.  write: see write_header().
  virtual void add_content_headers(http::Request& request, const std::string& write) const {
    request.headers.push_back({write_header(), write});
  }
  /// Adds the headers that each put, also that of a part, has.
  virtual void add_put_headers(http::Request& request, std::span<const std::byte> bytes) const = 0;
  /// Returns the header of a put that requires that the object has this identity; a default identity requires that
  /// there is no object.
  virtual http::Header put_condition(const ObjectIdentity& condition) const = 0;
  /// Returns true if the server can compare an identity in puts.
  virtual bool compares(const ObjectIdentity& identity) const { return web::is_strong(identity); }
  /// Returns true if the answer to a put says that its condition is not met.
  virtual bool is_unmet(const http::Response& response, const ObjectIdentity& condition) const {
    return response.status == 412 || (response.status == 404 && condition != ObjectIdentity{});
  }
  /// Returns true if status 409 of a put with a condition may pass: another put of the object was in progress.
  virtual bool repeats_conflicts() const { return true; }
  /// Returns true if a removal can have the condition that the object has an identity.
  virtual bool has_conditional_removal() const { return true; }
  /// Returns true if ranges may count from the end of an object.
  virtual bool has_suffix_ranges() const { return true; }
  /// Returns true if the ETag of an object in a list shows that it has these bytes.
  virtual bool has_bytes(std::string_view /*tag*/, std::span<const std::byte> /*bytes*/) const { return false; }
  /// Returns the URL of a page of a list.  next: the token of the page before; empty for the first page.
  virtual std::string list_url(const std::string& prefix, ListDepth depth, const std::string& next) const = 0;
  /// Parses a page.  errors  kSystem: it is no list. where: the prefix in errors.
  virtual ListPage parse_page(std::string_view document, const std::string& where) const = 0;
};

/// Checks that a server can check the condition of a put of an object, whose location is given.
/// errors  kSystem, ENOTSUP: it gives the object no identity that it compares.
void check_comparable(const Bucket& bucket, const std::string& location, const ObjectIdentity& condition);

}  // namespace plait::store::bucket
