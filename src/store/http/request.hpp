/// Requests and responses of HTTP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/http/traced_object.hpp"

namespace plait::store::http {

struct Header {
  std::string name;
  std::string value;
};

struct Response {
  int status = 0;
  std::vector<Header> headers{};  ///< names in lower case
  std::string text{};             ///< body that no sink has received; empty if it is longer than kMaxText bytes

  bool ok() const { return status >= 200 && status < 300; }
  /// Returns the value of a header; empty if there is none.  name: in lower case.
  std::string_view header(std::string_view name) const;

  static constexpr std::size_t kMaxText = std::size_t{16} << 20;
};

/// Receives the body of a successful response, on the client's thread. begin() and receive() may throw if memory is
/// lacking.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Begins a body; called once for each attempt. head: status and headers. Returns false to abandon the transfer.
  virtual bool begin(const Response& head) = 0;
  /// Receives the next bytes of the body. Returns false to abandon the transfer.
  virtual bool receive(std::span<const std::byte> bytes) = 0;
  /// Returns true if all expected bytes have arrived. Otherwise the request is repeated.
  virtual bool complete() const = 0;
};

struct Request {
  std::string method = "GET";
  std::string url{};
  std::vector<Header> headers{};
  std::span<const std::byte> body{};  ///< body of a PUT or POST
  Sink* sink = nullptr;               ///< without one the body is in Response::text
  bool repeats_conflicts = false;     ///< repeats after status 409, for conditional puts
  std::int64_t max_milliseconds = 0;  ///< duration of an attempt; 0: any, while bytes arrive
  long stall_seconds = 0;             ///< seconds without a byte that end an attempt, if more than usual
  int max_attempts = 0;               ///< 0: the number in the setting AWS_MAX_ATTEMPTS
  bool direct = false;                ///< not through a proxy
  std::string region{};               ///< region that Adapter::prepare() has used, for Adapter::learn()
};

struct Call;

/// Adapts requests to a server: authenticates or redirects them. The adapter guards its own state by a lock.
/// threads  The client's.
class Adapter {
 public:
  virtual ~Adapter() = default;
  /// Returns the request to send now. seconds: time since 1970 by the server's clock.
  virtual Request prepare(const Request& request, std::int64_t seconds) = 0;
  /// Learns from a failed call, for example the bucket's region, which the response states. Returns true if the request
  /// should be repeated because the adapter knows more than when it prepared this attempt; it may have learned that
  /// from another call meanwhile.
  virtual bool learn(const Call& call) = 0;
};

/// One request, with its repetitions (attempts). The caller owns it, and must not access it until it is complete.
struct Call {
  Request request{};
  Adapter* adapter = nullptr;  ///< may be nullptr
  TracedObject traced{};

  Response response{};     ///< the last response, if `error` is empty
  std::string error{};     ///< reason why there is no response
  int error_code = 0;      ///< errno that describes the reason
  bool abandoned = false;  ///< the sink has abandoned the transfer
  int attempts = 0;
  int quick_repeats = 0;  ///< attempts that learn() has caused
  std::string region{};   ///< region that the last attempt has used
  std::int64_t skew = 0;  ///< seconds by which the last attempt assumed the server's clock to be ahead of this host's
};

/// Returns seconds since 1970 for a date such as `Wed, 21 Oct 2015 07:28:00 GMT`.
std::optional<std::int64_t> parse_date(std::string_view date);
/// Returns the number that is the text of a header; -1 if it is not a number.
std::int64_t parse_count(std::string_view text);

/// The part of an object in a response: `Content-Range: bytes 0-99/1000`.
struct ContentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t object_bytes = -1;  ///< -1 if the server does not state it
};

/// Parses the header of a response with a range; nothing if it is not valid.
std::optional<ContentRange> parse_content_range(std::string_view header);
/// Returns the host and the port of a URL, such as `127.0.0.1:8333`.
std::string_view url_authority(std::string_view url);
/// Replaces all bytes except unreserved characters, and those in `kept`, by `%XX`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace plait::store::http
