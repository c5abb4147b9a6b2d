// Reads of objects by HTTP.
//
// Each read of a batch becomes one or more exchanges: one for the whole object, one for each piece of its ranges
// (pieces.hpp), or a HEAD if only the size is needed. At most http::max_in_flight() exchanges of a batch are in flight.
// When all exchanges of a read are complete, its result is set on the caller's thread.
//
// The pieces of one read must belong to one content. All of them carry the caller's `If-Match`; without one their ETags
// are compared afterwards. If they differ, another program has replaced the object in between, which is an error.

#include "store/objects/web/web_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/http/settings.hpp"
#include "store/objects/web/pieces.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::web {

namespace {

using base::text;

/// Maximum number of objects of a store whose numbers in the trace are cached.
constexpr std::size_t kMaxTracedObjects = 4096;

int to_system_code(int status) {
  if (status == 401 || status == 403 || status == 405) return EACCES;
  return status == 404 ? ENOENT : EIO;
}

/// Returns the size of an object that the answer with status 416 (the range is outside the object) states: 1000 for
/// `Content-Range: bytes */1000`, 0 if the header is missing.
std::int64_t parse_object_bytes(const http::Response& response) {
  const std::string_view range = response.header("content-range");
  return range.starts_with("bytes */") ? std::max<std::int64_t>(http::parse_count(range.substr(8)), 0) : 0;
}

void add_conditions(const GetOptions& options, std::vector<http::Header>& headers) {
  if (options.if_match != nullptr && is_strong(*options.if_match))
    headers.push_back({"If-Match", options.if_match->tag});
  if (options.if_none_match != nullptr && is_strong(*options.if_none_match))
    headers.push_back({"If-None-Match", options.if_none_match->tag});
}

}  // namespace

/// One HTTP request of a read, and what receives its answer.
struct WebObjects::Exchange : http::Call {
  std::size_t index = 0;             ///< of the read in its batch
  std::unique_ptr<PieceSink> piece;  ///< for a piece of the ranges
  std::unique_ptr<WholeSink> whole;  ///< for a whole object; a HEAD has neither
};

struct WebObjects::Batch {
  /// A read of the batch.
  struct Read {
    GetRequest* request = nullptr;
    std::size_t begin = 0;  ///< first of its exchanges
    std::size_t end = 0;
    std::size_t unfinished = 0;  ///< number of exchanges that are not complete
  };
  std::vector<Read> reads;
  std::vector<std::unique_ptr<Exchange>> exchanges;
};

ObjectIdentity to_identity(const http::Response& response) {
  const std::int64_t generation = std::max<std::int64_t>(http::parse_count(response.header("x-goog-generation")), 0);
  if (const std::string_view tag = response.header("etag"); !tag.empty()) return {{generation}, std::string(tag)};
  return {{generation}, text("changed ", response.header("last-modified"), ", ", response.header("content-length"))};
}

bool is_strong(const ObjectIdentity& identity) { return identity.tag.starts_with('"'); }

std::string to_prefix(std::string_view key, const std::string& location) {
  while (key.ends_with('/')) key.remove_suffix(1);
  for (std::string_view remaining = key; !remaining.empty();) {
    const std::string_view part = remaining.substr(0, remaining.find('/'));
    if (part.empty() || part == "." || part == "..")
      base::throw_argument_error(location, ": \"", part, "\" is no part of the key of an object; leave it out");
    remaining.remove_prefix(std::min(remaining.size(), part.size() + 1));
  }
  return key.empty() ? std::string() : text(key, '/');
}

void throw_failed(const std::string& what, const http::Call& call, const Server& server) {
  const std::string description = without_secrets(text(what, ": "));
  const std::string_view host = http::url_authority(call.request.url);
  const std::string attempts = call.attempts > 1 ? text(" after ", call.attempts, " attempts") : std::string();
  if (!call.error.empty())
    base::throw_system_error(call.error_code, description, "the request to ", host, " failed", attempts, ": ",
                             call.error, "; check the name and the network, and try again");
  const int status = call.response.status;
  const std::string advice = server.advice(status);
  base::throw_system_error(to_system_code(status), description, host, " answered with status ", status,
                           server.explain(call.response), attempts, advice.empty() ? "; try again later" : "; ",
                           advice);
}

void WebObjects::throw_failed(const char* operation, const std::string& object, const http::Call& call) const {
  web::throw_failed(text("cannot ", operation, ' ', object_location(object)), call, *server_);
}

void WebObjects::trace(http::Call& call, const std::string& object, http::TracedObject part) const {
  if (!base::recording()) return;
  const std::scoped_lock lock(mutex_);
  if (traced_.size() >= kMaxTracedObjects) traced_.clear();  // the objects get new numbers
  std::uint32_t& number = traced_[object];
  if (number == 0) number = base::recorded_name(without_options(object_location(object)));
  call.traced = part;
  call.traced.file = number;
}

void WebObjects::prepare(http::Call& call, const std::string& object, std::string method) const {
  call.request.method = std::move(method);
  call.request.url = server_->url(key(object));
  call.adapter = server_->adapter();
  trace(call, object, {.kind = PLAIT_EVENT_METADATA, .offset = -1});
}

void WebObjects::perform(http::Call& call, const std::string& object, std::string method) {
  prepare(call, object, std::move(method));
  http::perform(call);
}

std::unique_ptr<WebObjects::Exchange> WebObjects::make_exchange(const GetRequest& request, std::size_t index) const {
  auto exchange = std::make_unique<Exchange>();
  exchange->index = index;
  exchange->request.url = server_->url(key(request.object));
  exchange->adapter = server_->adapter();
  add_conditions(request.options, exchange->request.headers);
  return exchange;
}

void WebObjects::add_exchanges(Batch& batch, GetRequest& request, std::size_t index) const {
  const std::size_t begin = batch.exchanges.size();
  if (request.whole) {
    std::unique_ptr<Exchange> exchange = make_exchange(request, index);
    exchange->whole = std::make_unique<WholeSink>(request.options.max_bytes);
    exchange->request.sink = exchange->whole.get();
    trace(*exchange, request.object, {.bytes = -1});
    batch.exchanges.push_back(std::move(exchange));
  } else {
    for (Piece& piece : make_pieces(request.ranges)) {
      std::unique_ptr<Exchange> exchange = make_exchange(request, index);
      exchange->request.headers.push_back({"Range", piece.range()});
      trace(*exchange, request.object, {.offset = std::max<std::int64_t>(piece.begin, -1), .bytes = piece.bytes});
      exchange->piece = std::make_unique<PieceSink>(std::move(piece));
      exchange->request.sink = exchange->piece.get();
      batch.exchanges.push_back(std::move(exchange));
    }
    if (batch.exchanges.size() == begin) {
      batch.exchanges.push_back(make_exchange(request, index));
      batch.exchanges.back()->request.method = "HEAD";
      trace(*batch.exchanges.back(), request.object, {.kind = PLAIT_EVENT_METADATA, .offset = -1});
    }
  }
  batch.reads.push_back({&request, begin, batch.exchanges.size(), batch.exchanges.size() - begin});
}

/// Sets the result of a read whose answer has no bytes of the object, such as one with status 404. Returns false if the
/// answer has bytes, which the caller must then check.
bool WebObjects::finish_without_body(const Exchange& exchange, GetRequest& request) const {
  GetResult& result = request.result;
  if (exchange.piece && exchange.piece->has_ignored_range())
    base::throw_system_error(ENOTSUP, "cannot read ranges of ", object_location(request.object), ": the server ",
                             http::url_authority(exchange.request.url), " ignores ranges, and the object has ",
                             exchange.piece->object_bytes() < 0 ? std::string("an unknown number of bytes")
                                                                : base::bytes_text(exchange.piece->object_bytes()),
                             "; download it and open the file");
  if (!exchange.error.empty()) throw_failed("read", request.object, exchange);
  switch (exchange.response.status) {
    case 404: result.status = GetStatus::kMissing; return true;
    case 304:
      result.status = GetStatus::kMatch;
      result.identity.numbers = to_identity(exchange.response).numbers;
      if (request.options.if_none_match != nullptr) result.identity.tag = request.options.if_none_match->tag;
      return true;
    case 412: result.status = GetStatus::kMismatch; return true;
    case 416:
      result.status = GetStatus::kOutside;
      result.bytes = parse_object_bytes(exchange.response);
      return true;
    default:
      if (!exchange.response.ok()) throw_failed("read", request.object, exchange);
      if (exchange.abandoned && exchange.piece)
        base::throw_system_error(EIO, "cannot read ", object_location(request.object), ": the server ",
                                 http::url_authority(exchange.request.url), " has answered with another range (",
                                 exchange.response.header("content-range"), ") than the request ",
                                 exchange.piece->piece().range(), "; download the object and open the file");
      return false;
  }
}

/// Checks that all pieces belong to one content of the object.
void WebObjects::check_pieces(std::span<std::unique_ptr<Exchange>> exchanges, GetRequest& request) const {
  const Exchange& first = *exchanges[0];
  for (const std::unique_ptr<Exchange>& other : exchanges.subspan(1))
    if (other->response.header("etag") != first.response.header("etag") ||
        other->response.header("last-modified") != first.response.header("last-modified") ||
        other->piece->object_bytes() != first.piece->object_bytes())
      base::throw_system_error(ESTALE, "cannot read ", object_location(request.object),
                               ": another program has replaced it while it was read; read it again");
}

void WebObjects::finish_pieces(std::span<std::unique_ptr<Exchange>> exchanges, GetRequest& request) const {
  GetResult& result = request.result;
  for (const std::unique_ptr<Exchange>& exchange : exchanges)
    if (finish_without_body(*exchange, request)) return;
  const http::Response& first = exchanges[0]->response;
  result.identity = to_identity(first);
  result.bytes =
      exchanges[0]->piece ? exchanges[0]->piece->object_bytes() : http::parse_count(first.header("content-length"));
  if (exchanges[0]->piece && first.header("etag").empty())  // the length of the piece does not identify the object
    result.identity.tag = text("changed ", first.header("last-modified"), ", ", result.bytes);
  if (!meets(request.options, result)) return;
  check_pieces(exchanges, request);
  const bool is_inside = std::ranges::all_of(
      exchanges, [](const auto& exchange) { return !exchange->piece || exchange->piece->is_inside(); });
  result.status = is_inside ? GetStatus::kRead : GetStatus::kOutside;
}

void WebObjects::finish(Batch& batch, std::size_t index, GetMemory memory) const {
  const Batch::Read& read = batch.reads[index];
  GetRequest& request = *read.request;
  const std::span exchanges = std::span(batch.exchanges).subspan(read.begin, read.end - read.begin);
  request.result = {};
  Exchange& first = *exchanges[0];
  if (!first.whole) return finish_pieces(exchanges, request);
  if (finish_without_body(first, request)) return;
  if (first.abandoned)
    base::throw_system_error(EFBIG, "cannot read ", object_location(request.object), ": it has more than ",
                             request.options.max_bytes, " bytes, the maximum for such an object; copy or download it ",
                             "again");
  const std::vector<std::byte>& content = first.whole->content();
  request.result.bytes = std::ssize(content);
  request.result.identity = to_identity(first.response);
  if (first.response.header("etag").empty())
    request.result.identity.tag = text("changed ", first.response.header("last-modified"), ", ", content.size());
  if (!meets(request.options, request.result)) return;
  const std::span<std::byte> destination = memory(request, request.result.bytes);
  if (!content.empty()) std::memcpy(destination.data(), content.data(), content.size());
  request.result.status = GetStatus::kRead;
}

void WebObjects::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  Batch batch;
  for (std::size_t i = 0; i < requests.size(); ++i) add_exchanges(batch, requests[i], i);
  http::Completions completions;
  std::exception_ptr failure;
  std::size_t next = 0;
  std::size_t in_flight = 0;
  const std::size_t max_in_flight = http::max_in_flight();
  while (true) {
    for (; !failure && next < batch.exchanges.size() && in_flight < max_in_flight; ++in_flight)
      http::submit(*batch.exchanges[next++], completions);
    // After a failure no more requests are sent. Wait for those in flight, which still write into the caller's memory.
    if (in_flight == 0) break;
    const std::size_t index = static_cast<Exchange&>(completions.wait()).index;
    --in_flight;
    if (--batch.reads[index].unfinished > 0 || failure) continue;
    try {
      finish(batch, index, memory);
      for (std::size_t i = batch.reads[index].begin; i < batch.reads[index].end; ++i) batch.exchanges[i].reset();
      done(requests[index]);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

GetResult WebObjects::get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) {
  GetRequest request{.object = object, .ranges = std::move(ranges), .options = options};
  get_all({&request, 1}, [](GetRequest&, std::int64_t) { return std::span<std::byte>(); }, [](GetRequest&) {});
  return std::move(request.result);
}

GetResult WebObjects::get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                                const GetOptions& options) {
  GetRequest request{.object = object, .whole = true, .options = options};
  get_all({&request, 1}, [&](GetRequest&, std::int64_t bytes) { return memory(bytes); }, [](GetRequest&) {});
  return std::move(request.result);
}

ObjectIdentity WebObjects::identity(const std::string& object) {
  GetResult result = get(object, {}, {.identity = true});
  return result.found() ? std::move(result.identity) : ObjectIdentity{};
}

bool WebObjects::contains(const std::string& object) { return get(object, {}, {}).found(); }

}  // namespace plait::store::web
