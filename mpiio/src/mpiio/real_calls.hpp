/// The MPI's own versions of functions that the preloaded library replaces. Called by their names, also from this
/// library, these would be the replacements.
#pragma once

#include <mpi.h>

namespace plait::mpiio {

struct RealCalls {
  decltype(&MPI_File_open) open = nullptr;
  decltype(&MPI_File_close) close = nullptr;
  decltype(&MPI_File_set_view) set_view = nullptr;
  decltype(&MPI_File_seek) seek = nullptr;
  decltype(&MPI_File_get_position) get_position = nullptr;
};

/// Returns the functions, which the preloaded library finds. Set before the first file is opened.
RealCalls& real_calls();

}  // namespace plait::mpiio
