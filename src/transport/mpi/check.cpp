#include "transport/mpi/check.hpp"

#include <array>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  throw Error(ErrorKind::kSystem,
              base::text(call, " failed: ", std::string(words.data(), static_cast<std::size_t>(length))));
}

}  // namespace plait::transport::mpi
