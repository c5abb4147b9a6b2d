/// One attempt of a request in libcurl.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "store/http/client.hpp"
#include "store/http/curl_library.hpp"

namespace plait::store::http {

/// Returns the number of seconds without a byte after which a connection counts as lost: PLAIT_HTTP_TIMEOUT, or 30.
long stall_seconds();

/// A handle of libcurl for one request at a time, and the state of the attempt that it carries out.
/// threads  The client's.
class Transfer {
 public:
  explicit Transfer(void* easy) : easy_(easy) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void* easy() const { return easy_; }
  Call& call() const { return *call_; }
  Completions& completions() const { return *completions_; }
  /// Prepares an attempt. seconds: time since 1970 by the server's clock.
  void begin(Call& call, Completions& completions, std::int64_t seconds);
  /// Sets the call's response or error. result: the CURLcode of the transfer. Returns false if there is no response, or
  /// if its body is incomplete.
  bool end(int result);
  /// Returns the number of bytes of the body that have arrived.
  std::int64_t received() const { return received_; }

 private:
  static std::size_t on_header(const char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(const char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_upload(char* data, std::size_t size, std::size_t count, void* self);
  static int on_seek(void* self, std::int64_t offset, int origin);
  void set_options();
  void parse_header_line(std::string_view line);
  bool receive_body(std::span<const std::byte> bytes);
  template <typename Function>
  bool run_with_memory(const Function& function);

  void* easy_;
  Call* call_ = nullptr;
  Completions* completions_ = nullptr;
  Request sent_;  // the request as it was prepared
  std::unique_ptr<CurlList, void (*)(CurlList*)> headers_{nullptr, nullptr};
  bool body_begun_ = false;
  bool lacks_memory_ = false;
  std::size_t uploaded_ = 0;
  std::int64_t received_ = 0;
  std::array<char, kCurlErrorBytes> error_text_{};
};

}  // namespace plait::store::http
