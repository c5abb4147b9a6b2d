// The files by which readers find the writer of a pipe: their content, their locks, and files of killed writers.
#include "pipe/meeting_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "plait/error.hpp"
#include "plait/pipe.hpp"

namespace {

namespace fs = std::filesystem;
using plait::Error;
using namespace plait::pipe;
using plait::transport::native::Key;

/// Each test has its own meeting folder.
class PipeMeeting : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/plait-meet-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv("PLAIT_MEET", folder_.c_str(), 1);
    invitation_.endpoints = plait::transport::native::own_host();
    invitation_.endpoints.addresses = {"tcp:127.0.0.1:4711"};
    invitation_.key = Key::random();
    invitation_.program = "a test";
  }
  void TearDown() override {
    ::unsetenv("PLAIT_MEET");
    fs::remove_all(folder_);
  }

  fs::path folder_;
  Invitation invitation_;
};

TEST_F(PipeMeeting, ReadersFindTheInvitationOfTheWriter) {
  EXPECT_FALSE(find_invitation("flow").has_value());
  {
    const MeetingFile file("flow", invitation_);
    const auto invitation = find_invitation("flow");
    ASSERT_TRUE(invitation.has_value());
    EXPECT_EQ(invitation->key.text(), invitation_.key.text());
    EXPECT_EQ(invitation->endpoints.addresses, invitation_.endpoints.addresses);
    EXPECT_EQ(invitation->program, "a test");
    EXPECT_EQ(meeting_names(), std::vector<std::string>{"flow"});
    struct stat status{};
    ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
  }
  EXPECT_FALSE(find_invitation("flow").has_value());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PipeMeeting, ASecondWriterOfANameIsAnErrorThatNamesTheFirst) {
  const MeetingFile file("flow", invitation_);
  try {
    const MeetingFile other("flow", invitation_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), EADDRINUSE);
    EXPECT_NE(std::string(error.what()).find("a test"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(find_invitation("flow").has_value());
}

TEST_F(PipeMeeting, ReplacesTheFileOfAKilledWriter) {
  const pid_t child = ::fork();
  if (child == 0) {
    // The object is never destroyed, as in a killed process, so the file remains.
    const auto* file = new MeetingFile("flow", invitation_);
    ::_exit(file->path().empty() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_FALSE(fs::is_empty(folder_));
  EXPECT_FALSE(find_invitation("flow").has_value());
  EXPECT_TRUE(meeting_names().empty());
  const MeetingFile file("flow", invitation_);
  EXPECT_TRUE(find_invitation("flow").has_value());
}

TEST_F(PipeMeeting, AForkedChildLeavesTheFileAlone) {
  auto file = std::make_unique<MeetingFile>("flow", invitation_);
  const pid_t child = ::fork();
  if (child == 0) {
    file.reset();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(find_invitation("flow").has_value());
}

TEST_F(PipeMeeting, FoldersThatOtherUsersSeeAreErrors) {
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_read);
  EXPECT_THROW(meeting_folder(), Error);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(meeting_folder(), folder_);
  ::setenv("PLAIT_MEET", (folder_ / "missing").c_str(), 1);
  EXPECT_THROW(meeting_folder(), Error);
  std::ofstream(folder_ / "file") << "x";
  ::setenv("PLAIT_MEET", (folder_ / "file").c_str(), 1);
  EXPECT_THROW(meeting_folder(), Error);
}

TEST_F(PipeMeeting, ALockedFileThatIsNoInvitationIsAnError) {
  const fs::path path = folder_ / "flow.pipe";
  std::ofstream(path) << "something\nelse\nin\nhere\n";
  EXPECT_FALSE(find_invitation("flow").has_value()) << "a file without a lock belongs to no writer";
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &lock), 0);
  EXPECT_THROW(find_invitation("flow"), Error);
  ::close(file);
}

TEST(PipePrograms, AreParsedFromTheirText) {
  const Program program = parse_program(this_program());
  EXPECT_EQ(program.process, ::getpid());
  EXPECT_EQ(program.host, plait::transport::native::own_host().name);
  const Program nested_parentheses = parse_program("a (process 1 on b) (process 4711 on node-7.org)");
  EXPECT_EQ(nested_parentheses.name, "a (process 1 on b)");
  EXPECT_EQ(nested_parentheses.process, 4711);
  EXPECT_EQ(nested_parentheses.host, "node-7.org");
  for (const char* other : {"", "a program", "a (process x on b)", "a (process 4711)", "a (process 4711 on b"}) {
    EXPECT_EQ(parse_program(other).name, other);
    EXPECT_EQ(parse_program(other).process, 0);
  }
}

TEST_F(PipeMeeting, TheErrorForAMissingPipeNamesOtherPipes) {
  const MeetingFile other("other", invitation_);
  EXPECT_EQ(plait::pipe_names(), std::vector<std::string>{"other"});
  try {
    plait::pipe_status("pipe:flow");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), ENOENT);
    EXPECT_NE(std::string(error.what()).find("there are: other"), std::string::npos);
  }
  // No writer listens at the address of the invitation, so that the status fails instead of waiting.
  try {
    plait::pipe_status("pipe:other?timeout=1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("its writer, a test, does not answer with its state"), std::string::npos);
  }
}

}  // namespace
