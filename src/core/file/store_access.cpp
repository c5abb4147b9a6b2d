// Reads and writes of a File.
//
// Problem: each worker has a part of an array in memory, and the file has the whole array. A worker is a rank, or a
// thread if the process is the only rank. Each worker makes the same plan by itself, so all of them must make the same
// call. If one fails, all must throw the same Error.
//
// Order; the numbers are at the code of each phase:
//
//   1. Record   A trace gets an event with the extent (offset and bytes) of the call, and with its result or its error.
//   2. Plan     This process checks its arguments and finds the plan of an earlier equal access, or makes a new plan.
//   3. Extend   Before a write, the ranks extend a store that does not grow by being written.
//   4. Agree    All workers compare their calls.  No worker starts a write unless every worker has made the same call
//               without an error.
//   5. Execute  Each worker moves its part.  A write is committed to the store once its data have been moved.
//   6. Finish   All workers learn whether every part has succeeded, and how long the slowest worker has taken.
//   7. Learn    The plan takes that time, which is the same on all ranks, into account for its next strategy.
//
// Threads share phases 1 to 3 and 7. A direct read does not depend on other workers, so it executes first and needs
// only one agreement.
//
// Errors: an error of phase 2 goes to the next agreement, in phase 3 or 4. A worker that fails in phase 5 still does
// its part of the exchange, and its error goes to phase 6. After phase 4 a write may have changed the store: if it
// fails, the store discards what it has not committed, and a new file fails for good (FileStorage::handle_error).
//
// Lifetime: the caller's arrays, the request and the plan outlive the access.  Each worker allocates its Move, with its
// buffers, before phase 4, so that a lack of memory is an error of that agreement, and frees it after phase 6.  Shared
// windows belong to the transport, which keeps them for the next access.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "access/access.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/stopwatch.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/file/channel_access.hpp"
#include "core/file/file_impl.hpp"
#include "core/file/recorded.hpp"
#include "core/redistribution/apart.hpp"
#include "plan/access/explain_access.hpp"
#include "store/objects/web/web_url.hpp"
#include "transport/thread/team.hpp"

namespace plait {

using core::AccessRequest;
using core::Workers;

namespace {

/// Returns true if the strides are those of a dense array in this order.
bool is_dense(const Extents& strides, const Extents& shape, Order order, std::int64_t element_bytes) {
  if (strides.size() != shape.size()) return false;
  std::int64_t stride = element_bytes;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t d = order == Order::kC ? shape.size() - 1 - i : i;
    if (shape[d] != 1 && strides[d] != stride) return false;
    stride *= shape[d];
  }
  return true;
}

/// Returns true if an access is one contiguous run both of an ordinary file and of the caller's array, without chunks
/// or stripes.
bool is_one_run(const AccessRequest& request, const core::SelectedArray& array, const store::Store& store) {
  const Layout& layout = request.layout;
  if (!request.region.empty() || !array.chunk.empty() || layout.size() != 1 || layout.has_halo()) return false;
  const Order order = array.type.order;
  const bool has_file_order = order == Order::kC ? std::ranges::is_sorted(layout.order())
                                                 : std::ranges::is_sorted(layout.order(), std::greater<>());
  const bool has_strides = !request.parts.empty() && !request.parts[0].strides.empty();
  const bool dense = has_strides ? is_dense(request.parts[0].strides, layout.shape(), order, array.type.element_bytes)
                                 : has_file_order;
  return dense && store.striping().disks <= 1 && store.file_identity().has_value();
}

/// Returns the ranks as workers, or the number of threads that are useful for the elements.
Workers choose_workers(const AccessRequest& request, const core::SelectedArray& array, const core::FileStorage& storage,
                       const Comm& comm) {
  const Layout& layout = request.layout;
  if (!comm.alone()) {
    const transport::Transport& transport = core::get_transport(comm);
    return {comm.size(), /*are_threads=*/false, transport.nodes_apart(), transport.nodes()};
  }
  constexpr std::int64_t kMinSharedMemory = std::int64_t{1} << 20;  // less memory is not worth dividing
  const std::int64_t memory = array.options.memory_bytes;
  const bool is_small = memory != 0 && memory < kMinSharedMemory;
  std::int64_t number = is_small ? 1 : core::useful_threads(layout.elements(), array.type.element_bytes);
  // Each thread works on whole compressed chunks, and its windows need the capacity of one.
  if (array.whole_chunks) {
    std::int64_t chunk = array.type.element_bytes;
    for (const std::int64_t extent : array.chunk) chunk *= extent;
    const std::int64_t capacity = (memory == 0 ? plan::kDefaultMemory : memory) / plan::kSlots;
    number = std::clamp<std::int64_t>(capacity / std::max<std::int64_t>(chunk, 1), 1, number);
  }
  // The system serializes writers of one file, so that further threads would only copy to windows. Starting a thread
  // takes as long as copying a megabyte from the page cache, and a short read is over before the thread has begun.
  constexpr std::int64_t kMinThreadedRead = std::int64_t{16} << 20;
  const bool is_short = layout.elements() < kMinThreadedRead / array.type.element_bytes;
  if (number > 1 && (request.writes() || is_short) && is_one_run(request, array, *storage.store())) number = 1;
  return {static_cast<int>(number), /*are_threads=*/true, /*nodes_apart=*/false};
}

/// One read or write of the elements in a store.
class StoreAccess {
 public:
  /// has_begun_write: becomes true when the store may have changed.
  StoreAccess(File::Impl& file, const AccessRequest& request, const base::RecordedCall& call,
              std::atomic<bool>& has_begun_write)
      : file_(file),
        array_(file.selection().array()),
        request_(request),
        call_(call),
        has_begun_write_(has_begun_write),
        workers_(choose_workers(request, array_, file.storage(), comm())),
        times_(is_team() ? static_cast<std::size_t>(workers_.number) : 1) {}

  /// Runs phases 2 to 7. Returns the times of the slowest worker.
  AccessTimes run();

 private:
  const Comm& comm() const { return file_.context().comm(); }
  store::Store& store() const { return *file_.storage().store(); }
  bool is_team() const { return workers_.are_threads && workers_.number > 1; }
  bool is_direct_read() const;
  std::string describe() const;

  void plan();
  bool must_extend() const;
  void extend();
  void run_workers();
  void run_worker(transport::Transport& transport);
  /// Creates the move of a worker, and executes a direct read. Returns the error, or that of phase 2.
  std::exception_ptr prepare(transport::Transport& transport, collective::Times& times,
                             std::unique_ptr<access::Move>& move);
  /// Compares the calls and errors of all workers. nanoseconds: becomes the smallest number of all workers.
  collective::Collective agree(transport::Transport& transport, const std::exception_ptr& error,
                               std::int64_t& nanoseconds) const;
  std::int64_t execute_read(collective::Collective& call, access::Move& move,
                            const collective::ElapsedTime& since_call) const;
  std::int64_t execute_write(collective::Collective& call, access::Move& move) const;

  File::Impl& file_;
  const core::SelectedArray& array_;
  const AccessRequest& request_;
  const base::RecordedCall& call_;
  std::atomic<bool>& has_begun_write_;
  const Workers workers_;
  std::vector<collective::Times> times_;  // of each thread, or of this rank
  core::PlannedAccess* plan_ = nullptr;
  std::vector<copy::LocalArray> arrays_;
  std::exception_ptr plan_error_;  // of phase 2
};

AccessTimes StoreAccess::run() {
  const collective::ElapsedTime since_start;
  plan_error_ = collective::caught([this] { plan(); });  // 2. Plan
  if (must_extend()) extend();                           // 3. Extend
  run_workers();                                         // 4. Agree, 5. Execute, 6. Finish
  const double total = 1e-9 * static_cast<double>(since_start.nanoseconds());
  plan_->learn(times_.front().common);  // 7. Learn
  const auto slowest = std::ranges::max_element(times_, {}, &collective::Times::total);
  return {slowest->io, slowest->copy, slowest->wait, total};
}

bool StoreAccess::is_direct_read() const {
  return !request_.writes() && plan_->next().strategy() == plan::Strategy::kDirect;
}

std::string StoreAccess::describe() const {
  const bool is_selected = array_.several || file_.selection().has_members();
  return base::text(
      request_.describe(is_selected ? base::text(", elements of ", array_.type.element_bytes, " bytes at offset ",
                                                 array_.data_offset, ", memory ", array_.options.memory_bytes)
                                    : std::string()),
      " of ", file_.context().name());
}

void StoreAccess::plan() {
  if (request_.writes()) file_.context().check_writable();
  core::AccessPlans& plans = file_.plans();
  if (!comm().alone()) plans.discard_after(core::get_transport(comm()).failures());
  // A process that is the only rank compares its call with no other.
  plan_ = &plans.plan(array_, request_, workers_, [this] { return comm().size() == 1 ? std::string() : describe(); });
  arrays_ = core::local_arrays(request_.layout, request_.parts, array_.type.element_bytes, comm());
  if (!request_.writes())
    core::check_filled(request_.layout, arrays_, request_.action == core::Action::kFill, array_.type.element_bytes);
}

bool StoreAccess::must_extend() const {
  return request_.writes() && array_.several && file_.context().mode() == Mode::kWrite && !store().grows() &&
         file_.selection().end_offset() > store().size();
}

void StoreAccess::extend() {
  file_.context().with_transport([this](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return describe(); },
        [this] {
          if (plan_error_) std::rethrow_exception(plan_error_);
        });
    has_begun_write_ = true;
    file_.storage().resize(call, file_.selection().end_offset());
  });
}

void StoreAccess::run_workers() {
  const auto work = [this](transport::Transport& transport) { run_worker(transport); };
  if (is_team() && plan_error_) std::rethrow_exception(plan_error_);
  try {
    if (is_team())
      transport::thread::run_team(workers_.number, work);
    else
      file_.context().with_transport(work);
  } catch (...) {
    if (has_begun_write_) store().discard_buffered();
    throw;
  }
}

void StoreAccess::run_worker(transport::Transport& transport) {
  const base::OperationScope scope(call_);
  collective::Times& times = times_[is_team() ? static_cast<std::size_t>(transport.rank()) : 0];
  const collective::Stopwatch watch(times.total);
  const collective::ElapsedTime since_call;
  std::unique_ptr<access::Move> move;
  const std::exception_ptr error = prepare(transport, times, move);  // 5. Execute, if it is a direct read

  // 4. Agree. The time is negative, because workers agree on the smallest number, and the slowest one counts.
  std::int64_t nanoseconds = -since_call.nanoseconds();
  collective::Collective call = agree(transport, error, nanoseconds);
  // 5. Execute, 6. Finish
  if (request_.writes())
    nanoseconds = execute_write(call, *move);
  else if (!is_direct_read())
    nanoseconds = execute_read(call, *move, since_call);
  times.common = static_cast<double>(std::abs(nanoseconds)) * 1e-9;
}

std::exception_ptr StoreAccess::prepare(transport::Transport& transport, collective::Times& times,
                                        std::unique_ptr<access::Move>& move) {
  if (plan_error_) return plan_error_;
  try {
    const access::Access access{plan_->next(), store(), array_.data_offset, transport, arrays_, comm().alone(), times};
    move = request_.writes() ? access::make_write(access) : access::make_read(access);
    if (is_direct_read()) move->run();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

collective::Collective StoreAccess::agree(transport::Transport& transport, const std::exception_ptr& error,
                                          std::int64_t& nanoseconds) const {
  if (!error) return {transport, plan_->description(), nanoseconds};
  return {transport, [this] { return describe(); }, [&] { std::rethrow_exception(error); }};
}

/// Executes a read. Returns the nanoseconds of the worker that made its call last, which did not wait for others:
/// workers agree on the smallest number.
std::int64_t StoreAccess::execute_read(collective::Collective& call, access::Move& move,
                                       const collective::ElapsedTime& since_call) const {
  std::int64_t nanoseconds = 0;
  const auto execute = [&] {
    move.run();
    nanoseconds = since_call.nanoseconds();
  };
  call.run_phase(execute, nanoseconds);
  return nanoseconds;
}

/// Executes a write. Returns the nanoseconds of the slowest worker, as a negative number, because workers agree on the
/// smallest one. Threads share a store, which one of them commits after all have written.
std::int64_t StoreAccess::execute_write(collective::Collective& call, access::Move& move) const {
  has_begun_write_ = true;
  file_.storage().mark_written();
  const bool is_shared = is_team();
  const collective::ElapsedTime since_agreed;
  std::int64_t nanoseconds = 0;
  const auto execute = [&] {
    move.run();
    if (!is_shared) store().flush();
    nanoseconds = -since_agreed.nanoseconds();
  };
  const auto commit = [&] {
    if (call.transport().rank() == 0) store().flush();
  };
  call.run_phase(execute, nanoseconds);
  if (is_shared) call.run_phase(commit);
  return nanoseconds;
}

/// Returns the extent that this process requests; the offset is -1 if the request is invalid.
core::Extent find_requested_extent(const AccessRequest& request, const core::SelectedArray& array, const Comm& comm) {
  try {
    return core::requested_extent(array.section(request.region), request.layout, comm.alone() ? -1 : comm.rank(),
                                  array.type.element_bytes, array.data_offset);
  } catch (const Error&) {
    return {-1, 0};
  }
}

}  // namespace

void File::Impl::access(const AccessRequest& request, const base::RecordedCall& call, unsigned flags) {
  const base::OperationScope scope(call);
  // 1. Record
  const auto record = [&](std::int64_t error_result) {
    if (!call.is_recorded()) return;
    const core::Extent extent = find_requested_extent(request, selection_.array(), context_.comm());
    core::record(call,
                 {request.writes() ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, context_.trace_number(),
                  flags | context_.collective_flag()},
                 extent, error_result != 0 ? error_result : extent.bytes);
  };
  try {
    execute(request, call);
  } catch (const Error& error) {
    record(core::error_result(error));
    throw;
  }
  record(0);
}

void File::Impl::execute(const AccessRequest& request, const base::RecordedCall& call) {
  storage_.check_open();
  std::atomic<bool> has_begun_write{false};
  try {
    times_ = storage_.channel() != nullptr
                 ? core::ChannelAccess(context_, *storage_.channel(), steps_, selection_, request).run()
                 : StoreAccess(*this, request, call, has_begun_write).run();
  } catch (const Error& error) {
    // has_begun_write is false if another rank has made a different call: then no element was written.
    storage_.handle_error(error, has_begun_write);
    throw;
  }
}

std::string File::Impl::explain(const AccessRequest& request) const {
  storage_.check_open();
  const core::SelectedArray& array = selection_.array();
  const Comm& comm = context_.comm();
  if (const core::Channel* const pipe = storage_.channel(); pipe != nullptr)
    return core::explain(*pipe, selection_, request, comm);
  const Workers workers = choose_workers(request, array, storage_, comm);
  const bool can_use_cached = comm.alone() || plans_.is_valid_after(core::get_transport(comm).failures());
  const core::PlannedAccess* const cached = can_use_cached ? plans_.find_cached(array, request, workers) : nullptr;
  const std::string path = store::web::without_secrets(context_.path());
  std::string text = cached != nullptr ? plan::explain(cached->next(), path) + cached->explain()
                                       : plan::explain(*core::make_plan(array, request, workers), path);
  if (const std::string store = storage_.store()->description(); !store.empty()) text += "store      " + store + '\n';
  return text;
}

}  // namespace plait
