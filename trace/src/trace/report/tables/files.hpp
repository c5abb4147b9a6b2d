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
  static constexpr std::size_t kShown = 1000;

  explicit FilesAnalyser(const Lookup& lookup, std::size_t kept = kMaxEntries) : lookup_(lookup), kept_(kept) {}
  void add(std::span<const Call> calls) override;
  void result(Report& report) const override;

 private:
  struct State {
    FileRow row;  // its name is set at the end
    std::uint32_t name = 0;
    bool again = false;         // true if it was removed before: its first accesses are not in the row
    std::int64_t lowest = -1;   // lowest offset written
    std::int64_t round = 0;     // begin of the current round of writing
    std::int64_t written = -1;  // end of the last write
    bool wrote_last = false;
  };
  static constexpr std::uint32_t kNever = UINT32_MAX;
  // Values from here on mark a removed file: kLeftOut + twice the class in which it was counted, and 1 more if it had
  // come again.
  static constexpr std::uint32_t kLeftOut = UINT32_MAX - 8;

  State& state(const Call& call);
  static void add_write(State& state, const Call& call);
  static FileRow finished(const State& state);
  void remove_rows();

  const Lookup& lookup_;
  std::size_t kept_;
  std::vector<State> states_;
  std::vector<std::uint32_t> rows_of_;  // index in states_ for each name
  std::vector<std::int64_t> extents_;   // one entry for each name
  ClassSum left_out_;
  std::array<ClassSum, kClasses> classes_left_out_{};
  std::int64_t in_parts_ = 0;  // number of files that came again
};

}  // namespace plait::trace::report
