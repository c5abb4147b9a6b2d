#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "collective/stopwatch.hpp"
#include "core/comm/giving_up.hpp"
#include "core/comm/guard.hpp"
#include "core/file/impl.hpp"
#include "core/file/recorded.hpp"
#include "core/redistribution/apart.hpp"
#include "plan/conversion/partners.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace core {

void refuse(const Comm& comm, const std::string& message) {
  const std::exception_ptr error = collective::caught([&] { throw Error(ErrorKind::kArgument, message); });
  if (!comm.alone()) collective::Collective::refuse(*comm.transport(), error);
  std::rethrow_exception(error);
}

void refuse(const Comm& comm, const std::exception_ptr& error) {
  if (comm.alone()) collective::agree(*transport::thread::make_alone(), error);
  comm.worker()->run([&] { collective::Collective::refuse(*comm.transport(), error); });
  std::rethrow_exception(error);  // not reached: an error of one's own is thrown by agree()
}

std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts) {
  std::vector<MutablePart> result;
  for (const ConstPart& part : parts) result.push_back({const_cast<std::byte*>(part.data), part.steps});
  return result;
}

void check_ranks(const Layout& layout, const Comm& comm) {
  if (comm.alone() || layout.ranks_end() <= comm.size()) return;
  throw Error(ErrorKind::kArgument,
              base::text("the layout ", to_string(layout), " is for ", layout.size(), " ranks, the last one ",
                         layout.ranks_end() - 1, ", but the communicator has the ranks 0 to ", comm.size() - 1,
                         "; use a grid of at most ", comm.size(), " ranks"));
}

int useful_threads(std::int64_t elements, std::int64_t element_bytes) {
  constexpr std::int64_t kBytesAThread = std::int64_t{1} << 20;
  const std::int64_t worth = elements / std::max<std::int64_t>(kBytesAThread / element_bytes, 1);
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(worth, cores), 1, 64));
}

std::vector<copy::LocalArray> local_arrays(const Layout& layout, std::span<const MutablePart> parts,
                                           std::int64_t element_bytes, const Comm& comm) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::kArgument, message); };
  check_ranks(layout, comm);
  std::vector<std::int64_t> ranks;
  if (comm.alone()) {
    ranks = layout.rank_numbers();
  } else if (layout.has_rank(comm.rank())) {
    ranks.push_back(comm.rank());
  }
  if (parts.size() != ranks.size())
    refuse(base::text(parts.size(), " local arrays were given for ", ranks.size(),
                      comm.alone() ? " ranks of " : " ranks of this process in ", to_string(layout)));
  std::vector<copy::LocalArray> arrays;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Extents shape = layout.padded_shape(ranks[i]);
    Extents steps = parts[i].steps;
    if (steps.empty()) {
      steps = plan::dense_strides(shape, layout.order());
      for (std::int64_t& step : steps) step *= element_bytes;
    }
    if (static_cast<int>(steps.size()) != layout.dimensions())
      refuse(base::text("the local array of rank ", ranks[i], " has ", steps.size(), " dimensions, the layout ",
                        layout.dimensions()));
    if (parts[i].data == nullptr && base::checked_product(shape, "number of local elements") > 0)
      refuse(base::text("the local array of rank ", ranks[i], " is missing"));
    arrays.push_back({ranks[i], parts[i].data, std::move(steps)});
  }
  return arrays;
}

}  // namespace core

plan::AccessPlan File::Impl::plan(const Layout& layout, const Region& region, int workers, bool nodes_apart,
                                  Action action) const {
  plan::AccessOptions options = access_options;
  if (comm.alone()) {  // its threads share what one rank may use
    options.memory_bytes = (options.memory_bytes == 0 ? plan::kDefaultMemory : options.memory_bytes) / workers;
    options.readers = std::min<std::int64_t>(options.readers, workers);
  }
  options.fill_halo = action == Action::kFill;
  return plan::AccessPlan(section_of(region), layout, type.element_bytes, data_offset, workers, nodes_apart,
                          action == Action::kWrite, options);
}

bool File::Impl::given_up() const { return !comm.alone() && comm.transport()->given_up().contains(number); }

bool File::Impl::is_lost(const Error& error) const { return error.system_code() == EOWNERDEAD || given_up(); }

void File::Impl::check_open() const {
  if (given_up()) throw Error(ErrorKind::kSystem, base::text(path, " was given up by a rank; open it anew"), ECANCELED);
  check_open_here();
}

void File::Impl::check_open_here() const {
  if (broken)
    throw Error(ErrorKind::kArgument,
                base::text(path, ": an earlier collective call failed for good; open the file anew"));
  if (!open) throw Error(ErrorKind::kArgument, base::text(path, " is closed; open it again"));
}

int File::Impl::useful_threads(const Layout& layout) const {
  constexpr std::int64_t kLeastMemory = std::int64_t{1} << 20;  // less is not worth sharing out
  if (access_options.memory_bytes != 0 && access_options.memory_bytes < kLeastMemory) return 1;
  return core::useful_threads(layout.elements(), type.element_bytes);
}

void File::Impl::with_transport(const std::function<void(transport::Transport&)>& body) {
  if (comm.alone()) {
    body(*transport::thread::make_alone());
  } else {
    collective::together(*comm.transport(), [&] { body(*comm.transport()); });
  }
}

const File::Impl::Planned& File::Impl::planned(const Layout& layout, const Region& region, int workers,
                                               bool nodes_apart, Action action) {
  const auto serves = [&](const std::unique_ptr<Planned>& old) {
    return old->action == action && old->workers == workers && old->offset == data_offset &&
           old->element_bytes == type.element_bytes && old->memory == access_options.memory_bytes &&
           old->order == type.order && old->shape == type.shape && old->region == region &&
           old->layout.spelled_like(layout);
  };
  auto found = std::find_if(plans_.begin(), plans_.end(), serves);
  if (found == plans_.end()) {
    if (plans_.size() == kPlansKept) plans_.pop_back();
    found = plans_.insert(
        plans_.end(),
        std::make_unique<Planned>(Planned{
            type.shape, type.element_bytes, type.order, data_offset, access_options.memory_bytes, layout, region,
            workers, action, plan(layout, region, workers, nodes_apart, action), call_text(layout, region, action)}));
  }
  std::rotate(plans_.begin(), found, found + 1);
  return *plans_.front();
}

std::string File::Impl::call_text(const Layout& layout, const Region& region, Action action) const {
  const std::string array = several ? base::text(", elements of ", type.element_bytes, " bytes at offset ", data_offset,
                                                 ", memory ", access_options.memory_bytes)
                                    : "";
  return base::text(action == Action::kWrite  ? "write"
                    : action == Action::kFill ? "read with halos"
                                              : "read",
                    '(', to_string(layout), ", region ", to_string(region), array, ") of ", name());
}

void File::Impl::check_mode(bool write) const {
  if (write && mode == Mode::kRead)
    throw Error(ErrorKind::kArgument,
                base::text(path, " is open for reading; open it with mode \"r+\" or \"w\" to write"));
}

void File::Impl::access(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region,
                        Action action, const base::RecordedCall& asked, unsigned flags) {
  const auto extent = [&] {
    return core::asked_extent(section_of(region), layout, comm.alone() ? -1 : comm.rank(), type.element_bytes,
                              data_offset);
  };
  const auto carry_out = [&] {
    check_open();
    bool begun = false;
    try {
      if (comm.alone()) {
        run_alone(layout, parts, region, action, begun, asked);
      } else {
        run_together(layout, parts, region, action, begun);
      }
    } catch (const Error& error) {
      // An error that another rank brings from another call than this write has let nothing be written.
      after_failure(error, begun);
      throw;
    }
    return asked.kept() ? extent().bytes : 0;
  };
  core::keep(asked, action == Action::kWrite ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, recorded, flags | together_flags(),
             extent, carry_out);
}

void File::Impl::after_failure(const Error& error, bool write) {
  if ((write && mode == Mode::kWrite && error.kind() == ErrorKind::kSystem) || is_lost(error)) fail();
}

File::Impl::Ready File::Impl::make_ready(const Layout& layout, const std::vector<MutablePart>& parts,
                                         const Region& region, Action action, int workers, bool nodes_apart) {
  const bool write = action == Action::kWrite;
  check_mode(write);
  Ready ready;
  ready.planned = &planned(layout, region, workers, nodes_apart, action);
  ready.arrays = core::local_arrays(layout, parts, type.element_bytes, comm);
  if (!write) core::check_filled(layout, ready.arrays, action == Action::kFill, type.element_bytes);
  return ready;
}

std::unique_ptr<access::Move> File::Impl::make_move(transport::Transport& transport, const Ready& ready,
                                                    collective::Times& spent) {
  const access::Access access{ready.planned->plan, *store, data_offset, transport, ready.arrays, comm.alone(), spent};
  return ready.planned->action == Action::kWrite ? access::make_write(access) : access::make_read(access);
}

void File::Impl::run_together(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region,
                              Action action, bool& begun) {
  const bool write = action == Action::kWrite;
  collective::Times spent;
  transport::Transport& transport = *comm.transport();
  collective::together(transport, [&] {
    const collective::Stopwatch watch(spent.total);
    if (needs_room(write)) {
      collective::Collective growing(
          transport, [&] { return call_text(layout, region, action); }, [&] { check_mode(write); });
      begun = write;
      make_room(growing);
    }
    Ready ready;
    std::unique_ptr<access::Move> move;
    auto mine = collective::caught([&] {
      ready = make_ready(layout, parts, region, action, transport.size(), transport.nodes_apart());
      move = make_move(transport, ready, spent);
    });
    // A direct read waits for nobody and changes nothing but its own arrays: one agreement at its end serves for both.
    const bool independent = !mine && !write && ready.planned->plan.strategy() == plan::Strategy::kDirect;
    if (independent) mine = collective::caught([&] { move->run(); });
    collective::Collective call =
        mine ? collective::Collective(
                   transport, [&] { return call_text(layout, region, action); }, [&] { std::rethrow_exception(mine); })
             : collective::Collective(transport, ready.planned->call, nullptr);
    begun = write;
    dirty = dirty || write;
    if (!independent) call.step([&] { move->run(); });
  });
  times = {spent.io, spent.copy, spent.wait, spent.total};
}

void File::Impl::run_alone(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region,
                           Action action, bool& begun, const base::RecordedCall& asked) {
  const bool write = action == Action::kWrite;
  const int threads = useful_threads(layout);
  std::vector<collective::Times> spent(static_cast<std::size_t>(threads));
  const Ready ready = make_ready(layout, parts, region, action, threads, false);
  begun = write;
  dirty = dirty || write;
  if (needs_room(write)) {
    const auto alone = transport::thread::make_alone();
    collective::Collective growing(*alone, std::string(), nullptr);
    make_room(growing);
  }
  const auto work = [&](transport::Transport& transport) {
    const base::OperationScope during(asked);
    collective::Times& own = spent[static_cast<std::size_t>(transport.rank())];
    const collective::Stopwatch watch(own.total);
    std::unique_ptr<access::Move> move;
    collective::Collective call(transport, ready.planned->call,
                                collective::caught([&] { move = make_move(transport, ready, own); }));
    call.step([&] { move->run(); });
  };
  if (threads == 1) {
    work(*transport::thread::make_alone());
  } else {
    transport::thread::run_team(threads, work);
  }
  const auto& longest =
      *std::max_element(spent.begin(), spent.end(), [](auto& a, auto& b) { return a.total < b.total; });
  times = {longest.io, longest.copy, longest.wait, longest.total};
}

void File::Impl::refuse(const std::string& message) {
  check_open();
  try {
    core::refuse(comm, message);
  } catch (const Error& error) {
    after_failure(error, false);
    throw;
  }
}

void File::Impl::fail() noexcept {
  broken = true;
  open = false;
  unclosed.end();
  source = nullptr;
  store = nullptr;
}

void File::Impl::room_for_write() {
  const std::scoped_lock lock(writes_mutex_);
  std::erase_if(writes_, [](const auto& old) { return old->settled(); });
  writes_.reserve(writes_.size() + 1);
}

void File::Impl::keep_write(const std::shared_ptr<Request::Impl>& write) {
  const std::scoped_lock lock(writes_mutex_);
  std::erase_if(writes_, [](const auto& old) { return old->settled(); });
  writes_.push_back(write);
}

void File::Impl::lose_write(const std::exception_ptr& error) {
  const std::scoped_lock lock(writes_mutex_);
  if (!lost_write_) lost_write_ = error;
}

std::exception_ptr File::Impl::untold_error() {
  const std::scoped_lock lock(writes_mutex_);
  std::exception_ptr first = std::exchange(lost_write_, nullptr);
  for (const auto& write : writes_)
    if (const std::exception_ptr error = write->untold(); error && !first) first = error;
  writes_.clear();
  return first;
}

void File::Impl::close() {
  if (!open) {
    if (const std::exception_ptr untold = untold_error()) std::rethrow_exception(untold);
    return;
  }
  check_open();
  bool lost = false;  // the file, on all ranks alike
  try {
    with_transport([&](transport::Transport& transport) {
      collective::Collective call(transport, [this] { return "close() of " + name(); }, [] {});
      // Only now is it sure that all ranks hear of a write that failed: an error in another call does not swallow it.
      lost = mode == Mode::kWrite;
      call.step_done(untold_error());
      lost = true;
      source->finish(call, dirty || mode == Mode::kWrite);
    });
  } catch (const Error& error) {
    // Ranks that made another call have kept the file open, so this one does as well.
    if (lost) fail();
    after_failure(error, false);
    throw;
  }
  open = false;
  unclosed.end();
  source = nullptr;
  store = nullptr;
}

void File::Impl::abandon() {
  if (!open) return;
  // Everyone who takes part, here or in another call on this Comm, hears of it as this error.
  const Error error(ErrorKind::kSystem,
                    base::text(path, mode == Mode::kWrite ? " was given up; nothing was written" : " was given up"),
                    ECANCELED);
  collective::caught([&] { core::give_up(comm, number, error); });
  fail();
}

}  // namespace plait
