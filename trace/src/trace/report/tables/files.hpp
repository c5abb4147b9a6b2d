/// The accesses to each file.
#pragma once

#include <array>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"

namespace plait::trace::report {

/// Stores complete rows of up to kMaxEntries files. If there are more, the smaller half is removed: it stays in the
/// sums. A removed file that is accessed again starts anew and is counted once, with its last accesses.
/// memory  about 250 bytes for each stored file, and 12 for each name.
class FilesAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 16;
  static constexpr std::size_t kMaxReported = 1000;

  explicit FilesAnalyser(const Lookup& lookup, std::size_t max_rows = kMaxEntries)
      : lookup_(lookup), max_rows_(max_rows) {}
  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  struct State {
    FileRow row;  // row.name is set at the end
    std::uint32_t name = 0;
    bool was_removed = false;          // true if it was removed before: its first accesses are not in the row
    std::int64_t lowest_offset = -1;   // lowest offset written
    std::int64_t round_begin = 0;      // begin of the current round of writing
    std::int64_t last_write_end = -1;  // end of the last write
    bool wrote_last = false;
  };
  static constexpr std::uint32_t kNoRow = UINT32_MAX;
  // Values from here on mark a removed file: kRemoved + twice the class in which it was counted, and 1 more if it had
  // come again.
  static constexpr std::uint32_t kRemoved = UINT32_MAX - 8;

  /// Returns the state of the call's file. Removes rows if there is none and the limit is reached.
  State& find_or_create_state(const Call& call);
  static void add_write(State& state, const Call& call);
  static FileRow finish_row(const State& state);
  void remove_rows();

  const Lookup& lookup_;
  std::size_t max_rows_;
  std::vector<State> states_;
  std::vector<std::uint32_t> row_indices_;  // index in states_ for each name
  std::vector<std::int64_t> extents_;       // one entry for each name
  ClassSum left_out_;
  std::array<ClassSum, kClasses> classes_left_out_{};
  std::int64_t partial_files_ = 0;  // number of files that were removed and then accessed again
};

}  // namespace plait::trace::report
