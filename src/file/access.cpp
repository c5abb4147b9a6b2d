#include <algorithm>
#include <cerrno>
#include <thread>

#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "engine/stopwatch.hpp"
#include "file/impl.hpp"
#include "plan/partners.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace file {

bool ends_protocol(const Error& error) {
  return error.system_code() == EOWNERDEAD || error.system_code() == ECANCELED;
}

void refuse(const Comm& comm, const std::string& message) {
  const Error error(ErrorKind::kArgument, message);
  if (comm.alone()) throw error;
  engine::prepare(*comm.transport());
  engine::agree(*comm.transport(), std::make_exception_ptr(error));
  throw error;
}

std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts) {
  std::vector<MutablePart> result;
  for (const ConstPart& part : parts) result.push_back({const_cast<std::byte*>(part.data), part.steps});
  return result;
}

std::vector<engine::LocalArray> local_arrays(const Layout& layout, const std::vector<MutablePart>& parts,
                                             std::int64_t element_bytes, const Comm& comm) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::kArgument, message); };
  if (!comm.alone() && layout.size() != comm.size())
    refuse(base::text("the layout ", to_string(layout), " is for ", layout.size(), " ranks, but the communicator has ",
                      comm.size(), "; use a grid of ", comm.size(), " ranks"));
  const std::int64_t held = comm.alone() ? layout.size() : 1;
  if (static_cast<std::int64_t>(parts.size()) != held)
    refuse(base::text(parts.size(), " local arrays were given for ", held, comm.alone() ? " ranks" : " rank of this process"));
  std::vector<engine::LocalArray> arrays;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t rank = comm.alone() ? static_cast<std::int64_t>(i) : comm.rank();
    Extents steps = parts[i].steps;
    if (steps.empty()) {
      steps = plan::dense_strides(layout.local_shape(rank), layout.order());
      for (std::int64_t& step : steps) step *= element_bytes;
    }
    if (static_cast<int>(steps.size()) != layout.dimensions())
      refuse(base::text("the local array of rank ", rank, " has ", steps.size(), " dimensions, the layout ",
                        layout.dimensions()));
    if (parts[i].data == nullptr && layout.local_elements(rank) > 0)
      refuse(base::text("the local array of rank ", rank, " is missing"));
    arrays.push_back({rank, parts[i].data, std::move(steps)});
  }
  return arrays;
}

}  // namespace file

plan::AccessPlan File::Impl::plan(const Layout& layout, const Region& region, int workers, bool nodes_apart,
                                  bool write) const {
  return plan::AccessPlan(plan::Section(type.shape, type.order, region), layout, type.element_bytes, data_offset, workers,
                          nodes_apart, write, access_options);
}

void File::Impl::check_open() const {
  if (broken)
    throw Error(ErrorKind::kArgument, base::text(path, ": an earlier collective call failed for good; open the file anew"));
  if (!open) throw Error(ErrorKind::kArgument, base::text(path, " is closed; open it again"));
}

int File::Impl::useful_threads(const Layout& layout) const {
  constexpr std::int64_t kBytesAThread = std::int64_t{1} << 20;
  const std::int64_t bytes = layout.elements() / std::max<std::int64_t>(kBytesAThread / type.element_bytes, 1);
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(bytes, cores), 1, 64));
}

void File::Impl::with_transport(const std::function<void(transport::Transport&)>& body) {
  if (comm.alone()) {
    body(*transport::thread::make_alone());
  } else {
    body(*comm.transport());
  }
}

void File::Impl::access(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region, bool write) {
  try {
    if (!comm.alone()) {
      run(*comm.transport(), layout, parts, region, write, times);
      return;
    }
    check_open();
    const int threads = useful_threads(layout);
    if (threads == 1) {
      run(*transport::thread::make_alone(), layout, parts, region, write, times);
      return;
    }
    std::vector<AccessTimes> spent(static_cast<std::size_t>(threads));
    transport::thread::run_team(threads, [&](transport::Transport& transport) {
      run(transport, layout, parts, region, write, spent[static_cast<std::size_t>(transport.rank())]);
    });
    times = *std::max_element(spent.begin(), spent.end(), [](auto& a, auto& b) { return a.total < b.total; });
  } catch (const Error& error) {
    if ((write && mode == Mode::kWrite && error.kind() == ErrorKind::kSystem) || file::ends_protocol(error)) fail();
    throw;
  }
}

void File::Impl::run(transport::Transport& transport, const Layout& layout, const std::vector<MutablePart>& parts,
                     const Region& region, bool write, AccessTimes& spent) {
  engine::Times engine_times;
  {
    const engine::Stopwatch watch(engine_times.total);
    if (!comm.alone()) check_open();
    engine::prepare(transport);
    std::unique_ptr<plan::AccessPlan> made;
    std::vector<engine::LocalArray> arrays;
    auto mine = engine::caught([&] {
      if (write && mode == Mode::kRead)
        throw Error(ErrorKind::kArgument, base::text(path, " is open for reading; open it with mode \"r+\" or \"w\" to write"));
      made = std::make_unique<plan::AccessPlan>(
          plan(layout, region, transport.size(), transport.nodes_apart(), write));
      arrays = file::local_arrays(layout, parts, type.element_bytes, comm);
    });
    const auto move = [&] {
      const engine::Access access{*made, *store, data_offset, transport, arrays, comm.alone(), engine_times};
      if (write) {
        dirty = true;
        engine::write(access);
      } else {
        engine::read(access);
      }
    };
    const std::string call =
        base::text(write ? "write" : "read", '(', to_string(layout), ", region ", to_string(region), ')');
    // A direct read waits for nobody and changes nothing but its own arrays: one agreement at its end serves for both.
    const bool independent = !mine && !write && made->strategy() == plan::Strategy::kDirect;
    if (independent) mine = engine::caught(move);
    engine::agree(transport, call, mine);
    if (!independent) engine::agree(transport, engine::caught(move));
  }
  spent = {engine_times.io, engine_times.copy, engine_times.wait, engine_times.total};
}

void File::Impl::refuse(const std::string& message) {
  check_open();
  try {
    file::refuse(comm, message);
  } catch (const Error& error) {
    if (file::ends_protocol(error)) fail();
    throw;
  }
}

void File::Impl::fail() noexcept {
  broken = true;
  open = false;
  replacement = nullptr;
  store = nullptr;
}

void File::Impl::close() {
  if (!open) return;
  try {
    with_transport([this](transport::Transport& transport) {
      engine::prepare(transport);
      engine::agree(transport, "close()", nullptr);
      engine::agree(transport, engine::caught([&] {
                      if (dirty || mode == Mode::kWrite) store->sync();
                    }));
      engine::agree(transport, engine::caught([&] {
                      if (replacement) replacement->commit();
                    }));
    });
  } catch (...) {
    fail();
    throw;
  }
  open = false;
  replacement = nullptr;
  store = nullptr;
}

void File::Impl::abandon() {
  if (!open) return;
  if (mode == Mode::kWrite && !comm.alone()) {
    const auto given_up = std::make_exception_ptr(
        Error(ErrorKind::kSystem, base::text(path, " was given up; nothing was written"), ECANCELED));
    engine::prepare(*comm.transport());
    // Everyone who takes part, here or in another call, hears of it as this error.
    engine::caught([&] { engine::agree(*comm.transport(), given_up); });
  }
  fail();
}

}  // namespace plait
