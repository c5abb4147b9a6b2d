// Read-ahead strategies; the adaptive one follows Linux.
//
// The adaptive strategy requests windows. Its mark is the offset at which a read requests the next window.
//
// Example of the adaptive strategy with a maximum of 128 KiB and reads of 4 KiB from offset 0. The first read
// requests a window of 4 * 4 = 16 KiB, from 4 to 20 KiB, and sets the mark at its begin. The second read passes the
// mark and requests the next window, twice as large: 20 to 52 KiB, with the mark at 20 KiB. Reads below the mark
// request nothing. The read at 20 KiB requests 52 to 116 KiB. A read elsewhere resets the mark, and the windows start
// again.

#include "simulation/replay/read_ahead.hpp"

#include <algorithm>

namespace plait::simulation {

FileRange ReadAhead::predict(std::uint32_t process, std::uint32_t file, std::int64_t offset, std::int64_t length) {
  if (kind_ == ReadAheadKind::kNone) return {};
  State& state = states_[std::uint64_t{process} << 32 | file];
  const std::int64_t end = offset + length;
  const bool sequential = offset == state.end;
  const std::int64_t stride = state.begin < 0 ? 0 : offset - state.begin;
  FileRange range;
  switch (kind_) {
    case ReadAheadKind::kNone: break;
    case ReadAheadKind::kOne:
      if (sequential) range = {end, (end + block_ - 1) / block_ * block_ + block_};
      break;
    case ReadAheadKind::kMany:
      if (sequential) range = {end, end + size_};
      break;
    case ReadAheadKind::kSame:
      if (sequential) range = {end, end + length};
      break;
    case ReadAheadKind::kStride:
      if (stride != 0 && stride == state.stride && offset + stride >= 0) range = {offset + stride, end + stride};
      break;
    case ReadAheadKind::kAdaptive: range = adapt(state, offset, length, sequential); break;
  }
  state.begin = offset;
  state.end = end;
  state.stride = stride;
  return range;
}

FileRange ReadAhead::adapt(State& state, std::int64_t offset, std::int64_t length, bool sequential) const {
  const std::int64_t end = offset + length;
  const bool in_window = state.mark >= 0 && offset < state.window.end && end > state.mark;
  if (in_window && sequential) {
    const std::int64_t previous_length = state.window.end - state.window.begin;
    const std::int64_t window_length =
        std::min(previous_length < size_ / 16 ? 4 * previous_length : 2 * previous_length, size_);
    state.window = {state.window.end, state.window.end + window_length};
    state.mark = state.window.begin;
    return state.window;
  }
  if (!sequential) {
    state.mark = -1;
    return {};
  }
  if (state.mark >= 0 && end <= state.mark) return {};  // the requested window is still ahead
  const std::int64_t window_length = length <= size_ / 32 ? 4 * length : length <= size_ / 4 ? 2 * length : size_;
  state.window = {end, end + std::min(window_length, size_)};
  state.mark = state.window.begin;
  return state.window;
}

}  // namespace plait::simulation
