/// What happened to each file.
#pragma once

#include <array>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"

namespace plait::trace::report {

/// Everything is kept of kKept files.  When there are more, the lighter half makes room: it stays in the sums, and a
/// file of it that comes again begins anew and is counted once, with what it did last.
/// memory: some 250 bytes a file kept, 12 bytes a name.
class FilesAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 16;
  static constexpr std::size_t kShown = 1000;

  explicit FilesAnalyser(const Lookup& lookup, std::size_t kept = kKept) : lookup_(lookup), kept_(kept) {}
  void add(std::span<const Call> calls) override;
  void result(Report& report) const override;

 private:
  struct State {
    FileRow row;  // its name stays empty until the end
    std::uint32_t name = 0;
    bool again = false;         // it was left out before: its first accesses are not in the row
    std::int64_t lowest = -1;   // offset written
    std::int64_t round = 0;     // when the present round of writing began
    std::int64_t written = -1;  // when the last write ended
    bool wrote_last = false;
  };
  static constexpr std::uint32_t kNever = UINT32_MAX;
  // From here on: left out.  twice the class that it was counted in, and 1 if it had come again.
  static constexpr std::uint32_t kLeftOut = UINT32_MAX - 8;

  State& state(const Call& call);
  static void add_write(State& state, const Call& call);
  static FileRow finished(const State& state);
  void make_room();

  const Lookup& lookup_;
  std::size_t kept_;
  std::vector<State> states_;
  std::vector<std::uint32_t> rows_of_;  // of names, in states_
  std::vector<std::int64_t> extents_;   // of names
  ClassSum left_out_;
  std::array<ClassSum, kClasses> classes_left_out_{};
  std::int64_t in_parts_ = 0;  // files that came again
};

}  // namespace plait::trace::report
