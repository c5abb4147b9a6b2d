// New files that are destroyed before they are closed.
#include "core/file/unclosed.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "folder.hpp"
#include "plait/file.hpp"

namespace {

using plait::File;
using plait::Mode;

class UnclosedFileTest : public plait_test::FolderTest {
 protected:
  /// Opens a new file.
  File make_file() const {
    plait::FileOptions options;
    options.shape = plait::Extents{4};
    options.dtype = "|u1";
    return File::open(path("a.npy"), Mode::kWrite, options);
  }
  /// Returns what `body` writes to the standard error.
  template <typename Body>
  static std::string capture_stderr(Body&& body) {
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(UnclosedFileTest, IsReported) {
  const std::string text = capture_stderr([&] { const File file = make_file(); });
  EXPECT_TRUE(text.starts_with("plait: " + path("a.npy") + " was opened in mode w and never closed: ")) << text;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(UnclosedFileTest, IsReportedOnceIfTheObjectMoves) {
  const std::string text = capture_stderr([&] {
    File file = make_file();
    File other = std::move(file);
    file = std::move(other);
  });
  EXPECT_EQ(text.find("plait: "), text.rfind("plait: "));
  EXPECT_FALSE(text.empty());
}

TEST_F(UnclosedFileTest, AbandonedAndClosedFilesAreNotReported) {
  EXPECT_EQ(capture_stderr([&] { make_file().abandon(); }), "");
  EXPECT_EQ(capture_stderr([&] {
              try {
                const File file = make_file();
                throw std::runtime_error("reported instead");
              } catch (const std::runtime_error&) {
              }
            }),
            "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(capture_stderr([&] { make_file().close(); }), "");
  EXPECT_EQ(capture_stderr([&] { const File file = File::open(path("a.npy"), Mode::kReadWrite); }), "");
}

/// The cleanup of one file at the end of the program may end the watch of another file.
TEST_F(UnclosedFileTest, CleanupAtExitMayEndOtherWatches) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    static plait::core::NewFileWatch first;
    static plait::core::NewFileWatch second;
    const auto clear = [] {
      first.end();
      second.end();
      const plait::core::NewFileWatch other;
    };
    first.begin("first", clear);
    second.begin("second", clear);
    ::dup2(::open("/dev/null", O_WRONLY), 2);
    std::exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
