/// Active messages between threads of one process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/active.hpp"

namespace plait::transport::thread {

/// What one worker's handler thread is to do.
class CallBox {
 public:
  /// Returns false where nothing is done here any more.
  bool put(std::function<void()> task);
  /// Runs tasks until it is closed, then those that are left.
  void run();
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
};

/// The calls under way of all workers: whoever takes one out ends it.
struct OpenCalls {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Call>> pending_calls;
};

struct CallBoard {
  explicit CallBoard(int count)
      : boxes(static_cast<std::size_t>(count)), services(boxes.size()), workers(boxes.size()) {}
  std::vector<CallBox> boxes;
  std::vector<std::shared_ptr<CallService>> services;
  std::vector<Active*> workers;
  OpenCalls open;
};

/// One worker's end.  Workers call only once all have joined.
std::shared_ptr<Active> join(std::shared_ptr<CallBoard> board, int rank, std::shared_ptr<CallService> service);

}  // namespace plait::transport::thread
