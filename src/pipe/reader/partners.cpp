// Connections of a reader's process to processes of the writer.
//
// Problem: a writer may have thousands of processes, and no process should know the addresses of all of them.
// Idea: the writer's processes form groups of kGroupProcesses (64). The first process of each group, its leader, knows
// the addresses of the group.
// Example: to find process 200, this process asks process 0 for the leaders, and then the leader of group 200 / 64 = 3,
// which is process 192, for the addresses of its group. Process 200 has the index 200 % 64 = 8 in them.

#include "pipe/reader/partners.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using transport::native::Clock;
using transport::native::Endpoints;
using transport::native::FrameHead;
using transport::native::Link;

namespace {

constexpr std::chrono::seconds kConnectTimeout{15};
/// Maximum bytes of a body, such as the description of a step, which is long for irregular layouts: they list every
/// index.
constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 30;

[[noreturn]] void throw_unexpected_frame() {
  base::throw_system_error(EPROTO,
                           "the writer of a pipe sends what no reader expects; use the same Plait at both ends");
}

void send(Link& link, Frame kind, std::span<const std::byte> body) {
  const std::span<const std::byte> parts[] = {body};
  link.send({static_cast<std::uint32_t>(kind), 0, 0, body.size()}, parts, no_limit());
}

/// Receives the body of a frame whose header has been received.
/// errors  The error in the frame, if it is kRefused.
void receive_message_body(Link& link, const FrameHead& head, std::string& body) {
  if (head.bytes > kMaxBodyBytes) throw_unexpected_frame();
  body.resize(head.bytes);
  const std::span<std::byte> parts[] = {std::as_writable_bytes(std::span(body))};
  link.receive_body(parts, no_limit());
  if (head.kind != static_cast<std::uint32_t>(Frame::kRefused)) return;
  const auto [code, why] = base::decode<Refusal>(body, kOtherEnd);
  if (code == 0 || code == EINVAL) base::throw_argument_error(why);
  base::throw_system_error(code, why);
}

}  // namespace

Clock::time_point no_limit() { return Clock::now() + std::chrono::hours(24 * 365 * 10); }  // ten years

FrameHead receive_frame(Link& link, std::string& body, Clock::time_point until) {
  const FrameHead head = link.receive(until);
  receive_message_body(link, head, body);
  return head;
}

const std::byte* Partner::map_slot(int number, std::int64_t step, std::int64_t bytes) {
  SlotMemory& memory = slots_[number];
  if (memory.data() == nullptr) {
    const std::string request = base::encode(number);
    send(*link_, Frame::kMap, std::as_bytes(std::span(request)));
    std::string body;
    if (receive_frame(*link_, body, no_limit()).kind != static_cast<std::uint32_t>(Frame::kSlot))
      throw_unexpected_frame();
    base::Descriptor descriptor = link_->take_descriptor();
    if (descriptor.number() < 0)
      base::throw_system_error(
          EMFILE,
          "no descriptor of a step's memory has come from the writer: this process, or the writer's, has too "
          "many files open; close some, or let it have more (ulimit -n)");
    memory.map(std::move(descriptor));
  }
  if (memory.shared_bytes() > memory.bytes()) memory.map_more();  // the writer has enlarged the slot
  check_slot(number, step);
  if (bytes > memory.bytes()) throw_unexpected_frame();
  return memory.data();
}

void Partner::check_slot(int number, std::int64_t step) {
  if (slots_[number].step() != step)
    base::throw_system_error(ESTALE, "the writer no longer holds step ", step,
                             ": it has dropped this reader and gone on");
}

void Partner::request(const ElementRequest& elements) {
  const std::string request = base::encode(elements);
  std::span<const std::byte> rest = std::as_bytes(std::span(request));
  if (rest.size() > kMaxRequest)
    base::throw_argument_error("a layout whose text has ", elements.layout.size(),
                               " bytes is too irregular for a pipe between hosts, which takes ", kMaxRequest,
                               " at most; read in a simpler one and redistribute");
  for (; rest.size() > transport::native::kMaxReceive; rest = rest.subspan(transport::native::kMaxReceive))
    send(*link_, Frame::kPart, rest.first(transport::native::kMaxReceive));
  send(*link_, Frame::kGet, rest);
}

std::int64_t Partner::receive(std::vector<std::byte>& stage, std::int64_t max_bytes) {
  const FrameHead head = link_->receive(no_limit());
  if (head.kind != static_cast<std::uint32_t>(Frame::kData)) {
    std::string body;
    receive_message_body(*link_, head, body);
    throw_unexpected_frame();
  }
  if (head.bytes == 0 || head.bytes > static_cast<std::uint64_t>(max_bytes)) throw_unexpected_frame();
  stage.resize(head.bytes);
  const std::span<std::byte> parts[] = {stage};
  link_->receive_body(parts, no_limit());
  return static_cast<std::int64_t>(head.bytes);
}

std::unique_ptr<Link> Partners::connect(const Endpoints& to, std::int64_t process) const {
  try {
    return Link::connect(to, key_, Clock::now() + kConnectTimeout);
  } catch (const Error& error) {
    base::rethrow(error, url_, ": cannot reach process ", process, " of the writer: ", error.what());
  }
}

std::vector<std::string> Partners::request_endpoints(const std::string& endpoints, std::int64_t process,
                                                     std::int64_t scope) const {
  const std::unique_ptr<Link> link = connect(Endpoints::parse(endpoints), process);
  const std::string request = base::encode(scope);
  send(*link, Frame::kFindEndpoints, std::as_bytes(std::span(request)));
  std::string body;
  if (receive_frame(*link, body, Clock::now() + kConnectTimeout).kind != static_cast<std::uint32_t>(Frame::kEndpoints))
    throw_unexpected_frame();
  return base::decode<std::vector<std::string>>(body, kOtherEnd);
}

const std::string& Partners::find_endpoints(std::int64_t process) {
  const std::int64_t group_number = process / kGroupProcesses;
  std::vector<std::string>& group = groups_[group_number];
  if (group.empty()) {
    std::string leader = first_endpoints_.text();  // process 0 leads group 0
    if (group_number > 0) {
      if (leaders_.empty()) leaders_ = request_endpoints(first_endpoints_.text(), 0, kLeaders);
      if (std::cmp_greater_equal(group_number, leaders_.size())) throw_unexpected_frame();
      leader = leaders_[static_cast<std::size_t>(group_number)];
    }
    group = request_endpoints(leader, group_number * kGroupProcesses, kOwnGroup);
  }
  const auto member = static_cast<std::size_t>(process % kGroupProcesses);
  if (member >= group.size()) throw_unexpected_frame();
  return group[member];
}

bool Partners::is_on_this_host(std::int64_t process) {
  if (const auto found = partners_.find(process); found != partners_.end()) return found->second->is_on_this_host();
  return (process == 0 ? first_endpoints_ : Endpoints::parse(find_endpoints(process))).is_on_this_host();
}

Partner& Partners::partner(std::int64_t process) {
  std::unique_ptr<Partner>& partner = partners_[process];
  if (!partner) {
    try {
      partner = std::make_unique<Partner>(
          connect(process == 0 ? first_endpoints_ : Endpoints::parse(find_endpoints(process)), process));
    } catch (...) {
      partners_.erase(process);
      throw;
    }
  }
  return *partner;
}

}  // namespace plait::pipe
