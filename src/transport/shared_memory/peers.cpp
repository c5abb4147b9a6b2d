#include "transport/shared_memory/peers.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/errors.hpp"
#include "base/wait/interruption.hpp"

namespace plait::transport::shared_memory {

ProcessIdentity this_process_identity() {
  struct stat space{};
  const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
  const base::ProcessId self = base::this_process();
  return {known ? static_cast<std::int64_t>(space.st_ino) : -1 - self.number, self.number, self.started};
}

std::vector<std::shared_ptr<const base::ProcessWatch>> watch(std::span<const ProcessIdentity> all) {
  // Watches use descriptors of processes, because process numbers may be reused.
  const ProcessIdentity own_identity = this_process_identity();
  std::vector<std::shared_ptr<const base::ProcessWatch>> watches;
  watches.reserve(all.size());
  for (const ProcessIdentity& process : all) {
    const bool reachable = process.name_space == own_identity.name_space && process.number != own_identity.number;
    watches.push_back(reachable ? base::ProcessWatch::find_or_open({process.number, process.started}) : nullptr);
  }
  return watches;
}

std::int64_t hash_numbers(std::span<const std::int64_t> numbers) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::int64_t number : numbers) hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211ULL;
  return static_cast<std::int64_t>(hash >> 2U);
}

void throw_ended(int worker) {
  base::throw_system_error(EOWNERDEAD, "rank ", worker,
                           " has ended during a collective call; nothing more can be done together");
}

void check_interruption(int worker, const Progress& progress, Departure& own) {
  if (!base::interrupted()) return;
  DepartureRecord departed{worker, progress.ended(), {}};
  set_reason(departed, {"was interrupted in a collective call"});
  own.record(departed);
  base::throw_system_error(EINTR, "rank ", worker,
                           " was interrupted in a collective call; nothing more can be done together");
}

}  // namespace plait::transport::shared_memory
