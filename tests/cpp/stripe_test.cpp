// New striped files: they appear whole or not at all, and leave nothing behind.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "plait/disks.hpp"
#include "plait/file.hpp"
#include "store/place.hpp"
#include "stripe_case.hpp"

namespace {

using namespace stripe_case;

using NewStriped = Stripes;

TEST_F(NewStriped, AppearsWholeWhenCommitted) {
  auto file = store::make_new_file(url("a", 2, "4"), 10);
  const store::Place place = file->place();
  const std::string digits = "0123456789";
  store::open_place(place, true)->write({{0, reinterpret_cast<const std::byte*>(digits.data()), 10}});
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

TEST_F(NewStriped, DiscardedNothingStays) {
  store::make_new_file(url("a", 3, "4"), 10)->discard();
  {
    const auto file = store::make_new_file(url("a", 3, "4"), 10);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(NewStriped, ReplacesWhateverWasThere) {
  put("a", "ordinary");
  make("a", 3, "4", 50);
  EXPECT_EQ(files().size(), 4U);
  const Description second = make("a", 2, "8", 60);
  EXPECT_EQ(files().size(), 3U);
  EXPECT_EQ(stripe::read_description(path("a"), "a").id, second.id);
  auto ordinary = store::make_new_file(path("a"), 5);
  ordinary->commit();
  EXPECT_EQ(files(), std::set<std::string>{"a"});
  EXPECT_EQ(content("a"), std::string(5, '\0'));
}

TEST_F(NewStriped, TwoAtOnceDoNotMeet) {
  make("a", 2, "4", 50);
  const auto one = store::make_new_file(url("a", 2, "4"), 11);
  const auto two = store::make_new_file(url("a", 2, "4"), 12);
  one->commit();
  EXPECT_EQ(store::open_place(store::find_place(named("a"), false), false)->size(), 11);
  two->commit();
  EXPECT_EQ(store::open_place(store::find_place(named("a"), false), false)->size(), 12);
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(NewStriped, GrowsAndShrinksLikeAnOrdinaryOne) {
  for (const std::string& name : {url("a", 3, "7"), path("b")}) {
    const auto file = store::make_new_file(name, 0);
    std::string expected;
    for (const std::int64_t bytes : {10, 100, 90, 95, 0, 64, 1000}) {
      file->resize(bytes);
      const auto begin = static_cast<std::int64_t>(expected.size());
      expected.resize(oracle::at(bytes));
      for (std::int64_t i = begin; i < bytes; ++i) expected[oracle::at(i)] = static_cast<char>(byte_at(i));
      // Opened by its name, as another process would.
      const auto opened = store::open_place(store::find_place(file->place().url(), true), true);
      ASSERT_EQ(opened->size(), bytes);
      if (bytes > begin)
        opened->write({{begin, reinterpret_cast<const std::byte*>(expected.data()) + begin, bytes - begin}});
      std::string found(oracle::at(bytes), 'x');
      opened->read({{0, reinterpret_cast<std::byte*>(found.data()), bytes}});
      ASSERT_EQ(found, expected);
    }
    file->resize(1002);
    file->commit();
    EXPECT_EQ(store::find_place(name, false).description.empty(), name == path("b"));
    Bytes tail(2, std::byte{'x'});
    store::open_place(store::find_place(name, false), false)->read({{1000, tail.data(), 2}});
    EXPECT_TRUE(tail == Bytes(2));
  }
}

TEST_F(NewStriped, KeepsPermissionsAndLinks) {
  put("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink("a", path("link"));
  const Description made = make("link", 2, "4", 10);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  for (const std::string& file : {path("a"), made.components[0], made.components[1]}) {
    struct stat status{};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
  }
}

TEST_F(NewStriped, FailuresLeaveNothingBehind) {
  const std::set<std::string> before = files();
  const auto fails = [&](const std::string& name, std::int64_t bytes) {
    const Error error = failure([&] { store::make_new_file(name, bytes); });
    EXPECT_EQ(files(), before);
    return error;
  };
  const Error missing = fails(named("a") + "?disks=" + disk(0) + "," + path("none"), 9);
  EXPECT_SAYS(missing, text("to the disk ", path("none")));
  EXPECT_EQ(missing.system_code(), ENOENT);
  const Error closed = fails(named("a") + "?disks=" + disk(0) + ",/proc", 9);
  EXPECT_SAYS(closed, "the component file /proc/a.stripe1-");
  const Error full = fails(url("a", 2, "4"), std::int64_t{1} << 60);
  EXPECT_TRUE(full.system_code() == ENOSPC || full.system_code() == EFBIG) << full.what();
  EXPECT_SAYS(full, disk(0) + "/a.stripe0-");
  EXPECT_SAYS(fails(named("no/a") + "?disks=" + disk(0), 9), "does not exist");
  EXPECT_SAYS(fails(text("stripe:", folder_.string(), "?disks=", disk(0)), 9), "directory");
  EXPECT_EQ(fails(named("a.npy") + "?disks=" + disk(0), 9).kind(), ErrorKind::kArgument);
  put("d0/file", "x");
  fs::rename(path("d0/file"), path("file"));
  EXPECT_EQ(failure([&] { store::make_new_file(named("a") + "?disks=" + path("file"), 9); }).system_code(), ENOTDIR);
  EXPECT_EQ(files(), std::set<std::string>{"file"});
}

TEST_F(NewStriped, OneDiskMayStandTwice) {
  const std::string name = named("a") + "?unit=3&disks=" + disk(0) + "," + disk(0);
  store::make_new_file(name, 10)->commit();
  EXPECT_EQ(store::open_place(store::find_place(name, true), true)->size(), 10);
  EXPECT_EQ(files().size(), 3U);
}

/// Runs a body in a process that ends without clearing up.
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

TEST_F(NewStriped, ClearsAwayWhatAKilledProcessLeft) {
  const Description old = make("a", 2, "4", 50);
  in_killed_process([&] { store::make_new_file(url("a", 5, "4"), 70).release(); });
  EXPECT_EQ(files().size(), 3U + 6U);
  EXPECT_EQ(store::open_place(store::find_place(named("a"), false), false)->size(), 50);
  for (const std::string& name : {url("a", 3, "4"), path("a")}) {
    in_killed_process([&] { store::make_new_file(url("a", 5, "4"), 70).release(); });
    store::make_new_file(name, 80)->discard();
    EXPECT_EQ(files().size(), 3U);
    EXPECT_EQ(stripe::read_description(path("a"), "a").id, old.id);
  }
}

/// The name that a process which has ended would have left.
std::string left_behind(const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return text('.', name, ".plait-", host.data(), '-', child, "-0.stripes-old.stripes");
}

TEST_F(NewStriped, AReplacementThatWasCutShortIsFinishedByTheNextOne) {
  const Description old = make("a", 2, "4", 50);
  fs::copy_file(path("a"), path("copy"));
  // Killed before the new description had its name: the old components are still those of the file.
  fs::create_hard_link(path("a"), path(left_behind("a")));
  store::make_new_file(url("a", 3, "4"), 10)->discard();
  EXPECT_EQ(files().size(), 4U);
  EXPECT_NO_THROW(store::find_place(named("a"), false));
  // Killed behind it: nobody needs them any more.
  const std::string kept = old.to_text();
  make("a", 3, "4", 60);
  for (const std::string& component : old.components) std::ofstream(component) << "old";
  put(left_behind("a"), kept);
  EXPECT_EQ(files().size(), 1U + 4U + 3U);
  store::make_new_file(path("a"), 10)->discard();
  EXPECT_EQ(files().size(), 1U + 4U);
  EXPECT_NO_THROW(store::find_place(named("a"), false));
}

TEST_F(NewStriped, RemovesOnlyFilesWithTheNamesOfComponents) {
  put("precious", "x");
  Description description = make("a", 2, "4", 50);
  description.components[0] = path("precious");
  put("a", description.to_text());
  store::make_new_file(path("a"), 1)->commit();
  EXPECT_EQ(content("precious"), "x");
  EXPECT_FALSE(fs::exists(description.components[1]));
}

TEST_F(NewStriped, HoldsAnArrayForTheProgram) {
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
  const auto opened = store::open_place(store::find_place(named("a"), false), false);
  Bytes all(30 * 41 * 3);
  opened->read({{0, all.data(), 30 * 41 * 3}});
  std::array<std::int64_t, 3> next{};
  for (std::int64_t row = 0; row < 30; ++row) {
    const auto rank = oracle::at(row / 4 % 3);
    for (std::int64_t i = 0; i < 41 * 3; ++i)
      ASSERT_EQ(all[oracle::at(row * 41 * 3 + i)], parts[rank][oracle::at(next[rank]++)]);
  }
  {
    plait::File given_up = plait::File::open(url("b", 3, "100"), plait::Mode::kWrite, options);
  }
  EXPECT_EQ(files().size(), 4U);
}

}  // namespace
