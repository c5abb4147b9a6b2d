#include "transport/mpi/check.hpp"
#include "base/errors.hpp"
#include "transport/mpi/call.hpp"

#include <array>
#include <string>

namespace plait::transport::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  if (code == kMpiHasEnded)
    base::throw_system_error(0, what,
                             ": MPI has ended; close files, and finish what is collective, before MPI_Finalize");
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  call(MPI_Error_string, code, text.data(), &length);
  base::throw_system_error(0, what, " failed: ", std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace plait::transport::mpi
