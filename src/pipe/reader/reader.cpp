#include "pipe/reader/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/broadcast.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using base::text;
using transport::native::Clock;
using transport::native::Endpoints;
using transport::native::Key;
using transport::native::Link;

namespace {

constexpr std::chrono::seconds kAnswering{15};

void send(Link& link, Frame kind, std::span<const std::byte> body, Clock::time_point until) {
  const std::span<const std::byte> parts[] = {body};
  link.send({static_cast<std::uint32_t>(kind), 0, 0, body.size()}, parts, until);
}

/// Whether a writer still invites with the same words.
bool is_there(const std::string& name, const Invitation& invitation) {
  const auto now = find_invitation(name);
  return now && now->key.bytes() == invitation.key.bytes();
}

}  // namespace

Reader::Reader(collective::Collective& call, const std::string& shown, const Options& options, const Expected& expected)
    : shown_(shown), options_(options), first_(call.transport().rank() == 0) {
  transport::Transport& transport = call.transport();
  FieldWriter told;
  call.step([&] {
    if (!first_) return;
    attach(Clock::now() + std::chrono::duration_cast<Clock::duration>(options.timeout), expected, transport.size());
    told.put(invitation_.endpoints.text()).put(invitation_.key.text()).put(writer_processes_).put(writer_);
    put(told, type_);
  });
  const std::string heard = collective::broadcast_text(transport, told.text());
  call.step([&] {
    FieldReader fields(heard);
    const Endpoints first = Endpoints::parse(fields.text());
    const Key key = Key::parse(fields.text());
    writer_processes_ = fields.number();
    writer_ = fields.text();
    type_ = take_type(fields);
    partners_.emplace(shown, first, key, writer_processes_);
  });
}

Reader::~Reader() { abort("it has ended without closing the pipe"); }

std::unique_ptr<Link> Reader::call_on(const Invitation& writer, Clock::time_point until) const {
  try {
    return Link::connect(writer.endpoints, writer.key, until);
  } catch (const Error& error) {
    throw Error(error.kind(), text(shown_, ": cannot reach the writer, ", writer.who, ": ", error.what()),
                error.system_code());
  }
}

void Reader::attach(Clock::time_point until, const Expected& expected, std::int64_t processes) {
  std::string last;  // why it did not come to a meeting so far
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, std::chrono::milliseconds(20))) {
    try {
      if (const auto found = find_invitation(options_.name)) {
        invitation_ = *found;
        const auto answered = Clock::now() + kAnswering;  // not less for who does not want to wait for a writer
        control_ = call_on(*found, answered);
        FieldWriter fields;
        fields.put(this_program()).put(processes).put(expected.dtype);
        fields.put(std::int64_t{expected.shape ? 1 : 0}).put(expected.shape.value_or(Extents()));
        send(*control_, Frame::kAttach, fields.bytes(), answered);
        std::string body;
        const auto head = receive_frame(*control_, body, answered);
        if (head.kind != static_cast<std::uint32_t>(Frame::kWelcome))
          throw Error(ErrorKind::kSystem, "the writer of a pipe does not speak as one", EPROTO);
        FieldReader welcome(body);
        type_ = take_type(welcome);
        writer_processes_ = welcome.number();
        writer_ = welcome.text();
        return;
      }
    } catch (const Error& error) {
      control_.reset();
      // A writer that has just ended, or is being replaced by the next one, is waited for as one that has not begun.
      const int code = error.system_code();
      if (code == EINTR) throw;
      const bool passing = code == ECONNREFUSED || code == ECONNRESET || code == ETIMEDOUT || code == EHOSTUNREACH;
      if (error.kind() == ErrorKind::kArgument || (!passing && is_there(options_.name, invitation_))) throw;
      last = error.what();
    }
    base::check_interruption();
    if (Clock::now() + pause > until) break;
    std::this_thread::sleep_for(pause);
  }
  throw Error(ErrorKind::kSystem,
              text(shown_, ": no writer has come within ", options_.timeout.count(), " s; this is ", this_program(),
                   ", which looked for one in ", meeting_folder(), last.empty() ? "" : ": ", last,
                   ". Start a program that opens ", shown_, " with mode \"w\" there, or give it more time by timeout="),
              ETIMEDOUT);
}

std::optional<Step> Reader::begin_step(collective::Collective& call, const Attributes& /*attributes*/) {
  std::string body;
  auto kind = Frame::kEnd;
  call.step([&] {
    if (!first_ || at_end_) return;
    check_joined();
    try {
      // A writer that has ended, or failed, has said so before it closed the connection.
      const std::exception_ptr unsent = collective::caught([&] { send(*control_, Frame::kNext, {}, no_limit()); });
      kind = static_cast<Frame>(receive_frame(*control_, body, no_limit()).kind);
      if (unsent && kind != Frame::kAborted && kind != Frame::kEnd) std::rethrow_exception(unsent);
    } catch (const Error& error) {
      // What it has asked for may still come, so that nothing else can be asked.
      if (error.system_code() == EINTR) abort("a signal has ended its wait for a step");
      rethrow_lost(error);
    }
    if (kind == Frame::kAborted) throw Error(ErrorKind::kSystem, body, ECANCELED);
    if (kind != Frame::kStep && kind != Frame::kEnd)
      throw Error(ErrorKind::kSystem, text(shown_, ": the writer does not speak as one"), EPROTO);
  });
  const std::string heard = collective::broadcast_text(call.transport(), body);
  call.step([&] {
    step_.reset();
    at_end_ = heard.empty();
    if (at_end_) return;
    FieldReader fields(heard);
    step_ = take_step(fields);
  });
  if (at_end_) {
    leave();
    return std::nullopt;
  }
  return step_->shown();
}

void Reader::check_joined() const {
  if (!control_)
    throw Error(ErrorKind::kSystem, text(shown_, ": this reader has given up before; open it again to read on"), EPIPE);
}

void Reader::rethrow_lost(const Error& error) const {
  const int code = error.system_code();
  if (code != ECONNRESET && code != EPIPE && code != ECONNREFUSED) throw error;
  throw Error(ErrorKind::kSystem, text(shown_, ": the writer, ", writer_, ", is lost: ", error.what()), EPIPE);
}

Delivery& Reader::delivery(const Variable& variable, const DeliveryRequest& request) {
  const auto known = std::ranges::find_if(deliveries_, [&](const Delivery& one) {
    return one.serves(variable.layout, variable.type.element_bytes, request);
  });
  if (known != deliveries_.end()) {
    deliveries_.splice(deliveries_.begin(), deliveries_, known);
    return deliveries_.front();
  }
  if (deliveries_.size() == kKept) deliveries_.pop_back();
  return deliveries_.emplace_front(Layout::parse(variable.layout), variable.type.element_bytes, request);
}

std::string Reader::last_words() {
  try {
    std::string body;
    const auto head = receive_frame(*control_, body, Clock::now() + std::chrono::seconds(1));
    if (head.kind == static_cast<std::uint32_t>(Frame::kAborted)) return body;
  } catch (...) {  // it has said nothing
  }
  return "";
}

template <typename Body>
void Reader::step_of(collective::Collective& call, Body&& body) {
  try {
    call.step(body);
  } catch (const Error& error) {
    // All ranks have it.  One of them has found a connection closed; why, rank 0 has been told.
    if (error.system_code() != EPIPE && error.system_code() != ESTALE) throw;
    const std::string why = collective::broadcast_text(call.transport(), control_ ? last_words() : "");
    if (why.empty()) throw;
    throw Error(ErrorKind::kSystem, why, ECANCELED);
  }
}

void Reader::move(collective::Collective& call, const core::Transfer& transfer) {
  step_of(call, [&] {
    const auto found = std::ranges::find(step_->variables, transfer.variable, &Variable::name);
    if (found == step_->variables.end())
      throw Error(ErrorKind::kArgument, text(shown_, ": step ", step_->number, " has no array ", transfer.variable,
                                             "; it has ", step_->variables.empty() ? "none" : "others"));
    DeliveryRequest request{transfer.layout, transfer.region, transfer.fill_halo, {}};
    for (const copy::LocalArray& array : transfer.arrays) request.ranks.push_back(array.rank);
    try {
      delivery(*found, request)
          .run(*step_, static_cast<std::size_t>(found - step_->variables.begin()), *partners_, transfer.arrays,
               transfer.spent);
    } catch (const Error& error) {
      rethrow_lost(error);
    }
  });
}

void Reader::end_step(collective::Collective& call, bool /*keep*/) {
  // Once all ranks have come here, nobody reads it any more.
  call.step([&] { step_.reset(); });
  step_of(call, [&] {
    if (!first_) return;
    check_joined();
    try {
      send(*control_, Frame::kDone, {}, no_limit());
    } catch (const Error& error) {
      rethrow_lost(error);
    }
  });
}

std::optional<ArrayType> Reader::find(const std::string& variable) const {
  if (!step_) return std::nullopt;
  const Variable* found = step_->find(variable);
  return found == nullptr ? std::nullopt : std::optional(found->type);
}

std::string Reader::explain(const core::Transfer& transfer) const {
  if (!step_ || step_->find(transfer.variable) == nullptr)
    return text("reads    ", shown_, ": how the writer holds the array is known once a step has begun\n");
  const Variable& variable = *step_->find(transfer.variable);
  DeliveryRequest request{transfer.layout, transfer.region, transfer.fill_halo, {}};
  for (const copy::LocalArray& array : transfer.arrays) request.ranks.push_back(array.rank);
  const Delivery delivery(Layout::parse(variable.layout), variable.type.element_bytes, request);
  const Delivery::Traffic traffic = delivery.traffic();
  return text("reads    ", shown_, " of ", writer_, "\nfrom     ", variable.layout, " on ", writer_processes_,
              " processes\nto       ", to_string(transfer.layout), "\ntakes    ", traffic.messages, " messages, ",
              base::bytes_text(traffic.elements * variable.type.element_bytes), " in ", traffic.runs,
              " runs, by this process\n");
}

void Reader::tell(std::uint32_t kind, const std::string& body) noexcept {
  if (!control_) return;
  try {
    FieldWriter fields;
    fields.put(body);
    send(*control_, static_cast<Frame>(kind), fields.bytes(), Clock::now() + std::chrono::seconds(1));
  } catch (...) {  // it notices that the connection ends
  }
  control_.reset();
}

void Reader::leave() noexcept { tell(static_cast<std::uint32_t>(Frame::kLeave), ""); }

void Reader::abort(const std::string& why) noexcept { tell(static_cast<std::uint32_t>(Frame::kAbort), why); }

}  // namespace plait::pipe
