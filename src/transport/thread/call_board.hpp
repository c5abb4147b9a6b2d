/// Active messages (active_messages.hpp) between workers that are threads of one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/task_queue.hpp"
#include "transport/active_messages.hpp"

namespace plait::transport::thread {

/// The calls under way of all workers: the thread that removes a call ends it.
struct OpenCalls {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Call>> pending_calls;
};

/// What the workers of a team share for their calls.
struct CallBoard {
  explicit CallBoard(int count)
      : queues(static_cast<std::size_t>(count)), services(queues.size()), workers(queues.size()) {}
  std::vector<base::TaskQueue> queues;  // the tasks of each worker's handler thread
  std::vector<std::shared_ptr<CallService>> services;
  std::vector<ActiveMessages*> workers;
  OpenCalls open;
};

/// Returns the active messages of one worker.  Workers make calls only after all workers have called this.
std::shared_ptr<ActiveMessages> join_board(std::shared_ptr<CallBoard> board, int rank,
                                           std::shared_ptr<CallService> service);

}  // namespace plait::transport::thread
