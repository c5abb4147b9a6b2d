/// The processes of a job find each other through a file that the first one creates and all of them map.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "plait/error.hpp"
#include "transport/local/job.hpp"
#include "transport/shared_memory/group_meeting.hpp"
#include "transport/shared_memory/peers.hpp"

namespace plait::transport::local {

/// Waits until all processes of a job have arrived, and carries their agreements until they share other memory.
///
/// The file is in a folder that only its user can access (base/host/meeting_files.hpp).  A lock on its first byte
/// serializes the processes that arrive.  For each rank there is a byte whose lock the process of that rank holds until
/// it ends: a file without such locks was left by a killed job, and is initialized again.  The file's name is removed
/// as soon as all processes have arrived.
class Rendezvous : public shared_memory::GroupMeeting {
 public:
  using Seconds = std::chrono::duration<double>;

  /// Waits for all other processes.
  /// errors  kSystem: ETIMEDOUT, which ranks are missing, or that a rank blocks all others; EEXIST, a file of that name
  ///         is not a job's; EOWNERDEAD, which rank has ended; EADDRINUSE, a rank exists twice; EINTR; no space, no
  ///         permission.  kArgument: the ranks state different sizes, or run on several hosts.
  Rendezvous(const Job& job, Seconds timeout);
  ~Rendezvous() override;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  /// Returns the processes by their ranks.
  const std::vector<shared_memory::ProcessIdentity>& processes() const { return processes_; }

  int node_rank() const override { return job_.rank; }
  int node_size() const override { return job_.size; }

 private:
  struct Header;
  struct Entry;
  class FileLock;

  void map_file();
  bool has_own_version() const;
  void initialize_file();
  void register_rank();
  void wait_for_all_ranks();
  bool is_late() const;
  void check_for_ended();
  /// Removes the file if only this process, which has given up, still uses it.
  void remove_unused_file() const noexcept;
  std::string missing_ranks_text() const;
  /// Records a failure for all ranks that have arrived, and throws.  The caller holds the lock of the first byte.
  [[noreturn]] void fail(ErrorKind kind, int code, std::string_view text);
  /// Throws the failure that another rank has recorded.
  [[noreturn]] void throw_recorded_failure() const;

  shared_memory::Group& group() override { return *group_; }
  void reduce_min(std::span<std::int64_t> values) override { group_->reduce_min(values); }

  Header& header() const { return *reinterpret_cast<Header*>(memory_); }
  Entry& entry(int rank) const;

  using Clock = std::chrono::steady_clock;
  const Job job_;
  std::string path_;
  const Seconds timeout_;
  const Clock::time_point begin_ = Clock::now();
  base::Descriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<shared_memory::ProcessIdentity> processes_;
  std::optional<shared_memory::Group> group_;
};

/// Removes the files of jobs that ended before all of their processes had arrived, and no other files.
/// errors  as meeting_folder()
void remove_leftovers();

}  // namespace plait::transport::local
