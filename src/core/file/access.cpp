// Reads and writes of a File.
//
// The steps of an access; the numbers are at the code of each step:
//
//   1. Record   A trace gets an event with the extent of the call, and with its result or its error.
//   2. Plan     This process checks its arguments and finds the plan of an earlier equal access, or makes a new plan.
//   3. Extend   Before a write, the ranks extend a store that does not grow by being written.
//   4. Agree    All workers compare their calls.  No worker starts a write unless every worker has made the same call
//               without an error.
//   5. Execute  Each worker moves its part.  A write is committed to the store once its data have been moved.
//   6. Finish   All workers learn whether every part has succeeded, and how long the slowest worker has taken.
//   7. Learn    The plan takes that time, which is the same on all ranks, into account for its next strategy.
//
// A worker is a rank, or a thread if the process is alone.  Threads share steps 1 to 3 and 7.  A direct read does not
// depend on other workers, so it executes first and needs one agreement instead of two.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "access/access.hpp"
#include "base/errors.hpp"
#include "base/function_ref.hpp"
#include "collective/agree.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/file/impl.hpp"
#include "core/file/recorded.hpp"
#include "core/redistribution/apart.hpp"
#include "transport/thread/team.hpp"

namespace plait {

using core::AccessRequest;
using core::Action;
using core::Workers;

namespace {

/// Agrees on a call, whose text is made only if there are other workers, or on the error of this worker.
collective::Collective agree_on_call(transport::Transport& transport, base::FunctionRef<std::string()> text,
                                     const std::exception_ptr& error) {
  return {transport, text, [&] {
            if (error) std::rethrow_exception(error);
          }};
}

/// Executes and finishes a read.  Returns the nanoseconds of the worker that has called last.
std::int64_t execute_read(collective::Collective& call, access::Move& move, const collective::Elapsed& since_call) {
  std::int64_t nanoseconds = 0;
  call.step(
      [&] {
        move.run();
        nanoseconds = since_call.nanoseconds();
      },
      nanoseconds);
  return nanoseconds;
}

/// Executes and finishes a write.  Threads share a store, which one of them commits once all have written.  Returns the
/// nanoseconds of the slowest worker, negative: workers agree on the smallest number.
std::int64_t execute_write(collective::Collective& call, access::Move& move, store::Store& store, bool threads) {
  const collective::Elapsed since_agreed;
  std::int64_t nanoseconds = 0;
  call.step(
      [&] {
        move.run();
        if (!threads) store.flush();
        nanoseconds = -since_agreed.nanoseconds();
      },
      nanoseconds);
  if (threads)
    call.step([&] {
      if (call.transport().rank() == 0) store.flush();
    });
  return nanoseconds;
}

/// The times of the slowest worker, and the total of this process.
AccessTimes longest_times(std::span<const collective::Times> workers, double total) {
  const auto longest =
      std::max_element(workers.begin(), workers.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
  return {longest->io, longest->copy, longest->wait, total};
}

}  // namespace

Workers File::Impl::workers_for(const Layout& layout) const {
  if (!comm_.alone()) {
    const transport::Transport& transport = core::transport_of(comm_);
    return {comm_.size(), false, transport.nodes_apart(), transport.nodes()};
  }
  constexpr std::int64_t kLeastMemory = std::int64_t{1} << 20;  // less is not worth sharing out
  const std::int64_t memory = array_.options.memory_bytes;
  const bool small = memory != 0 && memory < kLeastMemory;
  std::int64_t number = small ? 1 : core::useful_threads(layout.elements(), array_.type.element_bytes);
  // Each works on whole chunks, of which windows have to have room for one.
  if (array_.packed) {
    std::int64_t chunk = array_.type.element_bytes;
    for (const std::int64_t extent : array_.chunk) chunk *= extent;
    const std::int64_t room = (memory == 0 ? plan::kDefaultMemory : memory) / plan::kSlots;
    number = std::clamp<std::int64_t>(room / std::max<std::int64_t>(chunk, 1), 1, number);
  }
  return {static_cast<int>(number), true, false};
}

std::string File::Impl::call_text(const AccessRequest& request) const {
  std::string array;
  if (channel() != nullptr)
    array = base::text(", array \"", steps_.variable, "\" of elements of ", array_.type.element_bytes, " bytes ",
                       array_.type.dtype);
  else if (array_.several || !members_.empty())
    array = base::text(", elements of ", array_.type.element_bytes, " bytes at offset ", array_.data_offset,
                       ", memory ", array_.options.memory_bytes);
  return base::text(request.action == Action::kWrite  ? "write"
                    : request.action == Action::kFill ? "read with halos"
                                                      : "read",
                    '(', to_string(request.layout), ", region ", to_string(request.region), array, ") of ", name());
}

void File::Impl::check_mode(bool write) const {
  if (write && mode_ == Mode::kRead)
    base::throw_argument_error(path_, " is open for reading; open it with mode \"r+\" or \"w\" to write");
}

void File::Impl::access(const AccessRequest& request, const base::RecordedCall& asked, unsigned flags) {
  const core::RecordedAs event{request.writes() ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, recorded_,
                               flags | together_flags()};
  const auto extent = [&] {
    return core::asked_extent(array_.section(request.region), request.layout, comm_.alone() ? -1 : comm_.rank(),
                              array_.type.element_bytes, array_.data_offset);
  };
  const auto carry_out = [&] {
    check_open();
    std::atomic<bool> begun{false};
    try {
      if (channel() != nullptr)
        transfer(request);
      else
        run(request, asked, begun);
    } catch (const Error& error) {
      // An error that another rank brings from another call than this write has let nothing be written.
      after_failure(error, begun);
      throw;
    }
    return asked.kept() ? extent().bytes : 0;
  };
  core::keep(asked, event, extent, carry_out);  // 1. Record
}

void File::Impl::run(const AccessRequest& request, const base::RecordedCall& asked, std::atomic<bool>& begun) {
  const Workers workers = workers_for(request.layout);
  const bool team = workers.threads && workers.number > 1;
  std::vector<collective::Times> spent(team ? static_cast<std::size_t>(workers.number) : 1);
  const collective::Elapsed since_begin;

  // 2. Plan.  Other ranks learn of an error in step 3 or 4.
  Ready ready;
  const auto prepared = collective::caught([&] { ready = make_ready(request, workers); });

  // 3. Extend
  if (needs_room(request.writes()))
    with_transport([&](transport::Transport& transport) {
      collective::Collective call = agree_on_call(transport, [&] { return call_text(request); }, prepared);
      begun = true;
      make_room(call);
    });

  // 4. Agree, 5. Execute, 6. Finish
  const auto work = [&](transport::Transport& transport) {
    const base::OperationScope during(asked);
    const auto worker = team ? static_cast<std::size_t>(transport.rank()) : 0;
    run_worker(transport, request, {ready, prepared, spent[worker], begun});
  };
  if (team && prepared) std::rethrow_exception(prepared);
  try {
    if (team)
      transport::thread::run_team(workers.number, work);
    else
      with_transport(work);
  } catch (...) {
    if (begun && request.writes()) store_->forget();
    throw;
  }
  const double total = 1e-9 * static_cast<double>(since_begin.nanoseconds());

  // 7. Learn
  ready.planned->learn(spent.front().common);
  times_ = longest_times(spent, total);
}

File::Impl::Ready File::Impl::make_ready(const AccessRequest& request, const Workers& workers) {
  check_mode(request.writes());
  Ready ready;
  if (!comm_.alone()) plans_.forget_after(core::transport_of(comm_).failures());
  ready.planned = &plans_.plan(array_, request, workers, [&] { return call_text(request); });
  ready.arrays = core::local_arrays(request.layout, request.parts, array_.type.element_bytes, comm_);
  if (!request.writes())
    core::check_filled(request.layout, ready.arrays, request.action == Action::kFill, array_.type.element_bytes);
  return ready;
}

void File::Impl::run_worker(transport::Transport& transport, const AccessRequest& request, const Part& part) {
  const collective::Stopwatch watch(part.spent.total);
  const collective::Elapsed since_call;
  std::unique_ptr<access::Move> move;
  bool independent = false;
  std::exception_ptr error = part.prepared;
  if (!error)
    error = collective::caught([&] {
      const plan::AccessPlan& plan = part.ready.planned->next();
      const access::Access access{plan,          *store_,   array_.data_offset, transport, part.ready.arrays,
                                  comm_.alone(), part.spent};
      move = request.writes() ? access::make_write(access) : access::make_read(access);
      independent = !request.writes() && plan.strategy() == plan::Strategy::kDirect;
      if (independent) move->run();  // 5. Execute, before the only agreement of a direct read
    });

  // 4. Agree
  std::int64_t nanoseconds = -since_call.nanoseconds();
  collective::Collective call = error ? agree_on_call(
                                            transport, [&] { return call_text(request); }, error)
                                      : collective::Collective(transport, part.ready.planned->call(), nanoseconds);
  if (request.writes()) {
    part.begun = true;
    dirty_ = true;
    // 5. Execute, 6. Finish
    nanoseconds = execute_write(call, *move, *store_, comm_.alone() && transport.size() > 1);
  } else if (!independent) {
    nanoseconds = execute_read(call, *move, since_call);
  }
  part.spent.common = static_cast<double>(std::abs(nanoseconds)) * 1e-9;
}

std::string File::Impl::explain(const AccessRequest& request) const {
  check_open();
  if (channel() != nullptr) {
    std::vector<copy::LocalArray> arrays;
    for (const std::int64_t rank : core::ranks_held(request.layout, comm_)) arrays.push_back({rank, nullptr, {}});
    collective::Times spent;
    return channel()->explain(transfer_of(request, arrays, spent));
  }
  const Workers workers = workers_for(request.layout);
  const bool remembers = comm_.alone() || plans_.is_valid_after(core::transport_of(comm_).failures());
  const core::PlannedAccess* const kept = remembers ? plans_.kept(array_, request, workers) : nullptr;
  std::string text = kept != nullptr ? kept->next().explain(path_) + kept->explain()
                                     : core::make_plan(array_, request, workers).explain(path_);
  if (const std::string store = store_->description(); !store.empty()) text += "store      " + store + '\n';
  return text;
}

}  // namespace plait
