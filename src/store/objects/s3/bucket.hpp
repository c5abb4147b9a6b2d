/// A bucket of a server that has the interface of S3, in one of its dialects.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "store/objects/s3/configuration.hpp"
#include "store/objects/s3/signature.hpp"
#include "store/objects/web/web_objects.hpp"

namespace plait::store::s3 {

/// Signs requests, and learns the region of its bucket from answers.  threads  Any.
class Bucket : public web::Server, private http::Adapter {
 public:
  explicit Bucket(Configuration configuration);

  const Configuration& configuration() const { return configuration_; }
  /// Returns a name for the bucket that is the same for all its URLs.
  std::string id() const;
  std::string url(const std::string& key) const override;
  /// Returns the URL of the bucket itself with a query, whose parameters are encoded.
  std::string bucket_url(const std::string& query) const;
  /// Returns the adapter, and renews keys that expire soon.
  /// errors  kSystem: the keys have expired, and there are no new ones.
  http::Adapter* adapter() override;
  /// Returns the name of a header of the server's own, such as `x-amz-date` for `date`.
  std::string header(std::string_view name) const;
  /// Returns the header of a put that requires that the object has this identity; a default identity requires that
  /// there is no object.
  http::Header put_condition(const ObjectIdentity& condition) const;
  /// Returns true if the server can compare an identity in puts.
  bool compares(const ObjectIdentity& identity) const;
  std::string explain(const http::Response& response) const override;
  std::string advice(int status) const override;

 private:
  http::Request prepare(const http::Request& request, std::int64_t seconds) override;
  bool learn(const http::Call& call) override;
  std::string region() const;

  Configuration configuration_;
};

}  // namespace plait::store::s3
