/// Visits the runs of a datatype in the order of its data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpiio/lists/runs.hpp"

namespace plait::mpiio {

/// A position in the data of a datatype. Copies are independent, and share the runs.
class RunCursor {
 public:
  /// base  is added to all offsets
  RunCursor(Runs runs, std::int64_t base);

  /// Moves to a byte of the data.
  void seek(std::int64_t position);
  /// Moves to the first byte that is at `offset` or after it. The runs must ascend.
  void seek_offset(std::int64_t offset);
  /// Ends the data at a position before its end.
  void set_end(std::int64_t position) { end_ = position; }

  bool is_at_end() const { return position_ >= end_; }
  std::int64_t position() const { return position_; }
  std::int64_t end() const { return end_; }
  /// The offset of the current byte, and the bytes from there to the end of its run or of the data.
  std::int64_t offset() const { return offset_; }
  std::int64_t left() const { return std::min(left_, end_ - position_); }
  /// Moves ahead by at most left() bytes.
  void skip(std::int64_t bytes) {
    position_ += bytes;
    offset_ += bytes;
    left_ -= bytes;
    if (left_ == 0) enter_next();
  }

 private:
  struct Frame {
    const RunNode* node = nullptr;
    std::int64_t index = 0;  ///< of the run, the repetition or the child
    std::int64_t base = 0;   ///< is added to the offsets of the node
  };

  void enter_next();
  void enter(const RunNode& node, std::int64_t base);
  /// Enters the child that the last frame points to.
  void enter_child();
  /// Sets the offset and the remaining bytes to those of the run that the last frame points to.
  void load();
  /// Moves past the last run.
  void stop();

  Runs runs_;
  std::int64_t base_;
  std::int64_t position_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t left_ = 0;
  std::int64_t end_ = 0;
  std::vector<Frame> frames_;  ///< from the root to the list with the current run; empty after the last run
};

}  // namespace plait::mpiio
