/// Reads objects by HTTP: the part that all kinds of servers (S3, Google, Azure, plain HTTP) have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/http/client.hpp"
#include "store/objects/object_store.hpp"

namespace plait::store::web {

/// A server, or a bucket of it.  threads  Any.
class Server {
 public:
  virtual ~Server() = default;
  /// Returns the URL of an object, without a signature.
  virtual std::string url(const std::string& key) const = 0;
  /// Returns the adapter that signs requests; nullptr if they need no signature.
  virtual http::Adapter* adapter() = 0;
  /// Describes the body of a failed response in parentheses, such as ` (AccessDenied: Access Denied)`; may be empty.
  virtual std::string explain(const http::Response& /*response*/) const { return {}; }
  /// Returns advice about a status such as 403, as the end of an error; may be empty.
  virtual std::string advice(int /*status*/) const { return {}; }
};

/// Throws the error of a call that got no answer, or an answer with an error status.
/// what  the operation, such as `cannot read s3://bucket/a`
/// errors  kSystem: always.
[[noreturn]] void throw_failed(const std::string& what, const http::Call& call, const Server& server);

/// Objects that are read by GET and HEAD. Derived classes add lists and puts.
class WebObjects : public ObjectStore {
 public:
  using ObjectStore::get;
  using ObjectStore::put;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override;
  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override;
  void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) override;
  ObjectIdentity identity(const std::string& object) override;
  bool contains(const std::string& object) override;

  std::string key(const std::string& object) const { return prefix_ + object; }
  /// Returns the URL of an object on its server, without a signature.
  std::string object_url(const std::string& object) const { return server_->url(key(object)); }
  /// Sets which part of an object a call reads or writes, for the trace.
  /// cost  A lookup if a trace is recorded, else nothing.
  void trace(http::Call& call, const std::string& object, http::TracedObject part) const;
  /// Sends a request about an object.
  void perform(http::Call& call, const std::string& object, std::string method);
  /// Fills in the method, URL, signature and trace of the request that perform() sends.
  void prepare(http::Call& call, const std::string& object, std::string method) const;
  /// Throws the error of a call. operation: such as `read`.  errors  kSystem: always.
  [[noreturn]] void throw_failed(const char* operation, const std::string& object, const http::Call& call) const;

 protected:
  /// name: the location.  prefix: begin of the keys, which is empty or ends with `/`.
  WebObjects(std::string name, std::shared_ptr<Server> server, std::string prefix)
      : ObjectStore(std::move(name)), server_(std::move(server)), prefix_(std::move(prefix)) {}

  Server& server() const { return *server_; }
  const std::string& prefix() const { return prefix_; }

 private:
  struct Exchange;
  struct Batch;
  std::unique_ptr<Exchange> make_exchange(const GetRequest& request, std::size_t index) const;
  void add_exchanges(Batch& batch, GetRequest& request, std::size_t index) const;
  void finish(Batch& batch, std::size_t index, GetMemory memory) const;
  void finish_pieces(std::span<std::unique_ptr<Exchange>> exchanges, GetRequest& request) const;
  void check_pieces(std::span<std::unique_ptr<Exchange>> exchanges, GetRequest& request) const;
  bool finish_without_body(const Exchange& exchange, GetRequest& request) const;

  std::shared_ptr<Server> server_;
  std::string prefix_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::uint32_t, std::less<>> traced_;  // numbers that the trace has for objects
};

/// Returns the identity of the content that a response describes: its ETag, or else its time of change and its size.
/// The first number is its generation in Google Cloud Storage; 0 on other servers.
ObjectIdentity to_identity(const http::Response& response);
/// Returns true if servers compare this identity for `If-Match`: a strong ETag.
bool is_strong(const ObjectIdentity& identity);

/// Checks each part of a key, and returns the prefix of the keys below it.  errors  kArgument.
std::string to_prefix(std::string_view key, const std::string& location);

}  // namespace plait::store::web
