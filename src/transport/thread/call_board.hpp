/// Active messages between threads of one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/task_queue.hpp"
#include "transport/active.hpp"

namespace plait::transport::thread {

/// The calls under way of all workers: whoever takes one out ends it.
struct OpenCalls {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Call>> pending_calls;
};

struct CallBoard {
  explicit CallBoard(int count)
      : queues(static_cast<std::size_t>(count)), services(queues.size()), workers(queues.size()) {}
  std::vector<base::TaskQueue> queues;  // what each worker's handler thread is to do
  std::vector<std::shared_ptr<CallService>> services;
  std::vector<Active*> workers;
  OpenCalls open;
};

/// One worker's end.  Workers call only once all have joined.
std::shared_ptr<Active> join(std::shared_ptr<CallBoard> board, int rank, std::shared_ptr<CallService> service);

}  // namespace plait::transport::thread
