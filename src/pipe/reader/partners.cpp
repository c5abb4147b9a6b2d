#include "pipe/reader/partners.hpp"

#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using base::text;
using transport::native::Clock;
using transport::native::Endpoints;
using transport::native::FrameHead;
using transport::native::Link;

namespace {

constexpr std::chrono::seconds kConnecting{15};

[[noreturn]] void fail_frame() {
  throw Error(ErrorKind::kSystem, "the writer of a pipe sends what no reader expects; use the same Plait at both ends",
              EPROTO);
}

void send(Link& link, Frame kind, const FieldWriter& fields) {
  if (fields.bytes().size() > transport::native::kMostReceived)
    throw Error(ErrorKind::kArgument, text("a layout whose text has ", fields.bytes().size(),
                                           " bytes is too irregular for a pipe between "
                                           "hosts; read in a simpler one and redistribute"));
  const std::span<const std::byte> parts[] = {fields.bytes()};
  link.send({static_cast<std::uint32_t>(kind), 0, 0, fields.bytes().size()}, parts, no_limit());
}

}  // namespace

Clock::time_point no_limit() { return Clock::now() + std::chrono::hours(24 * 365 * 10); }

FrameHead receive_frame(Link& link, std::string& body, Clock::time_point until) {
  const FrameHead head = link.receive(until);
  body.resize(head.bytes);
  const std::span<std::byte> parts[] = {std::as_writable_bytes(std::span(body))};
  link.take(parts, no_limit());
  if (head.kind == static_cast<std::uint32_t>(Frame::kRefused)) {
    FieldReader fields(body);
    const auto code = static_cast<int>(fields.number());
    throw Error(code == 0 || code == EINVAL ? ErrorKind::kArgument : ErrorKind::kSystem, fields.text(),
                code == EINVAL ? 0 : code);
  }
  return head;
}

const std::byte* Partner::slot(int number, std::int64_t step) {
  SlotMemory& memory = slots_[number];
  if (memory.data() == nullptr) {
    FieldWriter fields;
    fields.put(std::int64_t{number});
    send(*link_, Frame::kMap, fields);
    std::string body;
    if (receive_frame(*link_, body, no_limit()).kind != static_cast<std::uint32_t>(Frame::kSlot)) fail_frame();
    memory.map(link_->descriptor());
  }
  if (memory.head().bytes > memory.bytes()) memory.map_more();
  check(number, step);
  return memory.data();
}

void Partner::check(int number, std::int64_t step) {
  if (slots_[number].step() != step)
    throw Error(ErrorKind::kSystem,
                text("step ", step, " is not there any more: the writer has given this reader up, and gone on"),
                ESTALE);
}

void Partner::ask(const Wanted& wanted) {
  FieldWriter fields;
  wanted.put(fields);
  send(*link_, Frame::kGet, fields);
}

std::int64_t Partner::receive(std::vector<std::byte>& stage, std::int64_t most) {
  const FrameHead head = link_->receive(no_limit());
  if (head.kind != static_cast<std::uint32_t>(Frame::kData)) {
    std::string body(head.bytes, '\0');
    const std::span<std::byte> parts[] = {std::as_writable_bytes(std::span(body))};
    link_->take(parts, no_limit());
    FieldReader fields(body);
    const auto code = static_cast<int>(fields.number());
    throw Error(ErrorKind::kSystem, fields.text(), code);
  }
  if (head.bytes == 0 || head.bytes > static_cast<std::uint64_t>(most)) fail_frame();
  stage.resize(head.bytes);
  const std::span<std::byte> parts[] = {stage};
  link_->take(parts, no_limit());
  return static_cast<std::int64_t>(head.bytes);
}

std::unique_ptr<Link> Partners::connect(const Endpoints& to, std::int64_t process) const {
  try {
    return Link::connect(to, key_, Clock::now() + kConnecting);
  } catch (const Error& error) {
    throw Error(error.kind(), text(shown_, ": cannot reach process ", process, " of the writer: ", error.what()),
                error.system_code());
  }
}

Endpoints Partners::find(std::int64_t process) {
  const auto ask = [&](const Endpoints& whom, std::int64_t who) {
    const std::unique_ptr<Link> link = connect(whom, who);
    FieldWriter fields;
    fields.put(process);
    send(*link, Frame::kWhere, fields);
    std::string body;
    if (receive_frame(*link, body, Clock::now() + kConnecting).kind != static_cast<std::uint32_t>(Frame::kThere))
      fail_frame();
    return Endpoints::parse(body);
  };
  if (process == 0) return first_;
  const Endpoints near = ask(first_, 0);
  return process < kGroup || process % kGroup == 0 ? near : ask(near, process - process % kGroup);
}

Partner& Partners::of(std::int64_t process) {
  std::unique_ptr<Partner>& partner = partners_[process];
  if (!partner) {
    try {
      partner = std::make_unique<Partner>(connect(find(process), process));
    } catch (...) {
      partners_.erase(process);
      throw;
    }
  }
  return *partner;
}

}  // namespace plait::pipe
