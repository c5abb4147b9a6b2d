// Calls that wait for their turn behind nonblocking ones end as they would have ended alone.

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

/// Runs `task` while another one holds the thread.
void run_behind_another(core::Worker& worker, const std::function<void()>& task) {
  std::promise<void> go_on;
  const auto held = worker.start([&] { go_on.get_future().wait(); });
  const auto opener = worker.start([] {});  // `task` is behind tasks that have not begun
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_on.set_value();
  });
  const std::exception_ptr error = collective::caught([&] { worker.run(task); });
  other.join();
  held->wait();
  opener->wait();
  if (error) std::rethrow_exception(error);
}

TEST(Worker, WhatIsNoErrorComesOutAsItWasThrown) {
  core::Worker worker;
  EXPECT_THROW(run_behind_another(worker, [] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(run_behind_another(worker, [] { throw Error(ErrorKind::kArgument, "no"); }), Error);
  int done = 0;
  run_behind_another(worker, [&done] { ++done; });
  EXPECT_EQ(done, 1);
}

/// The words of an error need memory; the thread goes on without.
TEST(Worker, AnErrorForWhichThereIsNoMemoryIsAnError) {
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
  } catch (const Error& known) {
    EXPECT_EQ(known.kind(), ErrorKind::kSystem);
    EXPECT_EQ(known.system_code(), EIO);
    EXPECT_STREQ(known.what(), "out of memory");
  }
  worker.start([] { EXPECT_TRUE(allocations::failed()); })->wait();
}

/// All ranks get the error of the one that ran out of memory, though nobody agreed within its call.
TEST(Worker, WhatIsNoErrorReachesTheAgreement) {
  std::vector<std::string> heard(3);
  transport::thread::run_team(3, [&](transport::Transport& transport) {
    const Comm comm = plait::core::comm_over(std::shared_ptr<transport::Transport>(&transport, [](auto*) {}));
    core::Worker worker;
    try {
      core::guarded(comm, [&] {
        run_behind_another(worker, [&] {
          if (transport.rank() == 1) throw std::bad_alloc();
          collective::agree(transport, nullptr);
        });
      });
    } catch (const Error& error) {
      heard[static_cast<std::size_t>(transport.rank())] = error.what();
    }
  });
  for (const std::string& each : heard) EXPECT_NE(each.find("out of memory"), std::string::npos) << each;
}

/// As exit() in a signal's handler does.
TEST(Worker, TheEndOfTheProgramDoesNotWaitForTheTaskThatItIsIn) {
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

TEST(Worker, TheEndWaitsForATaskOfAnotherThread) {
  core::Worker worker(true, true);
  std::promise<void> begun;
  std::atomic<int> done = 0;
  std::thread other([&] {
    worker.run([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++done;
    });
  });
  begun.get_future().wait();
  const auto behind = worker.start([&done] { ++done; });
  worker.finish();
  EXPECT_EQ(done, 2);
  other.join();
}

/// Its own, though its parent has had others.
TEST(Worker, WhatAChildHasStartedEndsWithIt) {
#if defined(PLAIT_SANITIZE_THREAD)
  GTEST_SKIP() << "under ThreadSanitizer a child of a program with threads starts none, and a worker is one";
#endif
  const core::Worker of_parent;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::atomic<int> done = 0;
    core::Worker own;
    own.start([&done] {
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
