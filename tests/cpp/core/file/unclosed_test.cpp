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
  File make() const {
    plait::FileOptions options;
    options.shape = plait::Extents{4};
    options.dtype = "|u1";
    return File::open(path("a.npy"), Mode::kWrite, options);
  }
  /// What `body` writes to the standard error.
  template <typename Body>
  static std::string said(Body&& body) {
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(UnclosedFileTest, IsTold) {
  const std::string text = said([&] { const File file = make(); });
  EXPECT_TRUE(text.starts_with("plait: " + path("a.npy") + " was opened in mode w and never closed: ")) << text;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(UnclosedFileTest, IsToldOnceOfAFileThatMoves) {
  const std::string text = said([&] {
    File file = make();
    File other = std::move(file);
    file = std::move(other);
  });
  EXPECT_EQ(text.find("plait: "), text.rfind("plait: "));
  EXPECT_FALSE(text.empty());
}

TEST_F(UnclosedFileTest, IsNotToldWhereThereIsNothingToTell) {
  EXPECT_EQ(said([&] { make().abandon(); }), "");
  EXPECT_EQ(said([&] {
              try {
                const File file = make();
                throw std::runtime_error("that says enough");
              } catch (const std::runtime_error&) {
              }
            }),
            "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(said([&] { make().close(); }), "");
  EXPECT_EQ(said([&] { const File file = File::open(path("a.npy"), Mode::kReadWrite); }), "");
}

/// What one file removes at the end of the program may end what is watched for another one.
TEST_F(UnclosedFileTest, IsRemovedAtTheEndWhateverThatEnds) {
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
