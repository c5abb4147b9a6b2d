// One process of a reader. Process 0 finds the writer by its meeting file and attaches to it; for each step it gets the
// announcement and broadcasts it. Every process then fetches its own elements (Delivery).

#include "pipe/reader/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "collective/broadcast.hpp"
#include "pipe/messages.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"
#include "transport/gates.hpp"

namespace plait::pipe {

using base::text;
using transport::native::Clock;
using transport::native::Endpoints;
using transport::native::Key;
using transport::native::Link;

namespace {

/// Maximum time of a writer that was found for its answer to kAttach.
constexpr std::chrono::seconds kAnswerTimeout{15};
/// Interval between searches for a writer; a search takes some 20 us.
constexpr std::chrono::milliseconds kShortestPause{1};
constexpr std::chrono::milliseconds kLongestPause{8};

/// Interval between calls of check_lock_is_visible().
constexpr std::chrono::milliseconds kLockCheckInterval{500};

void send(Link& link, Frame kind, std::string_view body, Clock::time_point until) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(body))};
  link.send({static_cast<std::uint32_t>(kind), 0, 0, body.size()}, parts, until);
}

/// Returns an encoded StepDescription without number and slot, which differ in every step.
std::string_view without_position(std::string_view message) { return message.substr(kPositionBytes); }

/// Returns true if the meeting file of this name still has this invitation.
bool is_registered(const std::string& name, const Invitation& invitation) {
  const auto current = find_invitation(name);
  return current && current->key.bytes() == invitation.key.bytes();
}

}  // namespace

Reader::Reader(collective::Collective& call, const std::string& url, const Options& options,
               const ExpectedArray& expected)
    : url_(url), options_(options), expected_dtype_(expected.dtype), is_first_rank_(call.transport().rank() == 0) {
  transport::Transport& transport = call.transport();
  std::string endpoints;
  std::string key;
  std::string message;
  call.run_phase([&] {
    if (!is_first_rank_) return;
    attach(Clock::now() + std::chrono::duration_cast<Clock::duration>(options.timeout), expected, transport.size());
    message = base::encode(invitation_.endpoints.text(), invitation_.key.text(), writer_processes_, writer_, type_);
  });
  message = collective::broadcast_text(transport, message);
  call.run_phase([&] {
    base::decode(message, base::kAnotherRank, endpoints, key, writer_processes_, writer_, type_);
    partners_.emplace(url, Endpoints::parse(endpoints), Key::parse(key), writer_processes_);
  });
}

Reader::~Reader() { abort("it has ended without closing the pipe"); }

std::unique_ptr<Link> Reader::connect_to(const Invitation& writer, Clock::time_point until) const {
  try {
    return Link::connect(writer.endpoints, writer.key, until);
  } catch (const Error& error) {
    base::rethrow(error, url_, ": cannot reach the writer, ", writer.program, ": ", error.what());
  }
}

void Reader::attach(Clock::time_point until, const ExpectedArray& expected, std::int64_t processes) {
  std::string last_error;  // the error of the last attempt to connect
  const Clock::time_point begin = Clock::now();
  Clock::time_point last_check = begin;  // time of the last check for a file that a killed writer left
  std::string last_key;                  // the key of that file
  while (true) {
    try {
      if (const auto found = find_invitation(options_.name)) {
        invitation_ = *found;
        const auto answer_until = Clock::now() + kAnswerTimeout;  // even if timeout=0, which limits the search only
        control_ = std::make_unique<Announcements>(connect_to(*found, answer_until));
        const AttachRequest request{this_program(), processes, expected.dtype, expected.shape, options_.casting};
        send(control_->link(), Frame::kAttach, base::encode(request), answer_until);
        std::string body;
        const auto head = receive_frame(control_->link(), body, answer_until);
        if (head.kind != static_cast<std::uint32_t>(Frame::kWelcome))
          base::throw_system_error(EPROTO, url_,
                                   ": what answers is not a Plait writer; use the same Plait at both ends");
        auto welcome = base::decode<Welcome>(body, kOtherEnd);
        type_ = to_expected_type(std::move(welcome.type));
        writer_processes_ = welcome.processes;
        writer_ = std::move(welcome.program);
        control_->map_board(processes + writer_processes_);
        return;
      }
    } catch (const Error& error) {
      control_.reset();
      // If the writer has just ended, another one may follow, so continue to wait. Other errors, and those of a writer
      // that is still there, are final.
      const int code = error.system_code();
      if (code == EINTR) throw;
      const bool is_temporary = code == ECONNREFUSED || code == ECONNRESET || code == ETIMEDOUT || code == EHOSTUNREACH;
      if (error.kind() == ErrorKind::kArgument || (!is_temporary && is_registered(options_.name, invitation_))) throw;
      last_error = error.what();
    }
    base::check_interruption();
    if (Clock::now() - last_check > kLockCheckInterval) {
      last_check = Clock::now();
      check_lock_is_visible(processes, last_key);
    }
    // Poll faster at first, because both programs may have been started together.
    const auto pause = std::clamp<Clock::duration>((Clock::now() - begin) / 8, kShortestPause, kLongestPause);
    if (Clock::now() + pause > until) break;
    std::this_thread::sleep_for(pause);
  }
  base::throw_system_error(ETIMEDOUT, url_, ": no writer has come within ", options_.timeout.count(), " s; this is ",
                           this_program(), ", which looked for one in ", meeting_folder(),
                           last_error.empty() ? "" : ": ", last_error, ". Start a program that opens ", url_,
                           " with mode \"w\" there, or give it more time by timeout=");
}

void Reader::check_lock_is_visible(std::int64_t processes, std::string& last_key) {
  const auto invitation = find_unlocked_invitation(options_.name);
  if (!invitation || invitation->key.text() == last_key) return;
  last_key = invitation->key.text();
  const auto until = Clock::now() + std::chrono::seconds(2);
  try {
    control_ = std::make_unique<Announcements>(Link::connect(invitation->endpoints, invitation->key, until));
    // If the file is gone by now, its writer was just ending.
    if (!find_unlocked_invitation(options_.name)) return control_.reset();
    AttachRequest request;
    request.program = this_program();
    request.processes = processes;
    send(control_->link(), Frame::kAttach, base::encode(request), until);
    std::string body;
    receive_frame(control_->link(), body, until);
  } catch (const Error& error) {
    control_.reset();
    if (error.system_code() == EINTR) throw;
    return;  // the file belongs to no process
  }
  const std::string why =
      text(url_, ": the writer, ", invitation->program, ", is there, but the lock of its file in ", meeting_folder(),
           " is not seen by ", this_program(),
           "; that folder lies on a file system that does not show locks to other hosts: name another one by "
           "PLAIT_MEET for both programs");
  abort(why);
  base::throw_system_error(ENOLCK, why);
}

std::optional<Step> Reader::begin_step(collective::Collective& call, const Attributes& /*attributes*/) {
  std::string message;  // on rank 0: the encoded description of the step
  // The step number, or -1 at the end; and 2 * slot, plus 1 if the description has changed (receive_announcement()).
  std::array<std::int64_t, 2> numbers{-1, 0};
  const std::exception_ptr failure = collective::caught([&] {
    if (is_first_rank_ && !is_at_end_) numbers = receive_announcement(message, call.transport());
  });
  collective::broadcast_numbers(call.transport(), failure, numbers);
  step_.reset();
  is_at_end_ = numbers[0] < 0;
  if (is_at_end_) {
    leave();
    return std::nullopt;
  }
  const bool has_new_description = numbers[1] % 2 != 0;
  if (has_new_description) adopt_description(call, message);
  step_ = decoded_description_;
  step_->number = numbers[0];
  step_->slot = static_cast<int>(numbers[1] / 2);
  return step_->to_step();
}

std::optional<copy::ElementCast> Reader::find_cast(const ArrayType& written) const {
  if (expected_dtype_ == written.dtype) return std::nullopt;
  return copy::ElementCast::find(written.dtype, expected_dtype_, options_.casting);
}

ArrayType Reader::to_expected_type(ArrayType written) const {
  if (const auto cast = find_cast(written)) {
    written.dtype = expected_dtype_;
    written.element_bytes = cast->target_bytes();
  }
  return written;
}

std::array<std::int64_t, 2> Reader::receive_announcement(std::string& message, transport::Transport& transport) {
  check_joined();
  auto kind = Frame::kEnd;
  std::exception_ptr lost_rank;
  try {
    kind = control_->next(message, [&] {
      lost_rank = collective::caught([&] { transport.gates().liveness().check(); });
      if (lost_rank) std::rethrow_exception(lost_rank);
    });
  } catch (const Error& error) {
    // The answer to this request may still arrive, so the connection cannot be used for another one.
    if (error.system_code() == EINTR) abort("a signal has ended its wait for a step");
    if (lost_rank) {
      abort(error.what());
      throw;
    }
    rethrow_lost(error);
  }
  if (kind == Frame::kAborted) base::throw_system_error(ECANCELED, message);
  if (kind == Frame::kEnd) return {-1, 0};
  if (kind != Frame::kStep)
    base::throw_system_error(EPROTO, url_, ": what answers is not a Plait writer; use the same Plait at both ends");
  StepDescription step;
  base::Decoder(message, kOtherEnd)(step.number, step.slot);
  if (step.number < 0 || step.slot < 0)
    base::throw_system_error(EPROTO, url_, ": the writer announced an impossible step");
  const bool has_new_description = without_position(message) != description_;
  return {step.number, 2 * std::int64_t{step.slot} + (has_new_description ? 1 : 0)};
}

void Reader::adopt_description(collective::Collective& call, const std::string& message) {
  try {
    const std::string received = collective::broadcast_text(call.transport(), message);
    call.run_phase([&] {
      decoded_description_ = base::decode<StepDescription>(received, kOtherEnd);
      description_ = without_position(received);
    });
  } catch (...) {
    // The writer still holds the step for this reader, so leave the pipe.
    abort("it could not take in what a step holds");
    throw;
  }
}

void Reader::check_joined() const {
  if (!control_) base::throw_system_error(EPIPE, url_, ": this reader was abandoned; open it again to read on");
}

void Reader::rethrow_lost(const Error& error) const {
  const int code = error.system_code();
  if (code != ECONNRESET && code != EPIPE && code != ECONNREFUSED) throw error;
  base::throw_system_error(EPIPE, url_, ": the writer, ", writer_, ", is lost: ", error.what());
}

Delivery& Reader::delivery(const Variable& variable, const DeliveryRequest& request) {
  const auto cached = std::ranges::find_if(deliveries_, [&](const Delivery& candidate) {
    return candidate.matches(variable.layout, variable.type.element_bytes, request);
  });
  if (cached != deliveries_.end()) {
    deliveries_.splice(deliveries_.begin(), deliveries_, cached);
    return deliveries_.front();
  }
  if (deliveries_.size() == kMaxCached) deliveries_.pop_back();
  return deliveries_.emplace_front(Layout::parse(variable.layout), variable.type.element_bytes, request, buffers_);
}

std::string Reader::receive_abort_reason() {
  try {
    std::string body;
    const auto head = receive_frame(control_->link(), body, Clock::now() + std::chrono::seconds(1));
    if (head.kind == static_cast<std::uint32_t>(Frame::kAborted)) return body;
  } catch (...) {  // the writer sent no reason
  }
  return "";
}

template <typename Body>
void Reader::run_phase(collective::Collective& call, Body&& body) {
  try {
    call.run_phase(body);
  } catch (const Error& error) {
    // All ranks have the same error: one of them found a connection closed or a slot reused. Process 0 may have
    // received the reason of the writer.
    if (error.system_code() != EPIPE && error.system_code() != ESTALE) throw;
    const std::string why = collective::broadcast_text(call.transport(), control_ ? receive_abort_reason() : "");
    if (why.empty()) throw;
    base::throw_system_error(ECANCELED, why);
  }
}

void Reader::move(collective::Collective& call, const core::Transfer& transfer) {
  run_phase(call, [&] {
    const auto found = std::ranges::find(step_->variables, transfer.variable, &Variable::name);
    if (found == step_->variables.end())
      base::throw_argument_error(url_, ": step ", step_->number, " has no array ", transfer.variable, "; it has ",
                                 step_->variables.empty() ? "none" : "others");
    DeliveryRequest request{transfer.layout, transfer.region, transfer.fill_halo, {}};
    for (const copy::LocalArray& array : transfer.arrays) request.ranks.push_back(array.rank);
    if (transfer.variable == core::kOneVariable) {
      request.cast = find_cast(found->type);
      if (!request.cast && !expected_dtype_.empty() && !found->type.dtype.empty() &&
          found->type.dtype != expected_dtype_)
        base::throw_argument_error(url_, ": the array of step ", step_->number, " has elements of type ",
                                   found->type.dtype, ", but this reader expects ", expected_dtype_,
                                   "; open the pipe without a dtype to read any");
    }
    try {
      delivery(*found, request)
          .run(*step_, static_cast<std::size_t>(found - step_->variables.begin()), *partners_, transfer.arrays,
               transfer.spent);
    } catch (const Error& error) {
      rethrow_lost(error);
    }
  });
}

void Reader::end_step(collective::Collective& /*call*/, bool /*keep*/) {
  // All ranks have agreed after their last read, so that every rank has read the step.
  step_.reset();
  if (is_first_rank_ && control_) control_->finish();
}

std::optional<ArrayType> Reader::find(const std::string& variable) const {
  if (!step_) return std::nullopt;
  const Variable* found = step_->find(variable);
  if (found == nullptr) return std::nullopt;
  return variable == core::kOneVariable ? to_expected_type(found->type) : found->type;
}

std::string Reader::explain(const core::Transfer& transfer) const {
  if (!step_ || step_->find(transfer.variable) == nullptr)
    return text("reads    ", url_, ": how the writer holds the array is known once a step has begun\n");
  const Variable& variable = *step_->find(transfer.variable);
  DeliveryRequest request{transfer.layout, transfer.region, transfer.fill_halo, {}};
  for (const copy::LocalArray& array : transfer.arrays) request.ranks.push_back(array.rank);
  if (transfer.variable == core::kOneVariable) request.cast = find_cast(variable.type);
  DeliveryBuffers unused;
  const Delivery delivery(Layout::parse(variable.layout), variable.type.element_bytes, request, unused);
  const Delivery::Traffics traffics = delivery.traffics(*partners_);
  const Delivery::Traffic traffic = delivery.traffic();
  const auto traffic_text = [&](const Delivery::Traffic& amount) {
    return base::bytes_text(amount.elements * variable.type.element_bytes);
  };
  return text("reads    ", url_, " of ", writer_, "\nfrom     ", variable.layout, " on ", writer_processes_,
              " processes\nto       ", to_string(transfer.layout), "\ntakes    ", traffic.messages, " messages, ",
              traffic_text(traffic), " in ", traffic.runs, " runs, by this process; ", traffic_text(traffics.local),
              " out of memory of this host, ", traffic_text(traffics.remote), " over the network\n",
              request.cast ? text("converts ", variable.type.dtype, " to ", expected_dtype_, '\n') : "", "predicted ",
              base::time_text(delivery.predicted_seconds(traffics, {})), '\n');
}

void Reader::send_notice(std::uint32_t kind, const std::string& body) noexcept {
  if (!control_) return;
  try {
    send(control_->link(), static_cast<Frame>(kind), base::encode(body), Clock::now() + std::chrono::seconds(1));
  } catch (...) {  // the writer then notices that the connection has ended
  }
  control_.reset();
}

void Reader::leave() noexcept { send_notice(static_cast<std::uint32_t>(Frame::kLeave), ""); }

void Reader::abort(const std::string& why) noexcept { send_notice(static_cast<std::uint32_t>(Frame::kAbort), why); }

}  // namespace plait::pipe
