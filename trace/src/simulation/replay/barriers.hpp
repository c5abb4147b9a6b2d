/// Recognition of calls in which all processes wait for all others.
#pragma once

#include <string_view>

namespace plait::simulation {

/// Returns true if the name of a phase contains MPI's barrier or a blocking collective operation in which every
/// process receives data of every other, such as `MPI_Barrier`, `MPI: MPI_Allreduce` or `PMPI_Barrier comm=3`.
bool waits_for_all(std::string_view phase);

}  // namespace plait::simulation
