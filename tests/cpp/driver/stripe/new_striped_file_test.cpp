// New striped files: they appear completely or not at all, and leave no temporary files.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/comm/internals.hpp"
#include "oracle.hpp"
#include "plait/disks.hpp"
#include "plait/file.hpp"
#include "store/posix/descriptor.hpp"
#include "store/stripe/stripe_name.hpp"
#include "stripe_case.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using namespace stripe_case;

using NewStriped = Stripes;

TEST_F(NewStriped, AppearsWholeWhenCommitted) {
  auto file = make_new(url("a", 2, "4"), 10);
  const store::Location position = file->location();
  const std::string digits = "0123456789";
  reopen(position, true)->write({{0, reinterpret_cast<const std::byte*>(digits.data()), 10}});
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(files().size(), 3U);
  file->commit();
  const Description description = stripe::read_description(path("a"), "a");
  EXPECT_EQ(files().size(), 3U);
  EXPECT_EQ(content(fs::relative(description.components[0], folder_).string()), "012389");
  EXPECT_EQ(content(fs::relative(description.components[1], folder_).string()), "4567");
  file.reset();
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(NewStriped, DiscardedLeavesNoFile) {
  make_new(url("a", 3, "4"), 10)->discard();
  {
    const auto file = make_new(url("a", 3, "4"), 10);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(NewStriped, ReplacesFilesOfAnyKind) {
  put("a", "ordinary");
  make("a", 3, "4", 50);
  EXPECT_EQ(files().size(), 4U);
  const Description second = make("a", 2, "8", 60);
  EXPECT_EQ(files().size(), 3U);
  EXPECT_EQ(stripe::read_description(path("a"), "a").id, second.id);
  auto ordinary = make_new(path("a"), 5);
  ordinary->commit();
  EXPECT_EQ(files(), std::set<std::string>{"a"});
  EXPECT_EQ(content("a"), std::string(5, '\0'));
}

TEST_F(NewStriped, TwoAtOnceDoNotInterfere) {
  make("a", 2, "4", 50);
  const auto smaller = make_new(url("a", 2, "4"), 11);
  const auto larger = make_new(url("a", 2, "4"), 12);
  smaller->commit();
  EXPECT_EQ(find(named("a"), false).store->size(), 11);
  larger->commit();
  EXPECT_EQ(find(named("a"), false).store->size(), 12);
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(NewStriped, GrowsAndShrinksLikeAnOrdinaryFile) {
  for (const std::string& name : {url("a", 3, "7"), path("b")}) {
    const auto file = make_new(name, 0);
    std::string expected;
    for (const std::int64_t bytes : {10, 100, 90, 95, 0, 64, 1000}) {
      file->resize(bytes);
      const auto begin = static_cast<std::int64_t>(expected.size());
      expected.resize(oracle::to_size_t(bytes));
      for (std::int64_t i = begin; i < bytes; ++i) expected[oracle::to_size_t(i)] = static_cast<char>(byte_at(i));
      // Open the file by its location, as another process would.
      const auto opened = reopen(file->location(), true);
      ASSERT_EQ(opened->size(), bytes);
      if (bytes > begin)
        opened->write({{begin, reinterpret_cast<const std::byte*>(expected.data()) + begin, bytes - begin}});
      std::string content_read(oracle::to_size_t(bytes), 'x');
      opened->read({{0, reinterpret_cast<std::byte*>(content_read.data()), bytes}});
      ASSERT_EQ(content_read, expected);
    }
    file->resize(1002);
    file->commit();
    EXPECT_EQ(find(name, false).location.details.empty(), name == path("b"));
    Bytes tail(2, std::byte{'x'});
    find(name, false).store->read({{1000, tail.data(), 2}});
    EXPECT_TRUE(tail == Bytes(2));
  }
}

TEST_F(NewStriped, KeepsPermissionsAndLinks) {
  put("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink("a", path("link"));
  const Description created = make("link", 2, "4", 10);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  for (const std::string& file : {path("a"), created.components[0], created.components[1]}) {
    struct stat status{};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
  }
  // The old components are removed although the file is replaced under another name.
  make("a", 2, "4", 10);
  EXPECT_FALSE(fs::exists(created.components[0]));
  EXPECT_NO_THROW(find(named("link"), false));
}

TEST_F(NewStriped, FailuresLeaveNothingBehind) {
  const std::set<std::string> before = files();
  const auto creation_error = [&](const std::string& name, std::int64_t bytes) {
    const Error error = failure([&] { make_new(name, bytes); });
    EXPECT_EQ(files(), before);
    return error;
  };
  const Error missing = creation_error(named("a") + "?disks=" + disk(0) + "," + path("none"), 9);
  EXPECT_SAYS(missing, text("to the disk ", path("none")));
  EXPECT_EQ(missing.system_code(), ENOENT);
  const Error closed = creation_error(named("a") + "?disks=" + disk(0) + ",/proc", 9);
  EXPECT_SAYS(closed, "the component file /proc/a.stripe1-");
  const Error full = creation_error(url("a", 2, "4"), std::int64_t{1} << 60);
  EXPECT_TRUE(full.system_code() == ENOSPC || full.system_code() == EFBIG) << full.what();
  EXPECT_SAYS(full, disk(0) + "/a.stripe0-");
  EXPECT_SAYS(creation_error(named("no/a") + "?disks=" + disk(0), 9), "does not exist");
  EXPECT_SAYS(creation_error(text("stripe:", folder_.string(), "?disks=", disk(0)), 9), "directory");
  EXPECT_EQ(creation_error(named("a.npy") + "?disks=" + disk(0), 9).kind(), ErrorKind::kArgument);
  put("d0/file", "x");
  fs::rename(path("d0/file"), path("file"));
  EXPECT_EQ(failure([&] { make_new(named("a") + "?disks=" + path("file"), 9); }).system_code(), ENOTDIR);
  EXPECT_EQ(files(), std::set<std::string>{"file"});
}

TEST_F(NewStriped, OneDiskMayBeNamedTwice) {
  const std::string name = named("a") + "?unit=3&disks=" + disk(0) + "," + disk(0);
  make_new(name, 10)->commit();
  EXPECT_EQ(find(name, true).store->size(), 10);
  EXPECT_EQ(files().size(), 3U);
}

/// Runs `body` in a process that ends without cleaning up.
template <typename Body>
void in_killed_process(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

TEST_F(NewStriped, RemovesTemporaryFilesOfAKilledProcess) {
  const Description old = make("a", 2, "4", 50);
  in_killed_process([&] { make_new(url("a", 5, "4"), 70).release(); });
  EXPECT_EQ(files().size(), 3U + 6U) << "descriptions with 2 components, and with 5 of the killed process";
  EXPECT_EQ(find(named("a"), false).store->size(), 50);
  for (const std::string& name : {url("a", 3, "4"), path("a")}) {
    in_killed_process([&] { make_new(url("a", 5, "4"), 70).release(); });
    make_new(name, 80)->discard();
    EXPECT_EQ(files().size(), 3U);
    EXPECT_EQ(stripe::read_description(path("a"), "a").id, old.id);
  }
}

/// Returns the second name of the old description that a process may have left which was killed while it replaced the
/// file.
std::string leftover_name(const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return text('.', name, ".plait-", host.data(), '-', child, "-0.stripes-old.stripes");
}

TEST_F(NewStriped, AnInterruptedReplacementIsFinishedByTheNextOne) {
  const Description old = make("a", 2, "4", 50);
  fs::copy_file(path("a"), path("copy"));
  // Killed before the new description got its name: the old components still belong to the file.
  fs::create_hard_link(path("a"), path(leftover_name("a")));
  make_new(url("a", 3, "4"), 10)->discard();
  EXPECT_EQ(files().size(), 4U);
  EXPECT_NO_THROW(find(named("a"), false));
  EXPECT_NO_THROW(find(named("copy"), false));
  // Killed after that: the old components are not needed any more.
  const std::string old_text = old.to_text();
  make("a", 3, "4", 60);
  for (const std::string& component : old.components) std::ofstream(component) << "old";
  put(leftover_name("a"), old_text);
  EXPECT_EQ(files().size(), 1U + 4U + 3U);
  make_new(path("a"), 10)->discard();
  EXPECT_EQ(files().size(), 1U + 4U);
  EXPECT_NO_THROW(find(named("a"), false));
}

TEST_F(NewStriped, ReplacingACopyOfTheDescriptionLeavesTheComponents) {
  make("a", 2, "4", 50);
  for (const std::string& name : {path("a.bak"), url("a.bak", 3, "4")}) {
    fs::copy_file(path("a"), path("a.bak"), fs::copy_options::overwrite_existing);
    make_new(name, 10)->commit();
    EXPECT_NO_THROW(find(named("a"), false));
  }
  fs::create_hard_link(path("a"), path("second"));
  make("a", 3, "4", 50);
  EXPECT_NO_THROW(find(named("second"), false));
}

TEST_F(NewStriped, AFileThatWasMovedKeepsItsComponentsAfterAKill) {
  make("a", 2, "4", 50);
  fs::create_hard_link(path("a"), path(leftover_name("a")));
  fs::rename(path("a"), path("b"));
  make("a", 3, "4", 60);
  EXPECT_NO_THROW(find(named("b"), false));
  EXPECT_EQ(files().size(), 3U + 4U);
}

TEST_F(NewStriped, ComponentsOfADamagedDescriptionAreNotRemoved) {
  const Description old = make("a", 2, "4", 50);
  const std::string complete_text = content("a");
  put(leftover_name("a"), complete_text);
  put("a", complete_text.substr(0, complete_text.size() - 1));
  const std::set<std::string> before = files();
  make_new(url("a", 3, "4"), 10)->discard();
  EXPECT_EQ(files(), before);
  put("a", complete_text);
  EXPECT_NO_THROW(find(named("a"), false));
}

TEST_F(NewStriped, NamesOfAnEarlierProcessWithThisNumberDoNotConflict) {
  for (const std::string& name : {path("a"), url("a", 2, "4")}) {
    auto file = make_new(name, 10);
    const std::string temporary = file->location().path;
    file.reset();
    const std::string prefix = temporary.substr(0, temporary.rfind('-') + 1);
    const std::string suffix = stripe::is_name(name) ? ".stripes" : "";
    const int next = std::stoi(temporary.substr(prefix.size())) + 1;
    const auto numbered_name = [&](int counter) { return text(prefix, counter, suffix); };
    std::ofstream(numbered_name(next)) << "old";
    std::ofstream(numbered_name(next + 1)) << "locked";
    const store::posix::Descriptor locked(::open(numbered_name(next + 1).c_str(), O_RDWR));
    ASSERT_EQ(::flock(locked.number(), LOCK_EX | LOCK_NB), 0);
    std::ofstream(numbered_name(next + 9)) << "old";
    auto first = make_new(name, 10);
    auto second = make_new(name, 10);
    EXPECT_FALSE(fs::exists(numbered_name(next + 9)));
    EXPECT_TRUE(fs::exists(numbered_name(next + 1)));
    first->commit();
    second.reset();
    fs::remove(numbered_name(next + 1));
    EXPECT_NO_THROW(find(name, false));
  }
}

TEST_F(NewStriped, OldComponentsAreRemovedAlsoIfTheFolderCannotBeSynced) {
  make("a", 2, "4", 50);
  constexpr uid_t kNobody = 65534;  // a user to whom permissions apply, unlike root
  const bool is_root = ::geteuid() == 0;
  for (const std::string& name : {folder_.string(), disk(0), disk(1), disk(2), path("a")})
    ASSERT_EQ(::chown(name.c_str(), is_root ? kNobody : ::geteuid(), static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0300), 0);
  in_killed_process([&] {
    if (is_root && ::seteuid(kNobody) != 0) ::_exit(1);
    try {
      make_new(url("a", 3, "4"), 10)->commit();
    } catch (const Error& error) {
      if (error.system_code() == EACCES) return;
    }
    ::_exit(1);
  });
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_NO_THROW(find(url("a", 3, "4"), false));
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(NewStriped, DisksAreResolvedAsByTheSystem) {
  fs::create_directories(path("d1/inner"));
  fs::create_directories(path("d1/e"));
  fs::create_directories(path("e"));
  fs::create_symlink("d1/inner", path("link"));
  const std::string name = named("a") + "?disks=" + path("link/../e");
  make_new(name, 10)->commit();
  EXPECT_EQ(fs::path(stripe::read_description(path("a"), "a").components[0]).parent_path(), path("d1/e"));
  EXPECT_NO_THROW(find(name, false));
}

/// Calls `action` before the first broadcast of worker 0.
class InterferingTransport : public wrapped::WrappedTransport {
 public:
  InterferingTransport(Transport& inner, std::function<void()> action)
      : WrappedTransport(inner), action_(std::move(action)) {}
  void broadcast(std::span<std::byte> bytes, int root) override {
    if (rank() == 0 && action_) std::exchange(action_, nullptr)();
    WrappedTransport::broadcast(bytes, root);
  }

 private:
  std::function<void()> action_;
};

TEST_F(NewStriped, MayBeReplacedWhileItIsOpened) {
  make("a", 2, "4", 50);
  std::atomic<int> matching_ranks = 0;  // ranks that have read the zeros of a striped file
  plait::transport::thread::run_team(3, [&](plait::transport::Transport& worker) {
    plait::FileOptions options;
    options.shape = {50};
    options.element_bytes = 1;
    const plait::Comm comm =
        plait::core::comm_over(std::make_shared<InterferingTransport>(worker, [&] { make("a", 3, "8", 50); }));
    plait::File file = plait::File::open(named("a"), plait::Mode::kRead, options, comm);
    Bytes local(50, std::byte{1});
    const plait::MutablePart part{local.data(), {}};
    file.read(plait::Layout::parse("50 (block) onto (3)"), {&part, 1});
    if (local[0] == std::byte{}) ++matching_ranks;
    file.close();
  });
  EXPECT_EQ(matching_ranks, 3);
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(NewStriped, RemovesOnlyFilesWithTheNamesOfComponents) {
  put("precious", "x");
  Description description = make("a", 2, "4", 50);
  description.components[0] = path("precious");
  put("a", description.to_text());
  make_new(path("a"), 1)->commit();
  EXPECT_EQ(content("precious"), "x");
  EXPECT_FALSE(fs::exists(description.components[1]));
}

TEST_F(NewStriped, StoresAnArrayOfAFile) {
  plait::FileOptions options;
  options.shape = {30, 41};
  options.element_bytes = 3;
  const plait::Layout layout = plait::Layout::parse("30x41 (cyclic(4), *) onto (3)");
  std::vector<Bytes> parts;
  std::vector<plait::ConstPart> sources;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    Bytes& part = parts.emplace_back();
    for (std::int64_t i = 0; i < layout.local_elements(rank) * 3; ++i) part.push_back(byte_at(i * 7 + rank));
  }
  for (const Bytes& part : parts) sources.push_back({part.data(), {}});
  plait::File out = plait::File::open(url("a", 3, "100"), plait::Mode::kWrite, options);
  out.write(layout, sources);
  out.close();
  EXPECT_EQ(plait::stripe_count(path("a")), 3);
  const auto opened = find(named("a"), false).store;
  Bytes all(30 * 41 * 3);
  opened->read({{0, all.data(), 30 * 41 * 3}});
  std::array<std::int64_t, 3> next{};
  for (std::int64_t row = 0; row < 30; ++row) {
    const auto rank = oracle::to_size_t(row / 4 % 3);
    for (std::int64_t i = 0; i < 41 * 3; ++i)
      ASSERT_EQ(all[oracle::to_size_t(row * 41 * 3 + i)], parts[rank][oracle::to_size_t(next[rank]++)]);
  }
  {
    plait::File abandoned = plait::File::open(url("b", 3, "100"), plait::Mode::kWrite, options);
  }
  EXPECT_EQ(files().size(), 4U);
}

}  // namespace
