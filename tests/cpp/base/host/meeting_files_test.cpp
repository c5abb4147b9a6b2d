// The folder in which programs find each other by files, and locks that the kernel releases when their holder ends.
#include "base/host/meeting_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/descriptor.hpp"
#include "base/host/sockets.hpp"
#include "folder.hpp"
#include "plait/error.hpp"

namespace {

namespace host = plait::base::host;
using plait::base::Descriptor;

/// Sets PLAIT_MEET during the lifetime of this object.
class MeetingVariable {
 public:
  explicit MeetingVariable(const std::string& folder) { ::setenv("PLAIT_MEET", folder.c_str(), 1); }
  ~MeetingVariable() { ::unsetenv("PLAIT_MEET"); }
  MeetingVariable(const MeetingVariable&) = delete;
  MeetingVariable& operator=(const MeetingVariable&) = delete;
};

/// Returns the error of meeting_folder(), or the folder that it accepts.
std::string folder_error() {
  try {
    return "accepted " + host::meeting_folder();
  } catch (const plait::Error& error) {
    return error.what();
  }
}

using MeetingFolder = plait_test::FolderTest;

TEST_F(MeetingFolder, MustBeAccessibleOnlyToItsOwner) {
  const std::string name = path("meet");
  const MeetingVariable set_name(name);
  EXPECT_NE(folder_error().find(name + " in which programs are to meet: No such file"), std::string::npos)
      << folder_error();
  ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
  EXPECT_EQ(host::meeting_folder(), name);
  ASSERT_EQ(::chmod(name.c_str(), 0750), 0);
  EXPECT_NE(folder_error().find("say chmod 700 " + name), std::string::npos) << folder_error();
  const MeetingVariable file(path("file"));
  Descriptor(::open(path("file").c_str(), O_CREAT | O_RDWR, 0600));
  EXPECT_NE(folder_error().find("Not a directory"), std::string::npos) << folder_error();
}

class MeetingLocks : public plait_test::FolderTest {
 protected:
  Descriptor open_locks() const { return Descriptor(::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)); }

  std::string path_ = path("locks");
};

TEST_F(MeetingLocks, AreReleasedWithTheLastCopyOfTheirDescriptor) {
  const Descriptor other = open_locks();
  {
    const Descriptor first = open_locks();
    EXPECT_FALSE(host::is_locked(other.number()));
    ASSERT_TRUE(host::take_lock(first.number()));
    EXPECT_FALSE(host::is_locked(first.number())) << "asked by its holder";
    EXPECT_TRUE(host::is_locked(other.number()));
    EXPECT_FALSE(host::take_lock(other.number()));
  }
  EXPECT_FALSE(host::is_locked(other.number()));
  EXPECT_TRUE(host::take_lock(other.number()));
}

TEST_F(MeetingLocks, ApplyToRanges) {
  const Descriptor first = open_locks();
  const Descriptor other = open_locks();
  ASSERT_TRUE(host::take_lock(first.number(), {3, 1}));
  EXPECT_TRUE(host::is_locked(other.number(), {0, 4}));
  EXPECT_FALSE(host::is_locked(other.number(), {0, 3}));
  EXPECT_FALSE(host::is_locked(other.number(), {4, 100}));
  EXPECT_TRUE(host::take_lock(other.number(), {4, 0})) << "from byte 4 to the end";
  EXPECT_TRUE(host::is_locked(first.number(), {1000, 1}));
  host::release_lock(other.number(), {4, 0});
  EXPECT_FALSE(host::is_locked(first.number(), {1000, 1}));
}

TEST_F(MeetingLocks, DetectThatTheirFileWasReplaced) {
  const Descriptor first = open_locks();
  EXPECT_TRUE(host::leads_to(path_, first.number()));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_FALSE(host::leads_to(path_, first.number()));
  const Descriptor next = open_locks();
  EXPECT_FALSE(host::leads_to(path_, first.number()));
  EXPECT_TRUE(host::leads_to(path_, next.number()));
}

TEST(LocalAddress, TruncatesNamesThatAreTooLong) {
  const host::LocalAddress plain("plait-test");
  EXPECT_EQ(plain.address.sun_path[0], '\0') << "a name without a file";
  EXPECT_EQ(std::string(plain.address.sun_path + 1, 10), "plait-test");
  const host::LocalAddress longest(std::string(host::LocalAddress::kMaxBytes, 'x'));
  const host::LocalAddress longer(std::string(1000, 'x'));
  EXPECT_EQ(longest.length, sizeof(sockaddr_un));
  EXPECT_EQ(longer.length, longest.length);
}

}  // namespace
