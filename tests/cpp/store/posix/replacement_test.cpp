// New files that replace old files atomically.
#include "store/posix/replacement.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "store_case.hpp"

namespace {

namespace fs = std::filesystem;
using namespace store_case;
using plait::store::posix::Replacement;
using ReplacementTest = StoreInFolder;

TEST_F(ReplacementTest, AppearsWholeWhenCommitted) {
  put("a", "old");
  const Bytes head = to_bytes("head");
  {
    Replacement replacement(path("a"), 10, head);
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(names().size(), 2U);
    EXPECT_EQ(fs::path(replacement.temporary_path()).parent_path(), folder_);
    EXPECT_EQ(fs::file_size(replacement.temporary_path()), 10U);
    replacement.commit();
    EXPECT_EQ(content("a"), std::string("head\0\0\0\0\0\0", 10));
  }
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

TEST_F(ReplacementTest, LeavesTheOldFileIfItIsDiscarded) {
  put("a", "old");
  {
    Replacement replacement(path("a"), 10, {});
    replacement.discard();
    EXPECT_EQ(names(), std::set<std::string>{"a"});
  }
  {
    const Replacement replacement(path("b"), 0, {});
  }
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_EQ(content("a"), "old");
}

TEST_F(ReplacementTest, TwoAtOnceDoNotInterfere) {
  put("a", "0");
  Replacement first(path("a"), 1, to_bytes("1"));
  Replacement second(path("a"), 1, to_bytes("2"));
  first.commit();
  EXPECT_EQ(content("a"), "1");
  second.commit();
  EXPECT_EQ(content("a"), "2");
}

TEST_F(ReplacementTest, KeepsPermissionsAndLinks) {
  put("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink("a", path("link"));
  Replacement(path("link"), 3, to_bytes("new")).commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("a"), "new");
  struct stat status{};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "link"}));
}

TEST_F(ReplacementTest, TheTargetOfADanglingLinkIsMade) {
  fs::create_directory(path("elsewhere"));
  fs::create_symlink("elsewhere/a", path("link"));
  Replacement(path("link"), 3, to_bytes("new")).commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("elsewhere/a"), "new");
}

TEST_F(ReplacementTest, NeedsAnExistingFolder) {
  EXPECT_SAYS(failure([&] { Replacement(path("no/a"), 1, {}); }).first, "folder");
  fs::create_directory(path("folder"));
  EXPECT_EQ(failure([&] { Replacement(path("folder"), 1, {}); }).second, EISDIR);
  put("file", "x");
  EXPECT_EQ(failure([&] { Replacement(path("file/a"), 1, {}); }).second, ENOTDIR);
  EXPECT_EQ(names(), (std::set<std::string>{"folder", "file"}));
}

TEST_F(ReplacementTest, FailsIfTheDiskIsTooSmall) {
  const auto [text, code] = failure([&] { Replacement(path("a"), std::int64_t{1} << 60, {}); });
  EXPECT_TRUE(code == ENOSPC || code == EFBIG) << text;
  EXPECT_SAYS(text, path("a"));
  EXPECT_EQ(names(), std::set<std::string>{});
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Returns the number of a process that has ended and was waited for.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(ReplacementTest, RemovesTemporaryFilesOfDeadProcesses) {
  const std::string prefix = ".a.plait-" + host_name() + "-";
  const std::string dead_number = std::to_string(dead_process());
  const std::set<std::string> remaining{
      "a",
      prefix + "1-0",                                        // alive
      ".a.plait-elsewhere-" + dead_number + "-0",            // of another host
      ".b.plait-" + host_name() + "-" + dead_number + "-0",  // of another file
      prefix + dead_number,                                  // not a name of a temporary file
      prefix + "-5-0",
      prefix + "x" + dead_number + "-0",
  };
  for (const std::string& name : remaining) put(name, "x");
  put(prefix + dead_number + "-0", "x");
  put(prefix + dead_number + "-17", "x");
  put(prefix + std::to_string(::getpid()) + "-900", "x");  // of an earlier process with this number: not locked
  {
    const Replacement replacement(path("a"), 1, {});
  }
  EXPECT_EQ(names(), remaining);
}

}  // namespace
