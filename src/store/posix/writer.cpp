#include "store/posix/writer.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/errors.hpp"
#include "base/files/folder.hpp"
#include "base/job.hpp"
#include "base/text.hpp"
#include "base/text_reader.hpp"

namespace plait::store::posix {

namespace {

namespace fs = std::filesystem;

/// Returns true if a file is older than this process, and therefore belongs to an earlier job with the same number.
bool is_older(const std::string& path) {
  constexpr double kMaxClockSkew = 1.0;  // seconds by which the clocks of this host and of the file server may differ
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 &&
         static_cast<double>(status.st_ctim.tv_sec) + kMaxClockSkew < base::process_start_time();
}

/// Returns the rank that has marked a file, if the file belongs to this job. The mark is "RANK JOB".
std::optional<int> read_writer_mark(const std::string& path, const std::string& job) {
  std::array<char, 512> mark{};
  if (::getxattr(path.c_str(), kWriterMark, mark.data(), mark.size() - 1) <= 0) return std::nullopt;
  base::TextReader in(mark.data());
  std::string marked_job;
  int rank = -1;
  in >> rank >> marked_job;
  if (marked_job != job || is_older(path)) return std::nullopt;
  return rank;
}

void warn_once(const std::string& display_name, int rank) {
  static std::atomic<bool> warned{false};
  if (rank == 0 || warned.exchange(true)) return;
  std::fprintf(stderr,
               "plait: rank %d of a job opens %s in mode w without a communicator; if other ranks write that name too, "
               "only the file of the last one remains: pass comm to write one file together\n",
               rank, display_name.c_str());
}

}  // namespace

void claim(int file, const std::string& temporary, const std::string& beginning, const std::string& target,
           const std::string& display_name) {
  const std::optional<base::JobRank> job_rank = base::job_rank();
  if (!job_rank) return;
  const std::string mark = base::text(job_rank->rank, ' ', job_rank->job);
  if (::fsetxattr(file, kWriterMark, mark.data(), mark.size(), 0) != 0) return warn_once(display_name, job_rank->rank);
  const auto check_file = [&](const std::string& path, const char* action) {
    const std::optional<int> rank = read_writer_mark(path, job_rank->job);
    if (!rank || *rank == job_rank->rank) return;
    base::throw_argument_error(
        "rank ", *rank, " of this job ", action, ' ', display_name, ", which rank ", job_rank->rank,
        " is to write without a communicator as well; pass all ranks a communicator (comm= in "
        "Python) to write one file together, use another name on each rank, or pass MPI_COMM_SELF to "
        "replace it on purpose");
  };
  // Each rank sets its own mark before it searches for others, so that at least one of two ranks sees the other's mark.
  std::error_code ignored;
  const fs::path own_path(temporary);
  for (const std::string& name : base::names_in(own_path.parent_path().string(), ignored))
    if (name.starts_with(beginning) && name != own_path.filename())
      check_file((own_path.parent_path() / name).string(), "is writing");
  check_file(target, "has written");
}

}  // namespace plait::store::posix
