// A queue of tasks that threads run until it is closed.
#include "base/task_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace plait::base {
namespace {

TEST(TaskQueue, RunsQueuedTasksInOrderAndAcceptsNoneWhenClosed) {
  TaskQueue queue;
  std::vector<int> finished;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.put([&finished, i] { finished.push_back(i); }));
  EXPECT_TRUE(queue.waiting());
  queue.close();
  EXPECT_FALSE(queue.put([&finished] { finished.push_back(9); }));
  queue.run();
  EXPECT_EQ(finished, (std::vector{0, 1, 2}));
  EXPECT_FALSE(queue.waiting());
}

TEST(TaskQueue, ReportsIfAThreadIsIdle) {
  TaskQueue queue;
  EXPECT_TRUE(queue.all_busy());
  std::thread thread([&queue] { queue.run(); });
  while (queue.all_busy()) std::this_thread::yield();
  queue.close();
  thread.join();
}

TEST(TaskQueue, TasksMayAddTasks) {
  TaskQueue queue;
  int runs = 0;
  queue.put([&] { queue.put([&] { ++runs; }); });
  queue.put([&] { queue.close(); });
  queue.run();
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace plait::base
