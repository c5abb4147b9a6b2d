// Calls, payloads and answers as messages of MPI.

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "transport/mpi/active/mpi_active.hpp"

namespace plait::transport::mpi {

namespace {

int slot_of(const Arrival& arrival) { return static_cast<int>(arrival.id); }

}  // namespace

void MpiActive::call(Call call) {
  const int to = call.to;
  auto pending = std::make_shared<PendingCall>(std::move(call));
  std::vector<std::shared_ptr<PendingCall>> failed;
  {
    const std::scoped_lock lock(mutex_);
    PeerQueue& queue = queues_[static_cast<std::size_t>(to)];
    const auto reach = stopped_ ? Reach::kGone : wake_ups_->connect(to);
    if (stopped_ || queue.gone() || reach == Reach::kGone) {
      pending->failed = true;
      pending->why = stopped_ ? stopped() : gone(to);
      failed.push_back(pending);
    } else {
      queue.waiting.push_back(pending);
      if (reach == Reach::kReady) start_waiting(to, failed);
    }
  }
  for (const auto& one : failed) one->call.done(&one->why);
}

/// Under the lock.  What waits for a worker that has just gone is failed by the handler.
void MpiActive::start_waiting(int to, std::vector<std::shared_ptr<PendingCall>>& failed) {
  PeerQueue& queue = queues_[static_cast<std::size_t>(to)];
  while (!queue.waiting.empty()) {
    const int slot = std::countr_one(queue.slots);
    if (slot >= most_slots_ || !wake_ups_->there(to)) return;
    const auto pending = queue.waiting.front();
    queue.waiting.pop_front();
    begin(pending, slot);
    if (pending->parts > 0) continue;
    pending->failed = true;
    pending->why = {ErrorKind::kSystem, EIO, base::text("MPI cannot send to rank ", to)};
    failed.push_back(pending);
  }
}

/// Under the lock.
void MpiActive::begin(const std::shared_ptr<PendingCall>& pending, int slot) {
  const int to = pending->call.to;
  const auto payload = pending->call.payload;
  const auto room = pending->call.room;
  pending->wire = {(std::int64_t{rank_} << 16) + slot, static_cast<std::int64_t>(payload.size()),
                   static_cast<std::int64_t>(room.size()), pending->call.head};
  void* const into = room.empty() ? static_cast<void*>(&pending->answered) : room.data();
  const int length = room.empty() ? 1 : static_cast<int>(room.size());
  const bool received = operations_.add(
      [&](MPI_Request* request) { return MPI_Irecv(into, length, MPI_BYTE, to, kAnswerTag + slot, comm_, request); },
      {.done = [this, pending](const Ended& how) { end_part(pending, how, true); },
       .peer = to,
       .receives = true,
       .large = room.size() > kLarge});
  if (!received) return;
  queues_[static_cast<std::size_t>(to)].slots |= 1U << static_cast<unsigned>(slot);
  ++pending->parts;
  const auto send = [&](const void* data, std::size_t bytes, int tag) {
    const bool large = bytes > kLarge;
    const bool sent = operations_.add(
        [&](MPI_Request* request) {
          return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, request);
        },
        {.done =
             [this, pending, large](const Ended& how) {
               if (large) heard(large);
               end_part(pending, how, false);
             },
         .peer = to,
         .large = large});
    if (sent) ++pending->parts;
  };
  send(&pending->wire, sizeof(WireHead), kHeadTag);
  if (!payload.empty()) send(payload.data(), payload.size(), kPayloadTag + slot);
  wake_ups_->wake(to, false);
}

void MpiActive::end_part(const std::shared_ptr<PendingCall>& pending, const Ended& how, bool is_answer) {
  const int to = pending->call.to;
  const int slot = static_cast<int>(pending->wire.slot & 0xffff);
  std::vector<std::shared_ptr<PendingCall>> failed;
  {
    const std::scoped_lock lock(mutex_);
    --pending->parts;
    if (is_answer) {
      heard(pending->call.room.size() > kLarge);
      if (how.good) wake_ups_->heard_from(to);
      const std::size_t expected = std::max<std::size_t>(pending->call.room.size(), 1);
      if (how.good && static_cast<std::size_t>(how.bytes) != expected && !stopped_) {
        // Refused; the reason follows.
        const bool posted = operations_.add(
            [&](MPI_Request* request) {
              return MPI_Irecv(&pending->failure, sizeof(WireFailure), MPI_BYTE, to, kFailureTag + slot, comm_,
                               request);
            },
            {.done =
                 [this, pending](const Ended& told) {
                   if (told.good) {
                     const WireFailure& wire = pending->failure;
                     pending->why = {static_cast<ErrorKind>(wire.kind), wire.code,
                                     std::string(wire.text.data(), static_cast<std::size_t>(wire.length))};
                   }
                   end_part(pending, told, false);
                 },
             .peer = to,
             .receives = true});
        pending->failed = true;
        pending->why = {ErrorKind::kSystem, EIO, base::text("rank ", to, " could not say why")};
        if (posted) ++pending->parts;
      }
    }
    if (!how.good && !pending->failed) {
      pending->failed = true;
      pending->why = stopped_ ? stopped() : gone(to);
    }
    if (pending->parts > 0) return;
    PeerQueue& queue = queues_[static_cast<std::size_t>(to)];
    queue.slots &= ~(1U << static_cast<unsigned>(slot));
    if (!stopped_ && !queue.gone()) start_waiting(to, failed);
  }
  pending->call.done(pending->failed ? &pending->why : nullptr);
  for (const auto& one : failed) one->call.done(&one->why);
}

void MpiActive::take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) {
  const int from = arrival.from;
  const bool large = into.size() > kLarge;
  bool posted = false;
  {
    const std::scoped_lock lock(mutex_);
    posted = !stopped_ && operations_.add(
                              [&](MPI_Request* request) {
                                return MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, from,
                                                 kPayloadTag + slot_of(arrival), comm_, request);
                              },
                              {.done =
                                   [this, done, large](const Ended& how) {
                                     if (large) moved();
                                     done(how.good);
                                   },
                               .peer = from,
                               .receives = true,
                               .on_handler = true,
                               .moves = true,
                               .large = large});
    if (posted && large) {
      moved();
      wake_ups_->wake(from, true);
    }
  }
  if (!posted) done(false);
}

void MpiActive::answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) {
  static const std::byte kAnswered{1};
  const int to = arrival.from;
  const bool large = data.size() > kLarge;
  std::vector<Operations::Done> ended;
  bool posted = false;
  {
    const std::scoped_lock lock(mutex_);
    posted = !stopped_ && can_send(to) &&
             operations_.add(
                 [&](MPI_Request* request) {
                   return MPI_Isend(data.empty() ? &kAnswered : data.data(),
                                    data.empty() ? 1 : static_cast<int>(data.size()), MPI_BYTE, to,
                                    kAnswerTag + slot_of(arrival), comm_, request);
                 },
                 {.done =
                      [this, sent, large](const Ended&) {
                        if (large) moved();
                        sent();
                      },
                  .peer = to,
                  .moves = large,
                  .large = large});
    if (posted && large) moved();
    if (posted) wake_ups_->wake(to, large);
  }
  if (!posted) return sent();
  if (std::this_thread::get_id() == thread_.get_id()) return;
  // From another thread: small ones have gone already, others need the handler.
  try {
    if (!large) return static_cast<void>(look(false));
  } catch (const std::bad_alloc&) {  // the handler finds what this thread does not
  }
  wake_ups_->wake_self();
}

void MpiActive::refuse(const Arrival& arrival, const CallFailure& failure) {
  auto wire = std::make_shared<WireFailure>();
  wire->kind = static_cast<std::int32_t>(failure.kind);
  wire->code = failure.code;
  wire->length = static_cast<std::int32_t>(std::min(failure.text.size(), wire->text.size()));
  std::copy_n(failure.text.begin(), wire->length, wire->text.begin());
  Operation answer{.done = [wire](const Ended&) {}, .peer = arrival.from};
  Operation reason{.done = [wire](const Ended&) {}, .peer = arrival.from};
  const std::scoped_lock lock(mutex_);
  if (stopped_ || !can_send(arrival.from)) return;
  operations_.make_room(2);  // both or none
  const auto send = [&](const void* data, int bytes, int tag, Operation operation) {
    operations_.add(
        [&](MPI_Request* request) {
          return MPI_Isend(data, bytes, MPI_BYTE, arrival.from, tag + slot_of(arrival), comm_, request);
        },
        std::move(operation));
  };
  // An answer of no bytes, which none that serves the call has.
  send(nullptr, 0, kAnswerTag, std::move(answer));
  send(wire.get(), sizeof(WireFailure), kFailureTag, std::move(reason));
  wake_ups_->wake(arrival.from, false);
}

}  // namespace plait::transport::mpi
