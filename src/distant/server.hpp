/// The service of a rank for the others: accesses to its files, and its part of the directory of names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "distant/disks.hpp"
#include "distant/local_file.hpp"
#include "distant/wire.hpp"
#include "transport/active_messages.hpp"

namespace plait::distant {

/// Describes an exception for the caller.  Does not throw, because it may run on a disk thread.
transport::CallFailure to_call_failure(const std::exception_ptr& error);

/// Serves requests of other ranks.  Memory is limited to kBuffers buffers for any number of callers: a request without
/// a buffer waits as a small head, and the next buffer goes to the next caller in turn.
/// threads  Any number at once.
class Server : public transport::CallService {
 public:
  static constexpr int kBuffers = 16;

  Server(int rank, int ranks);

  void add(std::int64_t number, std::shared_ptr<const LocalFile> file);
  /// Removes a file; calls that are served later do not find it.
  void remove(std::int64_t number);
  /// Returns the file with a number, or nullptr.
  std::shared_ptr<const LocalFile> find_file(std::int64_t number) const;

  /// These functions are for this rank's part of the directory of names.  register_name() returns the current owner of
  /// the name, which differs from `entry` if the name was taken.
  Entry register_name(const std::string& name, const Entry& entry);
  Entry find_name(const std::string& name) const;
  void forget_name(const std::string& name, const Entry& entry);

  void on_call(transport::ActiveMessages& active, const transport::Arrival& arrival) override;
  void on_worker_ended(int worker) override;
  /// Waits for the disks; no further requests may arrive.
  void finish() { disks_.reset(); }
  Disks& disks() { return *disks_; }

 private:
  /// A call that is being served.
  struct Job {
    transport::ActiveMessages* active = nullptr;
    transport::Arrival arrival;
    Head head;
    std::byte* buffer = nullptr;
  };

  void serve_waiting();
  std::optional<Job> take_next_job();
  void release(std::byte* buffer);
  void serve(const Job& job);
  void serve_with_payload(const Job& job);
  void serve_file(const Job& job);
  void begin_access(const Job& job);
  void serve_name(const Job& job);
  void answer(const Job& job, std::size_t bytes);
  void reject(const Job& job, const std::exception_ptr& error);
  void carry_out(const Job& job, base::FunctionRef<std::size_t()> work);
  std::shared_ptr<const LocalFile> require_file(const Job& job) const;
  std::byte* take_buffer();

  int rank_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const LocalFile>> files_;
  std::map<std::string, Entry> names_;
  std::vector<std::deque<Job>> queues_;  // one for each caller
  std::size_t waiting_ = 0;              // number of jobs in all queues
  std::size_t next_queue_ = 0;           // the caller whose turn it is
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
  std::vector<std::byte*> free_buffers_;
  bool is_serving_ = false;  // a thread is in the loop of serve_waiting()
  std::unique_ptr<Disks> disks_ = std::make_unique<Disks>();
};

}  // namespace plait::distant
