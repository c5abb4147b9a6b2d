// Reads and writes of a File.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "access/access.hpp"
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
    throw Error(ErrorKind::kArgument,
                base::text(path_, " is open for reading; open it with mode \"r+\" or \"w\" to write"));
}

void File::Impl::access(const AccessRequest& request, const base::RecordedCall& asked, unsigned flags) {
  const auto extent = [&] {
    return core::asked_extent(array_.section(request.region), request.layout, comm_.alone() ? -1 : comm_.rank(),
                              array_.type.element_bytes, array_.data_offset);
  };
  const auto carry_out = [&] {
    check_open();
    std::atomic<bool> begun{false};
    try {
      if (channel() != nullptr) {
        transfer(request);
      } else {
        run(request, asked, begun);
      }
    } catch (const Error& error) {
      // An error that another rank brings from another call than this write has let nothing be written.
      after_failure(error, begun);
      throw;
    }
    return asked.kept() ? extent().bytes : 0;
  };
  core::keep(asked, {request.writes() ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, recorded_, flags | together_flags()},
             extent, carry_out);
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

void File::Impl::run(const AccessRequest& request, const base::RecordedCall& asked, std::atomic<bool>& begun) {
  collective::Times all;
  Ready ready;
  const Workers workers = workers_for(request.layout);
  std::vector<collective::Times> spent(workers.threads ? static_cast<std::size_t>(workers.number) : 1);
  {
    const collective::Stopwatch watch(all.total);
    const auto prepared = collective::caught([&] { ready = make_ready(request, workers); });
    if (needs_room(request.writes())) {
      with_transport([&](transport::Transport& transport) {
        collective::Collective growing(
            transport, [&] { return call_text(request); },
            [&] {
              if (prepared) std::rethrow_exception(prepared);
            });
        begun = true;
        make_room(growing);
      });
    }
    const auto work = [&](transport::Transport& transport) {
      const base::OperationScope during(asked);
      const auto own = workers.threads ? static_cast<std::size_t>(transport.rank()) : 0;
      run_worker(transport, request, {ready, prepared, spent[own], begun});
    };
    const auto failed = collective::caught([&] {
      if (!workers.threads || workers.number == 1) return with_transport(work);
      if (prepared) std::rethrow_exception(prepared);
      transport::thread::run_team(workers.number, work);
    });
    if (failed) {
      if (begun && request.writes()) store_->forget();
      std::rethrow_exception(failed);
    }
  }
  if (ready.planned != nullptr) ready.planned->learn(spent.front().common);
  const auto& longest =
      *std::max_element(spent.begin(), spent.end(), [](auto& a, auto& b) { return a.total < b.total; });
  times_ = {longest.io, longest.copy, longest.wait, all.total};
}

void File::Impl::run_worker(transport::Transport& transport, const AccessRequest& request, const Part& part) {
  const collective::Stopwatch watch(part.spent.total);
  const collective::Elapsed since_call;
  const bool write = request.writes();
  std::unique_ptr<access::Move> move;
  auto mine = part.prepared;
  if (!mine)
    mine = collective::caught([&] {
      const access::Access access{part.ready.planned->next(), *store_,       array_.data_offset, transport,
                                  part.ready.arrays,          comm_.alone(), part.spent};
      move = write ? access::make_write(access) : access::make_read(access);
    });
  // A direct read waits for nobody and changes nothing but its own arrays: one agreement at its end serves for both.
  const bool independent = !mine && !write && part.ready.planned->next().strategy() == plan::Strategy::kDirect;
  if (independent) mine = collective::caught([&] { move->run(); });
  // The time of the slowest rank; in a two-phase read, which begins and ends for all together, that of the last to come.
  std::int64_t number = -since_call.nanoseconds();
  collective::Collective call =
      mine ? collective::Collective(
                 transport, [&] { return call_text(request); }, [&] { std::rethrow_exception(mine); })
           : collective::Collective(transport, part.ready.planned->call(), number);
  if (write) {
    part.begun = true;
    dirty_ = true;
  }
  if (!independent) {
    // Threads have one store together, which is settled when all have written.
    const bool shared = comm_.alone() && transport.size() > 1;
    const collective::Elapsed since_agreed;
    call.step(
        [&] {
          move->run();
          if (write && !shared) store_->settle();
          number = write ? -since_agreed.nanoseconds() : since_call.nanoseconds();
        },
        number);
    if (write && shared)
      call.step([&] {
        if (transport.rank() == 0) store_->settle();
      });
  }
  part.spent.common = static_cast<double>(std::abs(number)) * 1e-9;
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
