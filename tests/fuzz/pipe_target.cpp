// Passes any bytes to the code that receives messages of a pipe: the handshake, frames for a writer, and its answers.
#include "pipe_target.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "pipe/messages.hpp"
#include "pipe/protocol.hpp"
#include "pipe/reader/delivery.hpp"
#include "pipe/step_description.hpp"
#include "pipe/writer/control.hpp"
#include "pipe/writer/service.hpp"
#include "pipe/writer/step_store.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/serving/frame_reader.hpp"

namespace plait::fuzz {

namespace {

using namespace plait::pipe;
using namespace plait::transport::native;

void demand_of_pipe(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: pipe: %s\n", what);
  std::abort();
}

// ---------------------------------------------------------------------------------------------------- hello

void run_hello(std::string_view bytes) {
  static const Key kKey;
  ServerHandshake handshake(kKey);
  std::size_t max_count = 1;  // bytes arrive in pieces of 1, 2, ... 97 bytes
  for (auto unread = std::as_bytes(std::span(bytes)); !unread.empty(); max_count = max_count % 97 + 1) {
    const auto buffer = handshake.input_space();
    demand_of_pipe(!buffer.empty() && buffer.size() <= sizeof(Hello),
                   "an unauthenticated client may send more than a hello");
    const std::size_t count = std::min({max_count, buffer.size(), unread.size()});
    std::memcpy(buffer.data(), unread.data(), count);
    unread = unread.subspan(count);
    const ServerHandshake::Status outcome = handshake.process_input(count);
    demand_of_pipe(outcome != ServerHandshake::Status::kProved, "a client without the key was authenticated");
    if (outcome == ServerHandshake::Status::kReject || outcome == ServerHandshake::Status::kReport) return;
  }
}

std::vector<std::string> valid_hellos() {
  const Hello hello;
  const std::string text(reinterpret_cast<const char*>(&hello), sizeof hello);
  return {text, text + std::string(sizeof(Proof), 'p')};
}

// ---------------------------------------------------------------------------------------------------- frames

/// A peer that discards everything that is sent to it.
class DiscardingPeer : public Peer {
 public:
  std::uint64_t number() const override { return 1; }
  bool is_local() const override { return true; }
  void send(FrameHead head, std::span<const std::byte> body, int /*descriptor*/) override {
    demand_of_pipe(head.bytes == body.size(), "a frame whose head is wrong");
  }
  void stream(FrameHead /*head*/, std::uint64_t bytes, Produce produce, std::function<void(bool)> ended) override {
    static std::vector<std::byte> piece(kMaxStream);
    bool whole = true;
    for (std::uint64_t done = 0; done < bytes && whole; done += kMaxStream)
      whole = produce(done, std::span(piece).first(std::min(kMaxStream, bytes - done)));
    if (ended) ended(whole);
  }
  void close() override { closed = true; }

  bool closed = false;
};

constexpr const char* kMatrix = "13x11 (block, cyclic(2)) onto (2, 2)";
constexpr const char* kVector = "100 (cyclic(3)) onto (4)";

StepDescription make_description() {
  StepDescription step;
  step.attributes = {{"count", std::int64_t{3}}, {"time", 0.5}, {"name", std::string("x")}};
  step.variables = {{"data", {{13, 11}, "<f8", 8, Order::kC}, kMatrix}, {"u", {{100}, "|V3", 3, Order::kC}, kVector}};
  return step;
}

/// Returns a store with one step of a process that has all ranks.
std::shared_ptr<StepStore> make_step_store() {
  auto steps = std::make_shared<StepStore>(2, -1);
  steps->begin(0, 0);
  for (const Variable& variable : make_description().variables) {
    const Layout layout = Layout::parse(variable.layout);
    std::vector<std::vector<std::byte>> memory;
    std::vector<copy::LocalArray> arrays;
    for (const std::int64_t rank : layout.rank_numbers()) {
      const std::int64_t bytes = layout.local_elements(rank) * variable.type.element_bytes;
      memory.emplace_back(static_cast<std::size_t>(bytes), std::byte{1});
      arrays.push_back(dense_array(layout, rank, memory.back().data(), variable.type.element_bytes));
    }
    steps->add(layout, variable.type.element_bytes, arrays);
  }
  return steps;
}

void run_frames(std::string_view bytes) {
  static const std::shared_ptr<StepStore> kSteps = make_step_store();
  Options options;
  options.name = "fuzz";
  options.when_full = FullQueuePolicy::kDropOldest;
  options.timeout = std::chrono::duration<double>(0);
  const StepDescription step = make_description();
  const auto control = std::make_shared<WriterControl>("pipe:fuzz", step.variables[0].type, "fuzz", 1, options);
  (void)control->begin();
  control->publish(step, WriterControl::make_frame(step));
  WriterService service(kSteps, control);
  service.set_directory({"? host local:x"}, {"? host local:x"});
  const auto peer = std::make_shared<DiscardingPeer>();
  FrameReader reader;
  std::array<std::byte, 1000> common;
  auto unread = std::as_bytes(std::span(bytes));
  while (!unread.empty() && !peer->closed) {
    const auto buffer = reader.input_space(common);
    demand_of_pipe(!buffer.empty(), "there is no buffer for the next frame");
    const std::size_t count = std::min(buffer.size(), unread.size());
    std::memcpy(buffer.data(), unread.data(), count);
    unread = unread.subspan(count);
    const auto outcome =
        reader.process_input(buffer.first(count), [&](const FrameHead& head, std::span<const std::byte> body) {
          service.received(peer, head, body);
          return !peer->closed;
        });
    if (outcome != FrameReader::Outcome::kMore) break;
  }
  service.closed(peer, "its bytes end");
  try {
    control->finish();
  } catch (const Error& error) {  // finish() reports if the reader has failed
    demand_of_pipe(error.what()[0] != '\0', "an error says nothing");
  }
}

std::string make_frame(Frame kind, const std::string& body) {
  const FrameHead head{static_cast<std::uint32_t>(kind), 0, 0, body.size()};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + body;
}

std::string make_attach_frame() {
  const AttachRequest request{"a reader", 2, "<f8", Extents{13, 11}, copy::Casting::kNo};
  return make_frame(Frame::kAttach, base::encode(request));
}

std::vector<std::string> valid_frames() {
  const std::string no_body;
  std::vector<std::string> all;
  all.push_back(make_attach_frame() + make_frame(Frame::kNext, no_body) + make_frame(Frame::kDone, no_body) +
                make_frame(Frame::kNext, no_body) + make_frame(Frame::kLeave, base::encode(std::string())));
  all.push_back(make_attach_frame() + make_frame(Frame::kAbort, base::encode(std::string("it failed"))) +
                make_frame(Frame::kStatus, no_body));
  all.push_back(make_frame(Frame::kFindEndpoints, base::encode(std::int64_t{1})) +
                make_frame(Frame::kMap, base::encode(0)));
  for (const std::int64_t variable : {0, 1})
    for (const bool region : {false, true}) {
      ElementRequest request;
      request.variable = variable;
      request.sender = 1;
      request.receiver = 2;
      request.fill_halo = region;
      if (region) {
        request.layout = variable == 0 ? "7x8 (block, *) onto (3) halo=(1, 1)" : "30 (block) onto (3) halo=((1, 2))";
        request.region = variable == 0 ? Region{{2, 7, 1, false}, {0, 8, 1, false}} : Region{{4, 30, 3, false}};
      } else {
        request.layout = variable == 0 ? "13x11 (cyclic, balanced) onto (2, 2)" : "100 (cyclic(7)) onto (3)";
      }
      all.push_back(make_frame(Frame::kGet, base::encode(request)));
    }
  return all;
}

// ---------------------------------------------------------------------------------------------------- answers

/// Checks that bytes that can be decoded are the only encoding of the value.
template <class Value>
void check_encoding(std::string_view bytes) {
  demand_of_pipe(base::encode(base::decode<Value>(bytes, kOtherEnd)) == bytes, "two encodings of one value");
}

/// The first byte states the kind of an answer; its body follows.
void run_answers(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view answer = bytes.substr(1);
  try {
    switch (bytes.front() % 3) {
      case 0: (void)Endpoints::parse(answer); break;
      case 1: check_encoding<StatusAnswer>(answer); break;
      default: {
        const auto step = base::decode<StepDescription>(answer, kOtherEnd);
        demand_of_pipe(step.variables.size() <= answer.size() && step.attributes.size() <= answer.size(),
                       "more of a step than the bytes can hold");
        for (const Variable& variable : step.variables) {
          const Layout source = Layout::parse(variable.layout);
          const Layout target(source.shape(), std::vector(source.shape().size(), Distribution::collapsed()), {});
          const Region region;
          DeliveryBuffers buffers;
          const Delivery delivery(source, variable.type.element_bytes, {target, region, false, {0}}, buffers);
          (void)delivery.traffic();
        }
      }
    }
  } catch (const Error& error) {
    demand_of_pipe(error.what()[0] != '\0', "an error says nothing");
  }
}

std::vector<std::string> valid_answers() {
  StatusAnswer status;
  status.program = "a writer";
  status.type = make_description().variables[1].type;
  status.readers = {{"a reader", 1, 4}};
  status.newest = make_description();
  return {std::string(1, '\0') + "boot/4711 node7 local:plait-1 tcp:10.0.0.1:4711 tcp:[2001:db8::1]:4711",
          '\1' + base::encode(status), '\2' + base::encode(make_description())};
}

}  // namespace

std::vector<MessageKind> pipe_kinds() {
  return {{"pipe-hello", run_hello, valid_hellos},
          {"pipe-frames", run_frames, valid_frames},
          {"pipe-answers", run_answers, valid_answers}};
}

}  // namespace plait::fuzz
