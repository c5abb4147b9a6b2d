/// A container of Azure Blob Storage: what S3 calls a bucket.
#pragma once

#include <string>
#include <string_view>

#include "store/objects/azure/configuration.hpp"
#include "store/objects/bucket/bucket.hpp"

namespace plait::store::azure {

/// Signs requests for blobs of one container.  threads  Any.
class Container : public bucket::Bucket, private http::Adapter {
 public:
  explicit Container(Configuration configuration) : configuration_(std::move(configuration)) {}

  std::string_view scheme() const override { return "az"; }
  std::string id() const override { return configuration_.endpoint + '/' + configuration_.container; }
  bool has_conditions() const override { return configuration_.conditions; }
  std::string write_header() const override { return "x-ms-meta-plaitwrite"; }
  std::string url(const std::string& key) const override;
  /// Returns the adapter, and renews a token that expires soon.
  /// errors  kSystem: the token has expired, and there is no new one.
  http::Adapter* adapter() override;
  std::string explain(const http::Response& response) const override;
  std::string advice(int status) const override;
  void add_put_headers(http::Request& request, std::span<const std::byte> bytes) const override;
  http::Header put_condition(const ObjectIdentity& condition) const override;
  bool is_unmet(const http::Response& response, const ObjectIdentity& condition) const override;
  bool repeats_conflicts() const override { return false; }
  bool has_suffix_ranges() const override { return false; }
  std::string list_url(const std::string& prefix, ListDepth depth, const std::string& next) const override;
  bucket::ListPage parse_page(std::string_view document, const std::string& where) const override;

 private:
  http::Request prepare(const http::Request& request, std::int64_t seconds) override;
  bool learn(const http::Call& /*call*/) override { return false; }

  Configuration configuration_;
};

}  // namespace plait::store::azure
