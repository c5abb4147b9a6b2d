#include "store/http/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"

namespace plait::store::http {

namespace {

// Limits and buffers that are passed to libcurl.
constexpr long kConnectMilliseconds = 10'000;
constexpr long kMaxRedirects = 10;
constexpr long kBufferBytes = 512 * 1024;
constexpr long kUploadBufferBytes = 256 * 1024;

/// Returns the errno that describes a CURLcode.
int to_errno(int result) {
  switch (result) {
    case kCurlNoProxy:
    case kCurlNoHost: return EHOSTUNREACH;
    case kCurlNotConnected: return ECONNREFUSED;
    case kCurlTimedOut: return ETIMEDOUT;
    case kCurlCertificate:
    case kCurlTls: return EPROTO;
    default: return EIO;
  }
}

}  // namespace

long stall_seconds() {
  const char* setting = std::getenv("PLAIT_HTTP_TIMEOUT");
  const long seconds = setting != nullptr ? std::strtol(setting, nullptr, 10) : 0;
  return seconds > 0 ? seconds : 30;
}

void Transfer::begin(Call& call, Completions& completions, std::int64_t seconds) {
  call_ = &call;
  completions_ = &completions;
  call.response = {};
  call.error.clear();
  call.error_code = 0;
  call.abandoned = false;
  sent_ = call.adapter != nullptr ? call.adapter->prepare(call.request, seconds) : call.request;
  call.region = sent_.region;
  body_begun_ = false;
  lacks_memory_ = false;
  uploaded_ = 0;
  received_ = 0;
  error_text_[0] = '\0';
  set_options();
}

void Transfer::set_options() {
  const CurlLibrary& library = curl();
  library.curl_easy_reset(easy_);
  const auto set = [&](CurlOption option, auto value) { library.curl_easy_setopt(easy_, option, value); };
  headers_.reset();
  const auto add_header = [&](const char* line) {
    CurlList* const list_before = headers_.release();
    CurlList* const longer = library.curl_slist_append(list_before, line);
    // Without memory the header is missing, and the server rejects the request.
    headers_ = {longer != nullptr ? longer : list_before, library.curl_slist_free_all};
  };
  if (const std::string certificates = certificate_file(); !certificates.empty())
    set(kCurlCaFile, certificates.c_str());
  set(kCurlUrl, sent_.url.c_str());
  set(kCurlPrivate, static_cast<void*>(this));
  set(kCurlErrorBuffer, error_text_.data());
  set(kCurlUserAgent, "plait");
  set(kCurlNoSignal, 1L);
  set(kCurlPathAsIs, 1L);
  set(kCurlHttpVersion, kCurlHttp11);  // many connections are faster than many streams of one
  set(kCurlConnectTimeout, kConnectMilliseconds);
  if (sent_.max_milliseconds > 0) set(kCurlTimeout, static_cast<long>(sent_.max_milliseconds));
  if (sent_.direct) set(kCurlNoProxyHosts, "*");
  set(kCurlLowSpeedLimit, 1L);
  set(kCurlLowSpeedTime, std::max(stall_seconds(), sent_.stall_seconds));
  set(kCurlBufferBytes, kBufferBytes);
  set(kCurlProtocols, kCurlHttpOrTls);
  set(kCurlRedirectProtocols, kCurlHttpOrTls);
  // A signature is valid for one host only, so signed requests do not follow redirects.
  set(kCurlFollow, call_->adapter == nullptr ? 1L : 0L);
  set(kCurlMaxRedirects, kMaxRedirects);
  set(kCurlHeaderFunction, &Transfer::on_header);
  set(kCurlHeaderData, static_cast<void*>(this));
  set(kCurlWriteFunction, &Transfer::on_body);
  set(kCurlWriteData, static_cast<void*>(this));
  if (sent_.method == "HEAD") {
    set(kCurlNoBody, 1L);
  } else if (sent_.method == "PUT" || sent_.method == "POST") {
    set(kCurlUpload, 1L);
    if (sent_.method == "POST") set(kCurlCustomRequest, sent_.method.c_str());
    set(kCurlUploadBufferBytes, kUploadBufferBytes);  // older versions ignore it
    set(kCurlUploadBytes, static_cast<std::int64_t>(sent_.body.size()));
    set(kCurlReadFunction, &Transfer::on_upload);
    set(kCurlReadData, static_cast<void*>(this));
    set(kCurlSeekFunction, &Transfer::on_seek);
    set(kCurlSeekData, static_cast<void*>(this));
    // libcurl would wait a second for servers that do not answer "Expect: 100-continue".
    add_header("Expect:");
  } else if (sent_.method != "GET") {
    set(kCurlCustomRequest, sent_.method.c_str());
  }
  for (const Header& header : sent_.headers) add_header(base::text(header.name, ": ", header.value).c_str());
  set(kCurlHeaders, headers_.get());
}

/// Calls a function that allocates memory. Returns false if there is not enough memory, instead of throwing: no
/// exception may pass through libcurl, which calls the functions below.
template <typename Function>
bool Transfer::run_with_memory(const Function& function) {
  try {
    function();
  } catch (...) {
    lacks_memory_ = true;
  }
  return !lacks_memory_;
}

std::size_t Transfer::on_header(const char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  return transfer.run_with_memory([&] { transfer.parse_header_line({data, size * count}); }) ? size * count : 0;
}

void Transfer::parse_header_line(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  // Each response of a chain of redirects begins with a status line.
  if (line.starts_with("HTTP/")) {
    call_->response.headers.clear();
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  Header header{std::string(line.substr(0, colon)), {}};
  std::ranges::transform(header.name, header.name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  line.remove_prefix(colon + 1);
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  while (line.ends_with(' ')) line.remove_suffix(1);
  header.value = line;
  call_->response.headers.push_back(std::move(header));
}

std::size_t Transfer::on_body(const char* data, std::size_t size, std::size_t count, void* self) {
  const std::size_t bytes = size * count;
  auto& transfer = *static_cast<Transfer*>(self);
  bool continues = false;
  (void)transfer.run_with_memory([&] { continues = transfer.receive_body(std::as_bytes(std::span(data, bytes))); });
  return continues ? bytes : bytes + 1;  // libcurl ends a transfer if the result is not the number of bytes
}

/// Passes a part of the body to the sink, or appends it to the response's text. Returns false to end the transfer.
bool Transfer::receive_body(std::span<const std::byte> bytes) {
  Response& response = call_->response;
  if (!body_begun_) {
    long status = 0;
    curl().curl_easy_getinfo(easy_, kCurlStatus, &status);
    response.status = static_cast<int>(status);
    body_begun_ = true;
    call_->abandoned = response.ok() && sent_.sink != nullptr && !sent_.sink->begin(response);
  }
  if (call_->abandoned) return false;
  received_ += std::ssize(bytes);
  if (response.ok() && sent_.sink != nullptr)
    call_->abandoned = !sent_.sink->receive(bytes);
  else if (response.text.size() + bytes.size() <= Response::kMaxText)
    response.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !call_->abandoned;
}

std::size_t Transfer::on_upload(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t bytes = std::min(size * count, transfer.sent_.body.size() - transfer.uploaded_);
  if (bytes > 0) std::memcpy(data, transfer.sent_.body.data() + transfer.uploaded_, bytes);
  transfer.uploaded_ += bytes;
  return bytes;
}

int Transfer::on_seek(void* self, std::int64_t offset, int origin) {
  if (origin != 0) return 1;
  static_cast<Transfer*>(self)->uploaded_ = static_cast<std::size_t>(offset);
  return 0;
}

bool Transfer::end(int result) {
  if (result == kCurlOk && !body_begun_) (void)run_with_memory([&] { (void)receive_body({}); });
  if (lacks_memory_) {
    call_->error = "the memory does not suffice for the answer";
    call_->error_code = ENOMEM;
    return true;  // another attempt would fail as well
  }
  if (call_->abandoned) return true;
  if (result != kCurlOk) {
    call_->error = error_text_[0] != '\0' ? error_text_.data() : curl().curl_easy_strerror(result);
    call_->error_code = to_errno(result);
    return false;
  }
  return !call_->response.ok() || sent_.sink == nullptr || sent_.sink->complete();
}

}  // namespace plait::store::http
