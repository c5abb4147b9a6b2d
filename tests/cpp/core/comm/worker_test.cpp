// The worker thread of a communicator, which runs nonblocking calls: a call that waits for an earlier one has the same
// outcome as without waiting.

#include "core/comm/worker.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "plait/error.hpp"
#include "transport/ending.hpp"
#include "transport/thread/team.hpp"

namespace {

using namespace plait;

/// Runs `task` while another task blocks the worker's thread.
void run_after_another(core::Worker& worker, const std::function<void()>& task) {
  std::promise<void> release;
  const auto blocking = worker.start([&] { release.get_future().wait(); });
  const auto empty_task = worker.start([] {});  // so that tasks that have not begun are queued before `task`
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    release.set_value();
  });
  const std::exception_ptr error = collective::caught([&] { worker.run(task); });
  other.join();
  blocking->wait();
  empty_task->wait();
  if (error) std::rethrow_exception(error);
}

TEST(Worker, RethrowsExceptionsOfAnyType) {
  core::Worker worker;
  EXPECT_THROW(run_after_another(worker, [] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(run_after_another(worker, [] { throw Error(ErrorKind::kArgument, "no"); }), Error);
  int done = 0;
  run_after_another(worker, [&done] { ++done; });
  EXPECT_EQ(done, 1);
}

/// The text of an error needs memory. Without memory, another text replaces it.
TEST(Worker, ReportsErrorsWithoutMemory) {
  core::Worker worker;
  const std::exception_ptr error = std::make_exception_ptr(
      Error(ErrorKind::kSystem, "an error in more words than fit where no memory is needed", EIO));
  const auto request = worker.start([&] {
    allocations::fail_from(1);
    std::rethrow_exception(error);
  });
  try {
    request->wait();
    ADD_FAILURE() << "no error";
  } catch (const Error& caught) {
    EXPECT_EQ(caught.kind(), ErrorKind::kSystem);
    EXPECT_EQ(caught.system_code(), EIO);
    EXPECT_STREQ(caught.what(), "out of memory");
  }
  worker.start([] { EXPECT_TRUE(allocations::failed()); })->wait();
}

/// All ranks get the error of the rank that ran out of memory, although its call did not reach the agreement.
TEST(Worker, ExceptionsOfAnyTypeReachTheAgreement) {
  std::vector<std::string> errors(3);
  transport::thread::run_team(3, [&](transport::Transport& transport) {
    const Comm comm = plait::core::comm_over(std::shared_ptr<transport::Transport>(&transport, [](auto*) {}));
    core::Worker worker;
    try {
      core::guarded(comm, [&] {
        run_after_another(worker, [&] {
          if (transport.rank() == 1) throw std::bad_alloc();
          collective::agree(transport, nullptr);
        });
      });
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(transport.rank())] = error.what();
    }
  });
  for (const std::string& error_text : errors)
    EXPECT_NE(error_text.find("out of memory"), std::string::npos) << error_text;
}

/// finish() is called from the task itself, as by exit() in a signal handler.
TEST(Worker, FinishDoesNotWaitForTheTaskThatCallsIt) {
  for (const bool ends_alone : {false, true}) {
    core::Worker worker(true, ends_alone);
    int done = 0;
    worker.run([&] {
      worker.finish();
      ++done;
    });
    EXPECT_EQ(done, 1);
  }
}

TEST(Worker, FinishWaitsForTasksOfOtherThreads) {
  core::Worker worker(true, true);
  std::promise<void> started;
  std::atomic<int> done = 0;
  std::thread other([&] {
    worker.run([&] {
      started.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++done;
    });
  });
  started.get_future().wait();
  const auto queued = worker.start([&done] { ++done; });
  worker.finish();
  EXPECT_EQ(done, 2);
  other.join();
}

/// A forked child waits for its own workers at the end, although its parent had a worker, too.
TEST(Worker, AChildWaitsForItsOwnTasks) {
#if defined(PLAIT_SANITIZE_THREAD)
  GTEST_SKIP() << "under ThreadSanitizer a child of a program with threads starts none, and a worker is one";
#endif
  const core::Worker parent_worker;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::atomic<int> done = 0;
    core::Worker child_worker;
    child_worker.start([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ++done;
    });
    transport::run_endings();
    ::_exit(done == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
