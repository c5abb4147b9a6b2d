#include "simulation/replay/barriers.hpp"

#include <algorithm>
#include <array>

namespace plait::simulation {

namespace {

constexpr std::array<std::string_view, 9> kNames{"Barrier",    "Allreduce",      "Allgather",
                                                 "Allgatherv", "Alltoall",       "Alltoallv",
                                                 "Alltoallw",  "Reduce_scatter", "Reduce_scatter_block"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool waits_for_all(std::string_view phase) {
  constexpr std::string_view kPrefix = "MPI_";
  for (std::size_t at = phase.find(kPrefix); at != std::string_view::npos; at = phase.find(kPrefix, at + 1)) {
    // The character before MPI_ must not be part of a name, except the P of the profiling interface.
    const bool begins =
        at == 0 || !is_letter(phase[at - 1]) || (phase[at - 1] == 'P' && (at == 1 || !is_letter(phase[at - 2])));
    const std::string_view name = phase.substr(at + kPrefix.size());
    const std::string_view word(name.begin(), std::ranges::find_if_not(name, is_letter));
    if (begins && std::ranges::find(kNames, word) != kNames.end()) return true;
  }
  return false;
}

}  // namespace plait::simulation
