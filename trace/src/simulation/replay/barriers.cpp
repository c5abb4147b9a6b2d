// Finds MPI's barrier and collective operations in the names of traced phases.

#include "simulation/replay/barriers.hpp"

#include <algorithm>
#include <array>

namespace plait::simulation {

namespace {

constexpr std::array<std::string_view, 9> kCollectives{"Barrier",    "Allreduce",      "Allgather",
                                                       "Allgatherv", "Alltoall",       "Alltoallv",
                                                       "Alltoallw",  "Reduce_scatter", "Reduce_scatter_block"};

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool waits_for_all(std::string_view phase) {
  constexpr std::string_view kPrefix = "MPI_";
  for (std::size_t position = phase.find(kPrefix); position != std::string_view::npos;
       position = phase.find(kPrefix, position + 1)) {
    // The character before MPI_ must not be part of a name, except the P of the profiling interface.
    const bool starts_name =
        position == 0 || !is_identifier_character(phase[position - 1]) ||
        (phase[position - 1] == 'P' && (position == 1 || !is_identifier_character(phase[position - 2])));
    const std::string_view name = phase.substr(position + kPrefix.size());
    const std::string_view called_function(name.begin(), std::ranges::find_if_not(name, is_identifier_character));
    if (starts_name && std::ranges::find(kCollectives, called_function) != kCollectives.end()) return true;
  }
  return false;
}

}  // namespace plait::simulation
