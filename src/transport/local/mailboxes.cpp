// Messages of any length through one fixed buffer per process.
//
// Problem: the shared memory of messages must not grow with the square of the number of processes, and two processes
// that send to each other must not wait for each other.
//
// Idea: each process has one mailbox of 64 KiB. A sender claims it by a compare-exchange of `writer`, copies one part,
// and raises `filled`. The receiver copies the part out and sets `writer` to 0. A process that waits for any of its
// messages always does both: it sends parts (send_parts) and empties its own mailbox (receive_part). A part that no
// receive() expects yet goes to private memory, so that no mailbox stays full.
//
// Example: rank 1 sends 150,000 bytes to rank 0, in parts of 65,536, 65,536 and 18,928 bytes; the last one has is_last
// = 1. `filled` of mailbox 0 grows from 0 to 3, and `received_parts_` of rank 0 follows it. Between two parts of rank
// 1, other ranks may send parts: the receiver assigns parts to messages by their sender.
//
// Memory order: `filled` is raised with release and loaded with acquire, so that the receiver sees the part. `writer`
// is reset with release and claimed with acquire, so that the next sender writes only after the part was copied out.

#include "transport/local/mailboxes.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errors.hpp"
#include "base/wait/interruption.hpp"

namespace plait::transport::local {

template <typename Message>
class Mailboxes::MessageTicket : public Ticket {
 public:
  MessageTicket(Mailboxes& mailboxes, std::shared_ptr<Message> message)
      : mailboxes_(mailboxes), message_(std::move(message)) {}
  ~MessageTicket() override { drop(*message_); }
  MessageTicket(const MessageTicket&) = delete;
  MessageTicket& operator=(const MessageTicket&) = delete;
  void complete() override { mailboxes_.wait(message_->is_done); }
  bool test() override {
    mailboxes_.send_parts();
    while (!message_->is_done && mailboxes_.receive_part()) {
    }
    return message_->is_done;
  }

 private:
  Mailboxes& mailboxes_;
  std::shared_ptr<Message> message_;
};

std::unique_ptr<Ticket> Mailboxes::send(int to, std::span<const std::byte> bytes) {
  auto sending = std::make_shared<PendingSend>();
  sending->unsent = bytes;
  auto ticket = std::make_unique<MessageTicket<PendingSend>>(*this, sending);
  outgoing_[to].push_back(std::move(sending));
  send_parts();
  return ticket;
}

std::unique_ptr<Ticket> Mailboxes::receive(int from, std::span<std::byte> bytes) {
  auto receiving = std::make_shared<PendingReceive>();
  receiving->output = bytes;
  auto ticket = std::make_unique<MessageTicket<PendingReceive>>(*this, receiving);
  IncomingMessages& incoming = incoming_[from];
  if (incoming.unexpected.empty()) {
    incoming.expected.push_back(std::move(receiving));
    return ticket;
  }
  // An unexpected message is older than all expected ones. If only a part of it has arrived, the rest goes directly to
  // the receiver's buffer.
  UnexpectedMessage& first = incoming.unexpected.front();
  if (!first.is_complete) incoming.expected.push_back(receiving);
  deliver(*receiving, first.bytes, first.is_complete);
  incoming.unexpected.pop_front();
  return ticket;
}

/// Copies a part of a message to the memory of a receive().
void Mailboxes::deliver(PendingReceive& receiving, std::span<const std::byte> part, bool is_last) {
  std::span<std::byte>& output = receiving.output;
  if (!receiving.is_dropped) {
    if (part.size() > output.size() || (is_last && part.size() != output.size()))
      base::throw_system_error(EMSGSIZE, "a message has ", part.size() > output.size() ? "more" : "fewer",
                               " bytes than expected");
    std::copy(part.begin(), part.end(), output.begin());
    output = output.subspan(part.size());
  }
  receiving.is_done = is_last;
}

/// Returns false if the mailbox of the receiver is not free.
bool Mailboxes::send_part(int to, PendingSend& sending) {
  Mailbox& mailbox = mailboxes_[to];
  std::uint32_t no_writer = 0;
  if (!mailbox.writer.compare_exchange_strong(no_writer, static_cast<std::uint32_t>(rank_) + 1,
                                              std::memory_order_acq_rel))
    return false;
  const auto part = sending.unsent.first(std::min(sending.unsent.size(), static_cast<std::size_t>(Mailbox::kPart)));
  std::copy(part.begin(), part.end(), mailbox.part.begin());
  sending.unsent = sending.unsent.subspan(part.size());
  sending.is_done = sending.unsent.empty();
  mailbox.from = rank_;
  mailbox.is_last = sending.is_done ? 1 : 0;
  mailbox.bytes = static_cast<std::int64_t>(part.size());
  Gates::raise(mailbox.filled);
  return true;
}

bool Mailboxes::send_parts() {
  bool has_sent = false;
  for (auto& [to, messages] : outgoing_)
    while (!messages.empty() && send_part(to, *messages.front())) {
      has_sent = true;
      if (messages.front()->is_done) messages.pop_front();
    }
  std::erase_if(outgoing_, [](const auto& entry) { return entry.second.empty(); });
  return has_sent;
}

bool Mailboxes::receive_part() {
  Mailbox& mailbox = mailboxes_[rank_];
  if (mailbox.filled.load(std::memory_order_acquire) == received_parts_) return false;
  const auto part = std::span<const std::byte>(mailbox.part).first(static_cast<std::size_t>(mailbox.bytes));
  const bool is_last = mailbox.is_last != 0;
  IncomingMessages& incoming = incoming_[mailbox.from];
  if (!incoming.expected.empty()) {
    PendingReceive& first = *incoming.expected.front();
    deliver(first, part, is_last);
    if (is_last) incoming.expected.pop_front();
  } else {
    if (incoming.unexpected.empty() || incoming.unexpected.back().is_complete) incoming.unexpected.emplace_back();
    std::vector<std::byte>& bytes = incoming.unexpected.back().bytes;
    bytes.insert(bytes.end(), part.begin(), part.end());
    incoming.unexpected.back().is_complete = is_last;
  }
  ++received_parts_;
  mailbox.writer.store(0, std::memory_order_release);
  return true;
}

/// Makes progress with all messages until `is_done`, a flag of one of them, is true.
void Mailboxes::wait(const bool& is_done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kYieldTime{100};
  // This process polls, because nothing wakes it when another mailbox becomes free.
  constexpr std::chrono::milliseconds kMailboxPollInterval{1};
  constexpr std::chrono::milliseconds kCheckInterval{250};
  auto last_progress = Clock::now();
  auto last_check = last_progress;
  base::InterruptionTimer interruption;
  while (true) {
    const bool has_sent = send_parts();
    const bool has_received = receive_part();
    if (is_done) return;
    const auto now = Clock::now();
    if (interruption.is_due(now)) liveness_.check_interruption();
    if (has_sent || has_received) {
      last_progress = now;
    } else if (now - last_progress < kYieldTime) {
      ::sched_yield();
    } else if (now - last_check < kCheckInterval) {
      const auto timeout = outgoing_.empty() ? base::kBetweenInterruptions : kMailboxPollInterval;
      sleep_on(mailboxes_[rank_].filled, received_parts_, timeout);
    } else {
      last_check = now;
      try {
        liveness_.check();
      } catch (...) {
        // The process may have sent parts before it left. They may complete the message, so receive them first.
        while (receive_part()) {
        }
        if (!is_done) throw;
      }
    }
  }
}

}  // namespace plait::transport::local
