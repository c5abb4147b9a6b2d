#include "base/job.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/events/events.h"
#include "base/text.hpp"
#include "base/text_reader.hpp"

namespace plait::base {

namespace {

const char* setting(const char* name) { return std::getenv(name); }

bool has_one_process() {
  for (const char* const name :
       {"PLAIT_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const size = std::getenv(name)) return std::string_view(size) == "1";
  return false;
}

std::string read_proc_file(int process, const char* what) {
  std::ifstream in(text("/proc/", process, '/', what), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Status {
  int parent = 0;
  std::string start_time;
};

Status read_status(int process) {
  const std::string line = read_proc_file(process, "stat");
  TextReader in(line.substr(line.rfind(')') + 1));  // after the name, which may contain any characters
  Status result;
  std::string skipped;
  in >> skipped >> result.parent;
  constexpr int kBetween = 17;  // number of fields between the parent and the start time
  for (int i = 0; i < kBetween; ++i) in >> skipped;
  in >> result.start_time;
  return result;
}

/// True if the environment of a process contains a rank. That of the processes of a job does; that of launchers does
/// not.
bool has_rank(int process) {
  const std::string variables = '\0' + read_proc_file(process, "environ");
  for (const std::string_view name :
       {"PLAIT_RANK=", "PMI_RANK=", "PMIX_RANK=", "OMPI_COMM_WORLD_RANK=", "MV2_COMM_WORLD_RANK="})
    if (variables.find('\0' + std::string(name)) != std::string::npos) return true;
  return false;
}

/// Returns a text that identifies the process that started the ranks of this host.
std::string launcher() {
  int process = ::getpid();
  Status status = read_status(process);
  do {
    process = status.parent;
    status = read_status(process);
  } while (status.parent > 0 && has_rank(process));
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return text(host.data(), '-', process, '-', status.start_time);
}

}  // namespace

std::optional<JobRank> job_rank() {
  const int rank = plait_events_job_rank(setting);
  if (rank < 0 || has_one_process()) return std::nullopt;
  if (const char* const name = std::getenv("PLAIT_JOB")) return JobRank{text("plait-", name), rank};
  if (const char* const name = std::getenv("PMIX_NAMESPACE")) return JobRank{name, rank};
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const step = std::getenv("SLURM_STEP_ID");
  if (job != nullptr && step != nullptr) return JobRank{text("slurm-", job, '.', step), rank};
  return JobRank{launcher(), rank};
}

double process_start_time() {
  timespec real{};
  timespec boot{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  const std::string ticks = read_status(::getpid()).start_time;  // ticks since the system was started
  const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
  if (ticks.empty() || ticks_per_second <= 0) return 0;
  const auto seconds = [](const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  return seconds(real) - seconds(boot) + std::strtod(ticks.c_str(), nullptr) / static_cast<double>(ticks_per_second);
}

}  // namespace plait::base
