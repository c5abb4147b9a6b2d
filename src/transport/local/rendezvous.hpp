/// How the processes of a job find each other: whoever comes first makes a file that all of them map.
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

/// Settles what they share until there is memory for that.
///
/// The file lies in the folder where programs meet, which is its user's alone.  A lock on the first byte orders those
/// who come; one on a byte for each rank lasts as long as its process, so that what a killed job has left is known, and
/// made anew.  The file loses its name as soon as all have come.
class Rendezvous : public shared_memory::GroupMeeting {
 public:
  using Seconds = std::chrono::duration<double>;

  /// Waits for all others.
  /// errors  kSystem: ETIMEDOUT says who has not come, or that a rank holds all others up; EEXIST, that a file of that
  ///         name is not a job's; EOWNERDEAD, who has ended; EADDRINUSE, that a rank is there twice;
  ///         EINTR; no room, no permission.  kArgument: the ranks say different sizes, or run on several hosts.
  Rendezvous(const Job& job, Seconds patience);
  ~Rendezvous() override;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  /// By their ranks.
  const std::vector<shared_memory::ProcessIdentity>& processes() const { return processes_; }

  int node_rank() const override { return job_.rank; }
  int node_size() const override { return job_.size; }

 private:
  struct Header;
  struct Entry;
  class Turn;

  void map();
  bool holds_job() const;
  void make();
  void register_rank();
  void wait();
  bool is_late() const;
  void look_for_ended();
  /// Removes the file where nobody holds it but this process, which has given up.
  void clear() const noexcept;
  std::string who_is_missing() const;
  /// Tells all who are there, and throws.  The lock of the first byte is held.
  [[noreturn]] void fail(ErrorKind kind, int code, std::string_view text);
  [[noreturn]] void throw_failure() const;

  shared_memory::Group& group() override { return *group_; }
  void reduce_min(std::span<std::int64_t> values) override { group_->reduce_min(values); }

  Header& header() const { return *reinterpret_cast<Header*>(memory_); }
  Entry& entry(int rank) const;

  using Clock = std::chrono::steady_clock;
  const Job job_;
  std::string path_;
  const Seconds patience_;
  const Clock::time_point begin_ = Clock::now();
  base::Descriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<shared_memory::ProcessIdentity> processes_;
  std::optional<shared_memory::Group> group_;
};

/// Removes what jobs, and nothing else, have left in the folder where programs meet that ended before all of
/// their processes had come.
/// errors  as meeting_folder()
void remove_leftovers();

}  // namespace plait::transport::local
