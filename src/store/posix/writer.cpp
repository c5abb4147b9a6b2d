#include "store/posix/writer.hpp"

#include <sys/xattr.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/job.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store::posix {

namespace {

namespace fs = std::filesystem;

/// The rank of a job that has marked a file, where it is of that job.
std::optional<int> rank_on(const std::string& path, const std::string& job) {
  std::array<char, 512> mark{};
  if (::getxattr(path.c_str(), kWriterMark, mark.data(), mark.size() - 1) <= 0) return std::nullopt;
  std::istringstream in(mark.data());
  std::string found;
  int rank = -1;
  in >> rank >> found;
  if (found != job) return std::nullopt;
  return rank;
}

void warn_once(const std::string& shown, int rank) {
  static std::atomic<bool> warned{false};
  if (rank == 0 || warned.exchange(true)) return;
  std::fprintf(stderr,
               "plait: rank %d of a job opens %s in mode w without a communicator; where other ranks write that name "
               "as well, the last one wins: pass comm to write one file together\n",
               rank, shown.c_str());
}

}  // namespace

void claim(int file, const std::string& temporary, const std::string& beginning, const std::string& target,
           const std::string& shown) {
  const std::optional<base::JobPlace> own = base::job_place();
  if (!own) return;
  const std::string mark = base::text(own->rank, ' ', own->job);
  if (::fsetxattr(file, kWriterMark, mark.data(), mark.size(), 0) != 0) return warn_once(shown, own->rank);
  const auto look = [&](const std::string& path, const char* does) {
    const std::optional<int> rank = rank_on(path, own->job);
    if (!rank || *rank == own->rank) return;
    throw Error(ErrorKind::kArgument,
                base::text("rank ", *rank, " of this job ", does, ' ', shown, ", which rank ", own->rank,
                           " is to write without a communicator as well; pass all ranks a communicator (comm= in "
                           "Python) to write one file together, name a file for each rank, or replace it on purpose "
                           "with MPI_COMM_SELF"));
  };
  // The own mark first: of two ranks one sees the other's.
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(temporary).parent_path(), ignored))
    if (entry.path().filename().string().starts_with(beginning) && entry.path() != temporary)
      look(entry.path().string(), "is writing");
  look(target, "has written");
}

}  // namespace plait::store::posix
