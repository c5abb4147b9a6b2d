// Streams of modes 0 and 1: no rank waits for another one.
//
// A request first claims its range of elements from the position, at the time of the call, and then transfers it, on
// the caller's thread or on the stream's thread. If a transfer fails after its claim, a new file has a hole and must
// not appear.

#include <utility>

#include "base/text.hpp"
#include "core/comm/guard.hpp"
#include "core/file/recorded.hpp"
#include "core/stream/stream_impl.hpp"

namespace plait::core {

IndependentStream::IndependentStream(File::Impl& file, StreamMode mode, std::int64_t number,
                                     std::unique_ptr<transport::Counter> counter, int ranks)
    : Impl(file, mode, number), position_(std::move(counter), end_, ranks) {}

void IndependentStream::check_usable() const {
  check_not_closed();
  file().storage().check_open_here();
}

SharedPosition::Range IndependentStream::claim(const Call& call) {
  check_usable();
  check(call, true);
  if (!call.write) return position_.take(call.elements);
  std::optional<SharedPosition::Range> range;
  run_claimed(call, [&] { range = position_.take_all(call.elements); });
  if (!range) throw make_end_error(base::text(call.elements), position_.tell());
  file().storage().mark_written();
  return *range;
}

template <typename Body>
void IndependentStream::run_claimed(const Call& call, Body&& body) {
  try {
    body();
  } catch (...) {
    // A new file with a hole must not appear. The other ranks get the error when the file is closed.
    if (call.write && file_mode_ == Mode::kWrite) file().writes().record_loss(std::current_exception());
    throw;
  }
}

void IndependentStream::carry_out(const Call& call, const SharedPosition::Range& range,
                                  const base::RecordedCall& program_call, unsigned flags) {
  record_call(
      program_call, {call.write ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ, trace_number_, flags | PLAIT_EVENT_AT_POSITION},
      [&] { return Extent{byte_offset(range.first), requested_bytes(call)}; },
      [&] {
        if (call.write) {
          write_store(range.first, call.data, range.elements);
        } else {
          read_store(range.first, call.data, range.elements);
        }
        return to_bytes(range.elements);
      });
}

std::int64_t IndependentStream::transfer(const Call& call) {
  const base::RecordedCall program_call;
  const SharedPosition::Range range = claim(call);
  run_claimed(call, [&] { worker_.run([&] { carry_out(call, range, program_call, 0); }); });
  return range.elements;
}

StreamRequest IndependentStream::start(const Call& call) {
  const base::RecordedCall program_call;
  const SharedPosition::Range range = claim(call);
  std::shared_ptr<Request::Impl> request;
  std::shared_ptr<const std::int64_t> elements;
  run_claimed(call, [&] {
    elements = std::make_shared<const std::int64_t>(range.elements);
    request = worker_.start([this, call, range, program_call] {
      run_claimed(call, [&] { carry_out(call, range, program_call, PLAIT_EVENT_ASYNCHRONOUS); });
    });
    if (call.write) file().writes().add(request);
  });
  return {Request(std::move(request)), std::move(elements)};
}

std::int64_t IndependentStream::tell() {
  check_usable();
  return position_.tell();
}

void IndependentStream::seek(std::int64_t element) {
  check_usable();
  check_position(element);
  position_.seek(element);
}

void IndependentStream::fail(const std::string& message, int system_code) { throw call_error(message, system_code); }

void IndependentStream::wait_for_requests() {
  worker_.run([] {});
}

}  // namespace plait::core
