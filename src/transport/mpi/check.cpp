#include "transport/mpi/check.hpp"
#include "transport/mpi/call.hpp"

#include <array>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  if (code == kMpiHasEnded)
    throw Error(ErrorKind::kSystem,
                base::text(what, ": MPI has ended; close files, and finish what is collective, before MPI_Finalize"));
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  call(MPI_Error_string, code, words.data(), &length);
  throw Error(ErrorKind::kSystem,
              base::text(what, " failed: ", std::string(words.data(), static_cast<std::size_t>(length))));
}

}  // namespace plait::transport::mpi
