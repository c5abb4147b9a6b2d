/// Which stretches of a program are calls in which all processes wait for all others.
#pragma once

#include <string_view>

namespace plait::simulation {

/// By what the trace calls them: MPI's barriers, and its collective operations in which everybody gets something of
/// everybody, blocking ones alone; as in `MPI_Barrier`, `MPI: MPI_Allreduce` or `PMPI_Barrier comm=3`.
bool waits_for_all(std::string_view phase);

}  // namespace plait::simulation
