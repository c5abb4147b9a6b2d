/// A bucket of a server that has the interface of S3, in one of its dialects.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "store/objects/bucket/bucket.hpp"
#include "store/objects/s3/configuration.hpp"
#include "store/objects/s3/signature.hpp"

namespace plait::store::s3 {

/// Signs requests, and learns the region of its bucket from answers.  threads  Any.
class Bucket : public bucket::Bucket, private http::Adapter {
 public:
  explicit Bucket(Configuration configuration);

  const Configuration& configuration() const { return configuration_; }
  std::string_view scheme() const override { return configuration_.dialect->scheme; }
  std::string id() const override;
  bool has_conditions() const override { return configuration_.conditions; }
  std::string write_header() const override { return header("meta-plait-write"); }
  bool has_conditional_removal() const override { return configuration_.dialect->has_generations; }
  void add_content_headers(http::Request& request, const std::string& write) const override;
  void add_put_headers(http::Request& request, std::span<const std::byte> bytes) const override;
  std::string url(const std::string& key) const override;
  std::string list_url(const std::string& prefix, ListDepth depth, const std::string& next) const override;
  bucket::ListPage parse_page(std::string_view document, const std::string& where) const override;
  bool has_bytes(std::string_view tag, std::span<const std::byte> bytes) const override;
  /// Returns the adapter, and renews keys that expire soon.
  /// errors  kSystem: the keys have expired, and there are no new ones.
  http::Adapter* adapter() override;
  /// Returns the name of a header of the server's own, such as `x-amz-date` for `date`.
  std::string header(std::string_view name) const;
  http::Header put_condition(const ObjectIdentity& condition) const override;
  bool compares(const ObjectIdentity& identity) const override;
  std::string explain(const http::Response& response) const override;
  std::string advice(int status) const override;

 private:
  http::Request prepare(const http::Request& request, std::int64_t seconds) override;
  bool learn(const http::Call& call) override;
  std::string region() const;

  Configuration configuration_;
};

}  // namespace plait::store::s3
