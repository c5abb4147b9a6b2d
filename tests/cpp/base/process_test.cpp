// Objects of a parent process in forked children: calls fail there, and destructors do nothing.
#include "base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "folder.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "plait/redistribute.hpp"
#include "plait/stream.hpp"

namespace {

using plait::base::Descriptor;
using plait::base::Owner;
using plait::base::PerProcess;

class Forks : public plait_test::FolderTest {
 protected:
  /// Runs `body` in a forked child. Returns true if it returns true, does not throw, and ends within a minute.
  static bool in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      bool result = false;
      try {
        result = body();
      } catch (...) {
      }
      ::_exit(result ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0;
  }
  /// Returns true if a call fails because its object belongs to the process with this number.
  static bool fails_outside(const std::function<void()>& call, int process) {
    try {
      call();
      return false;
    } catch (const plait::Error& error) {
      return error.kind() == plait::ErrorKind::kArgument &&
             std::string(error.what()).find(" belongs to process " + std::to_string(process)) != std::string::npos;
    }
  }
};

TEST_F(Forks, AChildIsAnotherProcess) {
  const Owner owner;
  static PerProcess<int> value;
  value.get() = 5;
  const int parent = ::getpid();
  EXPECT_TRUE(owner.here());
  EXPECT_EQ(owner.process(), parent);
  EXPECT_TRUE(in_child([&] {
    const Owner child_owner;
    const bool differs = !owner.here() && child_owner.here() && child_owner.process() == ::getpid() && value.get() == 0;
    return differs && in_child([&] { return !owner.here() && !child_owner.here(); });
  }));
  EXPECT_EQ(value.get(), 5);
}

TEST_F(Forks, OwnedObjectsAreDestroyedOnlyInTheirProcess) {
  struct DestructionCounter {
    explicit DestructionCounter(int& counter) : destroyed(counter) {}
    ~DestructionCounter() { ++destroyed; }
    int& destroyed;
  };
  int destroyed = 0;
  auto object = plait::base::make_owned<DestructionCounter>(destroyed);
  EXPECT_TRUE(in_child([&] {
    object.reset();
    return destroyed == 0;
  }));
  object.reset();
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Forks, AChildClosesDescriptorsAndHasNoLock) {
  const auto open = [this] { return Descriptor(::open(path("a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); };
  Descriptor first = open();
  Descriptor second = std::move(first);
  Descriptor third;
  third = open();
  ASSERT_EQ(::flock(second.number(), LOCK_EX | LOCK_NB), 0);
  const int number = second.number();
  int until_child_runs[2];
  int until_parent_is_done[2];
  ASSERT_EQ(::pipe(until_child_runs), 0);
  ASSERT_EQ(::pipe(until_parent_is_done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool closed = second.number() == -1 && ::fcntl(number, F_GETFD) == -1 && errno == EBADF;
    Descriptor reopened = open();  // may have the same number
    second.close();
    char byte = closed && ::fcntl(reopened.number(), F_GETFD) >= 0 ? 1 : 0;
    [[maybe_unused]] const auto written = ::write(until_child_runs[1], &byte, 1);
    [[maybe_unused]] const auto read_back = ::read(until_parent_is_done[0], &byte, 1);
    ::_exit(0);
  }
  char is_closed = 0;
  ASSERT_EQ(::read(until_child_runs[0], &is_closed, 1), 1);
  EXPECT_EQ(is_closed, 1);
  second.close();
  EXPECT_EQ(::flock(third.number(), LOCK_EX | LOCK_NB), 0) << "the child still holds the lock";
  EXPECT_EQ(::write(until_parent_is_done[1], &is_closed, 1), 1);
  ::waitpid(child, nullptr, 0);
  for (const int end : {until_child_runs[0], until_child_runs[1], until_parent_is_done[0], until_parent_is_done[1]})
    ::close(end);
}

TEST_F(Forks, ANewFileBelongsToTheParent) {
  const plait::Extents shape{64};
  const plait::Layout layout(shape, {plait::Distribution::blocked()}, plait::Extents{1});
  std::vector<std::byte> bytes(64, std::byte{7});
  plait::FileOptions options;
  options.shape = shape;
  options.dtype = "|u1";
  const std::vector<plait::ConstPart> part{{bytes.data(), {}}};
  const std::vector<plait::MutablePart> target{{bytes.data(), {}}};
  auto file = plait::File::open(path("a.npy"), plait::Mode::kWrite, options);
  plait::Stream stream(file, plait::StreamMode::kOwn);
  plait::Redistribution plan(layout, layout, 1);
  plait::Request request = file.start_write(layout, part);
  const int parent = ::getpid();
  EXPECT_TRUE(in_child([&] {
    const bool all_fail =
        fails_outside([&] { file.close(); }, parent) && fails_outside([&] { request.wait(); }, parent) &&
        fails_outside([&] { stream.tell(); }, parent) && fails_outside([&] { plan.run(part, target); }, parent) &&
        fails_outside([&] { file.write(layout, part); }, parent) && !file.is_open() && !stream.is_open();
    file.abandon();
    {
      const plait::Stream destroyed = std::move(stream);
    }
    {
      const plait::Redistribution destroyed = std::move(plan);
    }
    {
      const plait::File destroyed = std::move(file);
    }
    return all_fail;
  }));
  request.wait();
  file.close();
  EXPECT_EQ(std::filesystem::file_size(path("a.npy")), 128U + 64U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
