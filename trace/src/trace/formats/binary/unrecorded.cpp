#include "trace/formats/binary/unrecorded.hpp"

#include <algorithm>
#include <cstddef>

#include "base/events/format.h"
#include "base/text.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::size_t kMaxPrograms = 16;
constexpr std::string_view kPrefix = PLAIT_UNRECORDED;

const char* obstacle_text(char letter) {
  switch (letter) {
    case PLAIT_UNRECORDED_STATIC: return "statically linked";
    case PLAIT_UNRECORDED_MACHINE: return "built for another architecture";
    case PLAIT_UNRECORDED_MUSL: return "linked with musl instead of glibc";
    case PLAIT_UNRECORDED_LOADER:
      return "linked with another C library than glibc, or with an older glibc than the recorder";
    case PLAIT_UNRECORDED_RIGHTS: return "runs with more rights: setuid, setgid or file capabilities";
    case PLAIT_UNRECORDED_USER: return "runs as another user or below another root, without access to the trace";
    case PLAIT_UNRECORDED_ASKED: return "its environment sets PLAIT_RECORD to nothing";
    default: return "for a reason that this version does not know";
  }
}

}  // namespace

bool UnrecordedPrograms::count_run(std::string_view name) {
  const std::size_t prefix_size = kPrefix.size() + 3;  // the sign, the letter and the blank
  if (!name.starts_with(kPrefix) || name.size() < prefix_size) return false;
  runs_[{std::string(name.substr(prefix_size)), name[kPrefix.size() + 1]}] += name[kPrefix.size()] == '-' ? -1 : 1;
  return true;
}

std::int64_t UnrecordedPrograms::describe(std::vector<MissedCalls>& missed) const {
  std::vector<MissedCalls> programs;
  std::int64_t total_runs = 0;
  for (const auto& [program, runs] : runs_) {
    if (runs <= 0) continue;
    const auto& [path, letter] = program;
    programs.push_back({base::text("unrecorded program ", path, " (", obstacle_text(letter), ")"), runs});
    total_runs += runs;
  }
  std::stable_sort(programs.begin(), programs.end(),
                   [](const MissedCalls& a, const MissedCalls& b) { return a.events > b.events; });
  if (programs.size() > kMaxPrograms) {
    MissedCalls others{base::text("unrecorded programs, ", programs.size() - kMaxPrograms, " others")};
    for (std::size_t i = kMaxPrograms; i < programs.size(); ++i) others.events += programs[i].events;
    programs.resize(kMaxPrograms);
    programs.push_back(std::move(others));
  }
  missed.insert(missed.end(), programs.begin(), programs.end());
  return total_runs;
}

}  // namespace plait::trace::binary
