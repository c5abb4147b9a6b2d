/// What a rank does for the others: it serves their accesses to its files, and knows where names lead.
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
#include "transport/active.hpp"

namespace plait::distant {

/// What an exception tells the caller.  It throws nothing: who asks may be a thread that waits for a disk.
transport::CallFailure failure_of(const std::exception_ptr& error);

/// Memory is bounded by kBuffers pieces, whoever calls: what finds no buffer waits as a head of some bytes, and callers
/// take turns, a piece each.
/// threads  Any number at once.
class Server : public transport::CallService {
 public:
  static constexpr int kBuffers = 16;

  Server(int rank, int ranks);

  void add(std::int64_t number, std::shared_ptr<const LocalFile> file);
  /// The file is gone for all calls that are served later.
  void remove(std::int64_t number);
  /// nullptr where there is none.
  std::shared_ptr<const LocalFile> find_file(std::int64_t number) const;

  /// The part of the directory that lies here.  Registering returns who has the name then.
  Entry register_name(const std::string& name, const Entry& entry);
  Entry find_name(const std::string& name) const;
  void forget_name(const std::string& name, const Entry& entry);

  void arrived(transport::Active& active, const transport::Arrival& arrival) override;
  void left(int worker) override;
  /// Waits for the disks; nothing must arrive any more.
  void finish() { disks_.reset(); }
  Disks& disks() { return *disks_; }

 private:
  /// One call that is being served.
  struct Job {
    transport::Active* active = nullptr;
    transport::Arrival arrival;
    Head head;
    std::byte* buffer = nullptr;
  };

  void serve_waiting();
  std::optional<Job> next();
  void release(std::byte* buffer);
  void serve(const Job& job);
  void serve_with_payload(const Job& job);
  void serve_file(const Job& job);
  void begin_access(const Job& job);
  void serve_name(const Job& job);
  void answer(const Job& job, std::size_t bytes);
  void reject(const Job& job, const std::exception_ptr& error);
  void carry_out(const Job& job, base::FunctionRef<std::size_t()> work);
  std::shared_ptr<const LocalFile> file_of(const Job& job) const;
  std::byte* new_buffer();

  int rank_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const LocalFile>> files_;
  std::map<std::string, Entry> names_;
  std::vector<std::deque<Job>> queues_;  // of each caller
  std::size_t waiting_ = 0;
  std::size_t turn_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
  std::vector<std::byte*> free_;
  bool serving_ = false;  // somebody looks for the next job
  std::unique_ptr<Disks> disks_ = std::make_unique<Disks>();
};

}  // namespace plait::distant
