// Streams of modes 2, 3 and 4: a request of any rank ends when those of all ranks are complete.
//
// In mode 2 (ordered) the range of a rank begins after the sum of the lower ranks' lengths (collective::Scan). In mode
// 3 (equal) all lengths are the same, so no sum is needed. In mode 4 (same) all ranks access one range.
//
// Example for mode 3: 3 ranks read 4 elements each, and 10 are left. They begin 0, 4 and 8 elements after the position,
// and rank 2 gets 2 elements. As 10 / 3 = 3 < 4, the position moves to the end. In mode 2 the lengths 5, 0 and 4 begin
// at 0, 5 and 5.

#include <algorithm>
#include <optional>
#include <utility>

#include "access/same.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "collective/scan.hpp"
#include "core/comm/guard.hpp"
#include "core/file/recorded.hpp"
#include "core/stream/stream_impl.hpp"

namespace plait::core {

using base::text;
using collective::caught;

void CollectiveStream::call_together(const std::function<void(transport::Transport&, bool& has_begun)>& body) {
  file().storage().check_open();
  bool has_begun = false;
  try {
    file().context().with_transport([&](transport::Transport& transport) { body(transport, has_begun); });
  } catch (const Error& error) {
    // If the error comes from another rank's different call, this write has not begun.
    file().storage().handle_error(error, has_begun);
    throw;
  }
}

std::string CollectiveStream::describe(const Call& call) const {
  // The lengths may differ in mode 2.
  const std::string length = mode() == StreamMode::kOrdered ? "" : text(call.elements, " elements");
  return text(call.write ? "write(" : "read(", length, ") on stream ", number_, " (mode ", static_cast<int>(mode()),
              mode() == StreamMode::kOrdered ? "" : ": equal lengths", ") of ", file().context().name());
}

collective::Collective CollectiveStream::begin_request(transport::Transport& transport, const Call& call,
                                                       const std::function<void()>& check_call) const {
  std::string description;
  const std::exception_ptr own_error = caught([&] {
    description = describe(call);
    check_call();
  });
  return {transport, description, own_error};
}

std::int64_t CollectiveStream::run(const Call& call, const base::RecordedCall& program_call, unsigned flags) {
  std::int64_t elements = 0;
  first_ = position_;
  record_call(
      program_call,
      {call.write ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, trace_number_,
       flags | PLAIT_EVENT_COLLECTIVE | PLAIT_EVENT_AT_POSITION},
      [&] { return Extent{byte_offset(first_), requested_bytes(call)}; },
      [&] {
        call_together([&](transport::Transport& transport, bool& has_begun) {
          elements = mode() == StreamMode::kOrdered ? run_ordered(transport, call, has_begun)
                     : mode() == StreamMode::kEqual ? run_equal(transport, call, has_begun)
                                                    : run_same(transport, call, has_begun);
        });
        return to_bytes(elements);
      });
  return elements;
}

void CollectiveStream::transfer_part(const Call& call, std::int64_t first, std::int64_t elements) {
  first_ = first;
  if (call.write) {
    write_store(first, call.data, elements);
  } else {
    read_store(first, call.data, elements);
  }
}

std::int64_t CollectiveStream::run_ordered(transport::Transport& transport, const Call& call, bool& has_begun) {
  std::optional<collective::Scan> scan;
  const std::exception_ptr own_error = caught([&] {
    scan.emplace(transport);
    check(call, true);
  });
  const std::int64_t requested = own_error ? 0 : call.write ? call.elements : std::min(call.elements, remaining());
  if (scan) scan->announce(requested);
  collective::Collective together = begin_request(transport, call, [&] {
    if (own_error) std::rethrow_exception(own_error);
  });
  has_begun = call.write;
  collective::FirstError scan_error;
  const collective::ScanResult sums = scan->sum(scan_error);
  if (call.write && sums.all > remaining())
    // All ranks compute this error, but they agree on it: no rank may announce a new value while others still add up.
    together.run_phase([&] { throw make_end_error(text("the ranks' ", sums.all), position_); });
  const std::int64_t first = position_ + std::min(sums.before, remaining());
  const std::int64_t elements = std::min(requested, end_ - first);
  if (call.write) file().storage().mark_written();
  together.run_phase([&] {
    scan_error.rethrow();
    transfer_part(call, first, elements);
  });
  position_ += std::min(sums.all, remaining());
  return elements;
}

std::int64_t CollectiveStream::run_equal(transport::Transport& transport, const Call& call, bool& has_begun) {
  std::int64_t elements = 0;
  const auto move = [&] {
    const std::int64_t each = std::min(call.elements, remaining());
    // Do not compute rank * each for the other ranks, because it may overflow.
    const std::int64_t full_ranks = each == 0 ? 0 : remaining() / each;  // ranks that get `each` elements
    const std::int64_t before = transport.rank() <= full_ranks ? transport.rank() * each : remaining();
    elements = std::min(each, remaining() - before);
    transfer_part(call, position_ + before, elements);
  };
  collective::Collective together = begin_request(transport, call, [&] {
    check(call, true);
    // A read does not depend on other ranks and changes only its own memory, so a single agreement at its end suffices.
    if (!call.write) move();
  });
  has_begun = call.write;
  const std::int64_t max_each = remaining() / transport.size();  // elements that each rank can move completely
  if (call.write) {
    if (call.elements > max_each) throw make_end_error(text(transport.size(), " times ", call.elements), position_);
    file().storage().mark_written();
    together.run_phase(move);
  }
  position_ += call.elements > max_each ? remaining() : call.elements * transport.size();
  return elements;
}

std::int64_t CollectiveStream::run_same(transport::Transport& transport, const Call& call, bool& has_begun) {
  collective::Collective together =
      begin_request(transport, call, [&] { check(call, !call.write || transport.rank() == 0); });
  has_begun = call.write;
  if (call.write && call.elements > remaining()) throw make_end_error(text(call.elements), position_);
  const std::int64_t elements = std::min(call.elements, remaining());
  if (call.write) {
    together.run_phase([&] {
      if (transport.rank() != 0) return;
      file().storage().mark_written();
      write_store(position_, call.data, elements);
    });
  } else {
    const std::int64_t memory = file().selection().array().options.memory_bytes;
    together.run_phase([&] {
      access::read_same(transport, *store_, {byte_offset(position_), call.data, elements * element_bytes_},
                        memory == 0 ? plan::kDefaultMemory : memory);
    });
  }
  position_ += elements;
  return elements;
}

std::int64_t CollectiveStream::transfer(const Call& call) {
  std::int64_t elements = 0;
  const base::RecordedCall program_call;
  file().context().call([&] { elements = run(call, program_call, 0); });
  return elements;
}

StreamRequest CollectiveStream::start(const Call& call) {
  const base::RecordedCall program_call;
  return guarded(file().context().comm(), [&] {
    auto elements = std::make_shared<std::int64_t>(0);
    if (call.write) file().writes().reserve();
    auto request = file().context().checked_worker().start(
        [this, call, elements, program_call] { *elements = run(call, program_call, PLAIT_EVENT_ASYNCHRONOUS); });
    if (call.write) file().writes().add(request);
    last_request_ = request;
    return StreamRequest(Request(std::move(request)), std::move(elements));
  });
}

std::int64_t CollectiveStream::tell() {
  check_not_closed();
  file().storage().check_open_here();
  wait_for_requests();
  return position_;
}

void CollectiveStream::seek(std::int64_t element) {
  const auto move = [&] {
    call_together([&](transport::Transport& transport, bool&) {
      std::string description;
      const std::exception_ptr own_error = caught([&] {
        description = text("seek(", element, ") on stream ", number_, " of ", file().context().name());
        check_position(element);
      });
      const collective::Collective seeking(transport, description, own_error);
    });
    position_ = element;
  };
  file().context().call(move);
}

void CollectiveStream::fail(const std::string& message, int system_code) {
  file().context().checked_worker().run([&] { file().fail_call(message, system_code); });
  __builtin_unreachable();
}

void CollectiveStream::wait_for_requests() {
  if (const auto last = std::exchange(last_request_, nullptr)) last->wait_done();
}

}  // namespace plait::core
