// The folder in which programs meet, and locks that last as long as their holder.
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

/// PLAIT_MEET for one test.
class MeetingVariable {
 public:
  explicit MeetingVariable(const std::string& folder) { ::setenv("PLAIT_MEET", folder.c_str(), 1); }
  ~MeetingVariable() { ::unsetenv("PLAIT_MEET"); }
  MeetingVariable(const MeetingVariable&) = delete;
  MeetingVariable& operator=(const MeetingVariable&) = delete;
};

std::string refusal() {
  try {
    return "accepted " + host::meeting_folder();
  } catch (const plait::Error& error) {
    return error.what();
  }
}

using MeetingFolder = plait_test::FolderTest;

TEST_F(MeetingFolder, IsOneThatNobodyElseSees) {
  const std::string name = path("meet");
  const MeetingVariable named(name);
  EXPECT_NE(refusal().find(name + " in which programs are to meet: No such file"), std::string::npos) << refusal();
  ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
  EXPECT_EQ(host::meeting_folder(), name);
  ASSERT_EQ(::chmod(name.c_str(), 0750), 0);
  EXPECT_NE(refusal().find("say chmod 700 " + name), std::string::npos) << refusal();
  const MeetingVariable file(path("file"));
  Descriptor(::open(path("file").c_str(), O_CREAT | O_RDWR, 0600));
  EXPECT_NE(refusal().find("Not a directory"), std::string::npos) << refusal();
}

class MeetingLocks : public plait_test::FolderTest {
 protected:
  Descriptor opened() const { return Descriptor(::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)); }

  std::string path_ = path("locks");
};

TEST_F(MeetingLocks, GoWithTheLastCopyOfTheirDescriptor) {
  const Descriptor other = opened();
  {
    const Descriptor one = opened();
    EXPECT_FALSE(host::is_locked(other.number()));
    ASSERT_TRUE(host::take_lock(one.number()));
    EXPECT_FALSE(host::is_locked(one.number())) << "seen by its holder";
    EXPECT_TRUE(host::is_locked(other.number()));
    EXPECT_FALSE(host::take_lock(other.number()));
  }
  EXPECT_FALSE(host::is_locked(other.number()));
  EXPECT_TRUE(host::take_lock(other.number()));
}

TEST_F(MeetingLocks, AreOnRangesOfTheirOwn) {
  const Descriptor one = opened();
  const Descriptor other = opened();
  ASSERT_TRUE(host::take_lock(one.number(), {3, 1}));
  EXPECT_TRUE(host::is_locked(other.number(), {0, 4}));
  EXPECT_FALSE(host::is_locked(other.number(), {0, 3}));
  EXPECT_FALSE(host::is_locked(other.number(), {4, 100}));
  EXPECT_TRUE(host::take_lock(other.number(), {4, 0})) << "all that follows";
  EXPECT_TRUE(host::is_locked(one.number(), {1000, 1}));
  host::give_lock(other.number(), {4, 0});
  EXPECT_FALSE(host::is_locked(one.number(), {1000, 1}));
}

TEST_F(MeetingLocks, TellWhetherTheirFileIsStillTheOneOfThatName) {
  const Descriptor one = opened();
  EXPECT_TRUE(host::leads_to(path_, one.number()));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_FALSE(host::leads_to(path_, one.number()));
  const Descriptor next = opened();
  EXPECT_FALSE(host::leads_to(path_, one.number()));
  EXPECT_TRUE(host::leads_to(path_, next.number()));
}

TEST(LocalAddress, CutsNamesThatAreTooLong) {
  const host::LocalAddress plain("plait-test");
  EXPECT_EQ(plain.address.sun_path[0], '\0') << "a name without a file";
  EXPECT_EQ(std::string(plain.address.sun_path + 1, 10), "plait-test");
  const host::LocalAddress longest(std::string(host::LocalAddress::kMaxBytes, 'x'));
  const host::LocalAddress longer(std::string(1000, 'x'));
  EXPECT_EQ(longest.length, sizeof(sockaddr_un));
  EXPECT_EQ(longer.length, longest.length);
}

}  // namespace
