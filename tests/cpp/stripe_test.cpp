// Striped files: stores against bytes in memory, descriptions, and replacement as a whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "oracle.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "store/new_file.hpp"
#include "store/place.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"
#include "store/stripe/striped_store.hpp"

namespace {

namespace fs = std::filesystem;
namespace store = plait::store;
namespace stripe = plait::store::stripe;
using plait::Error;
using plait::ErrorKind;
using plait::base::text;
using store::ReadSegment;
using store::WriteSegment;
using stripe::Description;
using stripe::StripedStore;
using Bytes = std::vector<std::byte>;

/// A folder with some disks in it, of its own for each test.
class Stripes : public testing::Test {
 protected:
  Stripes() {
    std::string name = (fs::temp_directory_path() / "plait-stripe-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = fs::canonical(name);
    for (int i = 0; i < 5; ++i) fs::create_directory(disk(i));
  }
  ~Stripes() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string disk(int i) const { return path(text("d", i)); }
  /// The name of an existing striped file.
  std::string named(const std::string& name) const { return text("stripe:", path(name)); }
  /// `stripe:NAME?disks=...&unit=...`.
  std::string url(const std::string& name, int disks, const std::string& unit) const {
    std::string list;
    for (int i = 0; i < disks; ++i) list += text(i == 0 ? "" : ",", disk(i));
    return text(named(name), "?disks=", list, "&unit=", unit);
  }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  /// All files, in the folder and on the disks.
  std::set<std::string> files() const {
    std::set<std::string> result;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_))
      if (!entry.is_directory()) result.insert(fs::relative(entry.path(), folder_).string());
    return result;
  }
  /// A finished striped file of zeros.
  Description make(const std::string& name, int disks, const std::string& unit, std::int64_t bytes) const {
    store::make_new_file(url(name, disks, unit), bytes)->commit();
    return stripe::read_description(path(name), name);
  }

  fs::path folder_;
};

/// The error of a call.
template <typename Call>
Error failure(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::kSystem, "no error"};
}

#define EXPECT_SAYS(error, part) \
  EXPECT_NE(std::string((error).what()).find(part), std::string::npos) << "the message is: " << (error).what()

using Names = Stripes;

TEST_F(Names, AreTakenApart) {
  EXPECT_TRUE(stripe::is_name("stripe:a"));
  EXPECT_FALSE(stripe::is_name("./stripe:a"));
  const stripe::Name all = stripe::parse_name("stripe:x/a.bin?unit=3m&disks=/p,q r");
  EXPECT_EQ(all.path, "x/a.bin");
  EXPECT_EQ(all.disks, (std::vector<std::string>{"/p", "q r"}));
  EXPECT_EQ(all.unit, 3 << 20);
  for (const char* bare : {"stripe:a", "stripe:a?"}) {
    EXPECT_EQ(stripe::parse_name(bare).path, "a");
    EXPECT_TRUE(stripe::parse_name(bare).disks.empty());
    EXPECT_EQ(stripe::parse_name(bare).unit, 0);
  }
  EXPECT_EQ(stripe::parse_name("stripe:a?unit=7").unit, 7);
  EXPECT_EQ(stripe::parse_name("stripe:a?unit=7G").unit, std::int64_t{7} << 30);
}

TEST_F(Names, SayWhatIsWrongWithThem) {
  for (const auto& [name, says] :
       std::vector<std::pair<std::string, std::string>>{{"stripe:", "no name"},
                                                        {"stripe:?disks=a", "no name"},
                                                        {"stripe:a?unit=0", "not above 0"},
                                                        {"stripe:a?unit=-4", "not above 0"},
                                                        {"stripe:a?unit=", "not a number"},
                                                        {"stripe:a?unit=K", "not a number"},
                                                        {"stripe:a?unit=4T", "not a number"},
                                                        {"stripe:a?unit=4KB", "not a number"},
                                                        {"stripe:a?unit=1.5K", "not a number"},
                                                        {"stripe:a?unit=9223372036854775808", "too large"},
                                                        {"stripe:a?unit=9007199254740992K", "too large"},
                                                        {"stripe:a?unit=4&unit=4", "twice"},
                                                        {"stripe:a?disks=a&disks=b", "twice"},
                                                        {"stripe:a?disks=a,,b", "without a name"},
                                                        {"stripe:a?disks=", "without a name"},
                                                        {"stripe:a?stripes=4", "the option stripes is not known"},
                                                        {"stripe:a?disks=a&", "the option  is not known"}}) {
    const Error error = failure([&name = name] { stripe::parse_name(name); });
    EXPECT_EQ(error.kind(), ErrorKind::kArgument);
    EXPECT_SAYS(error, says);
    EXPECT_SAYS(error, name);
  }
}

TEST_F(Names, TheSettingListsDisks) {
  ::setenv("PLAIT_DISKS", (disk(3) + "::" + disk(1) + ":").c_str(), 1);
  EXPECT_EQ(plait::disks(), (std::vector<std::string>{disk(3), disk(1)}));
  store::make_new_file(named("a"), 100)->commit();
  ::unsetenv("PLAIT_DISKS");
  EXPECT_TRUE(plait::disks().empty());
  EXPECT_EQ(plait::stripe_count(path("a")), 2);
  EXPECT_EQ(plait::stripe_count(named("a")), 2);
  const Description found = stripe::read_description(path("a"), "a");
  EXPECT_EQ(found.unit, 65536);
  EXPECT_EQ(fs::path(found.components[0]).parent_path(), disk(3));
  const Error error = failure([&] { store::make_new_file(named("b"), 100); });
  EXPECT_EQ(error.kind(), ErrorKind::kArgument);
  EXPECT_SAYS(error, "PLAIT_DISKS");
}

using Descriptions = Stripes;

TEST_F(Descriptions, DealTheBytesLikeCards) {
  for (std::int64_t unit = 1; unit < 6; ++unit)
    for (std::size_t disks = 1; disks < 5; ++disks)
      for (std::int64_t bytes = 0; bytes < 40; ++bytes) {
        Description description{unit, bytes, "1", {}};
        std::vector<std::int64_t> expected(disks, 0);
        for (std::int64_t i = 0; i < bytes; ++i) ++expected[oracle::at(i / unit) % disks];
        for (std::size_t i = 0; i < disks; ++i) description.components.push_back(text("/", i));
        for (std::size_t i = 0; i < disks; ++i) ASSERT_EQ(description.component_bytes(i), expected[i]);
        EXPECT_EQ(stripe::parse(description.to_text(), "a"), description);
      }
}

TEST_F(Descriptions, AreOfTheSameLengthForAnySize) {
  Description description{5, 0, "1", {"/a"}};
  const std::size_t length = description.to_text().size();
  description.bytes = INT64_MAX;
  EXPECT_EQ(description.to_text().size(), length);
  EXPECT_EQ(stripe::parse(description.to_text(), "a"), description);
}

TEST_F(Descriptions, DamageIsFound) {
  const std::string good = Description{5, 7, "1f", {"/a", "/b"}}.to_text();
  for (std::size_t length = 14; length < good.size(); ++length)
    EXPECT_SAYS(failure([&] { stripe::parse(good.substr(0, length), "stripe:a"); }), "damaged") << length;
  const auto with = [&good](const std::string& old, const std::string& fresh) {
    std::string bad = good;
    bad.replace(bad.find(old), old.size(), fresh);
    return bad;
  };
  for (const std::string& bad :
       {with("stripes 1", "stripes x"), with("unit 5", "unit 0"), with("unit 5", "unit -5"), with("unit 5", "unit 5x"),
        with("unit", "units"), with("bytes  ", "bytes -"), with("id 1f", "id "), with("/a", ""), with("end", "End"),
        with("component /a\ncomponent /b\n", ""), good + "more\n", with("unit 5", "unit 99999999999999999999")}) {
    const Error error = failure([&] { stripe::parse(bad, "stripe:a"); });
    EXPECT_EQ(error.kind(), ErrorKind::kSystem);
    EXPECT_SAYS(error, "cannot open stripe:a: its description is damaged");
  }
  const Error newer = failure([&] { stripe::parse(with("stripes 1", "stripes 2"), "stripe:a"); });
  EXPECT_SAYS(newer, "version 2");
  EXPECT_SAYS(newer, "newer Plait");
  EXPECT_SAYS(failure([] { stripe::parse("something else", "stripe:a"); }), "not the description of a striped file");
}

TEST_F(Descriptions, MayNameComponentsFromTheirOwnFolder) {
  Description description = make("a", 2, "3", 20);
  for (std::string& component : description.components) component = fs::relative(component, folder_).string();
  put("a", description.to_text());
  EXPECT_EQ(store::open_place(store::find_place(named("a"), false), false)->size(), 20);
}

using Striped = Stripes;

/// Bytes that tell where they are.
std::byte byte_at(std::int64_t place) { return static_cast<std::byte>((place * 31 + place / 251) % 256); }

TEST_F(Striped, ReadsAndWritesWhatBytesInMemoryWould) {
  std::mt19937 random(7);
  const auto below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  for (int round = 0; round < 60 / oracle::kThinning + 5; ++round) {
    const int disks = static_cast<int>(1 + below(5));
    const std::int64_t unit = 1 + below(round % 3 == 0 ? 5 : round % 3 == 1 ? 100 : 5000);
    const std::int64_t bytes = below(20'000);
    const Description description = make("a", disks, std::to_string(unit), bytes);
    StripedStore striped(description, StripedStore::Access::kReadWrite, "a");
    ASSERT_EQ(striped.size(), bytes);
    Bytes whole(oracle::at(bytes));
    for (int batch = 0; batch < 6; ++batch) {
      // Writes that do not overlap, in any order; reads of anything.
      std::vector<std::int64_t> edges;
      for (std::int64_t i = below(12); i >= 0; --i) edges.push_back(below(bytes + 1));
      std::sort(edges.begin(), edges.end());
      Bytes fresh(whole.size());
      for (std::byte& value : fresh) value = static_cast<std::byte>(random());
      std::vector<WriteSegment> writes;
      for (std::size_t i = 0; i + 1 < edges.size(); ++i)
        if (below(3) > 0) writes.push_back({edges[i], fresh.data() + edges[i], edges[i + 1] - edges[i]});
      if (batch % 2 == 0) std::shuffle(writes.begin(), writes.end(), random);
      for (const WriteSegment& write : writes) std::copy_n(write.data, write.bytes, whole.begin() + write.offset);
      striped.write(writes);
      std::vector<Bytes> room;
      std::vector<ReadSegment> reads;
      for (std::int64_t i = below(12); i >= 0; --i) {
        const std::int64_t offset = below(bytes + 1);
        room.emplace_back(oracle::at(below(bytes - offset + 1)));
        reads.push_back({offset, nullptr, static_cast<std::int64_t>(room.back().size())});
      }
      for (std::size_t i = 0; i < reads.size(); ++i) reads[i].data = room[i].data();
      striped.read(reads);
      for (std::size_t i = 0; i < reads.size(); ++i)
        ASSERT_TRUE(std::equal(room[i].begin(), room[i].end(), whole.begin() + reads[i].offset));
    }
    // The components hold what the format says.
    std::vector<std::string> expected(oracle::at(disks));
    for (std::int64_t i = 0; i < bytes; ++i)
      expected[oracle::at(i / unit % disks)] += static_cast<char>(whole[oracle::at(i)]);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(content(fs::relative(description.components[i], folder_).string()), expected[i]);
    striped.sync();
  }
}

TEST_F(Striped, MovesASegmentOfManyStripesInRounds) {
  // More pieces than one call takes, and more bytes than one round.
  for (const auto& [unit, bytes] :
       std::vector<std::pair<std::string, std::int64_t>>{{"7", 200'003}, {"64K", 30'000'001}}) {
    Bytes whole(oracle::at(bytes));
    for (std::int64_t i = 0; i < bytes; ++i) whole[oracle::at(i)] = byte_at(i);
    StripedStore striped(make("a", 3, unit, bytes), StripedStore::Access::kReadWrite, "a");
    striped.write({{0, whole.data(), bytes}});
    Bytes found(whole.size());
    striped.read({{0, found.data(), bytes}});
    EXPECT_TRUE(found == whole);
    std::fill(found.begin(), found.end(), std::byte{0});
    striped.read({{5, found.data() + 5, bytes - 9}});
    EXPECT_TRUE(std::equal(found.begin() + 5, found.end() - 4, whole.begin() + 5));
  }
}

TEST_F(Striped, ReachesBytesPast32Bits) {
  const std::int64_t bytes = (std::int64_t{5} << 31) + 17;
  for (const std::int64_t unit : {std::int64_t{1'000'003}, std::int64_t{65536}, std::int64_t{3} << 30}) {
    Description description{unit, bytes, "0", {}};
    for (int i = 0; i < 3; ++i) description.components.push_back(text(disk(i), "/far"));
    for (std::size_t i = 0; i < 3; ++i) {  // with holes
      std::ofstream(description.components[i]).close();
      fs::resize_file(description.components[i], static_cast<std::uintmax_t>(description.component_bytes(i)));
    }
    put("far", description.to_text());
    const store::Place place = store::find_place(named("far"), true);
    const auto striped = store::open_place(place, true);
    EXPECT_EQ(striped->size(), bytes);
    std::mt19937_64 random(3);
    std::vector<std::int64_t> places{0, (std::int64_t{1} << 31) - 3, (std::int64_t{1} << 32) - 2, bytes - 1000};
    for (int i = 0; i < 20; ++i) places.push_back(static_cast<std::int64_t>(random() >> 1) % (bytes - 1000));
    Bytes part(1000);
    for (const std::int64_t from : places) {
      for (std::int64_t i = 0; i < 1000; ++i) part[oracle::at(i)] = byte_at(from + i);
      striped->write({{from, part.data(), 1000}});
    }
    for (const std::int64_t from : places) {
      striped->read({{from, part.data(), 1000}});
      for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(part[oracle::at(i)], byte_at(from + i));
      // One byte, by the definition.
      const std::int64_t k = from / unit;
      std::ifstream in(description.components[oracle::at(k % 3)], std::ios::binary);
      in.seekg(k / 3 * unit + from % unit);
      ASSERT_EQ(static_cast<std::byte>(in.get()), byte_at(from));
    }
  }
}

TEST_F(Striped, WhatLiesOutsideIsRefusedAndChangesNothing) {
  StripedStore striped(make("a", 2, "4", 10), StripedStore::Access::kReadWrite, "stripe:a");
  Bytes word(12, std::byte{'x'});
  for (const auto& [offset, bytes] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 11}, {10, 1}, {-1, 1}, {INT64_MAX, 1}, {4, INT64_MAX}}) {
    const Error error = failure([&] { striped.write({{0, word.data(), 1}, {offset, word.data(), bytes}}); });
    EXPECT_SAYS(error, "stripe:a: the file has 10 bytes");
    failure([&] { striped.read({{offset, word.data(), bytes}}); });
  }
  EXPECT_NO_THROW(striped.read({{10, word.data(), 0}}));
  Bytes found(10, std::byte{'y'});
  striped.read({{0, found.data(), 10}});
  EXPECT_TRUE(found == Bytes(10));
}

TEST_F(Striped, AFailureNamesTheComponent) {
  const Description description = make("a", 3, "4", 100);
  StripedStore striped(description, StripedStore::Access::kRead, "stripe:a");
  fs::resize_file(description.components[1], 5);
  Bytes found(100);
  const Error cut = failure([&] { striped.read({{0, found.data(), 100}}); });
  EXPECT_SAYS(cut, description.components[1] + " at offset 5");
  EXPECT_SAYS(cut, "truncated");
  EXPECT_NO_THROW(striped.read({{8, found.data(), 4}}));
  const Error write = failure([&] { striped.write({{4, found.data(), 1}}); });
  EXPECT_SAYS(write, text("cannot write ", description.components[1], " at offset 0"));
  EXPECT_EQ(write.system_code(), EBADF);
}

TEST_F(Striped, ManyThreadsShareAStore) {
  constexpr std::int64_t kEach = 30'001;
  StripedStore striped(make("a", 3, "17", 4 * kEach), StripedStore::Access::kReadWrite, "a");
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&striped, t] {
      Bytes own(kEach, static_cast<std::byte>(t + 1));
      striped.write({{t * kEach, own.data(), kEach}});
      Bytes found(kEach);
      striped.read({{t * kEach, found.data(), kEach}});
      EXPECT_TRUE(found == own);
    });
  for (std::thread& thread : threads) thread.join();
}

using Finding = Stripes;

TEST_F(Finding, NamesTheComponentThatIsMissingOrShort) {
  const Description description = make("a", 3, "4", 100);
  const std::string name = named("a");
  const auto found = [&] { return failure([&] { store::find_place(name, false); }); };
  fs::resize_file(description.components[2], 31);
  EXPECT_SAYS(found(), text("component file 3 of 3, ", description.components[2], " has 31 bytes, but should have 32"));
  fs::resize_file(description.components[2], 33);
  EXPECT_SAYS(found(), "has 33 bytes, but should have 32");
  fs::resize_file(description.components[2], 32);
  fs::remove(description.components[1]);
  EXPECT_SAYS(found(), text("component file 2 of 3, ", description.components[1], ": No such file or directory"));
  EXPECT_EQ(found().system_code(), ENOENT);
  fs::create_directory(description.components[1]);
  EXPECT_SAYS(found(), "not a regular file");
  put("plain", "text");
  EXPECT_SAYS(failure([&] { store::find_place(named("plain"), false); }), "without stripe:");
  EXPECT_EQ(failure([&] { store::find_place(named("none"), false); }).system_code(), ENOENT);
  EXPECT_EQ(plait::stripe_count(path("plain")), 1);
  EXPECT_EQ(failure([&] { plait::stripe_count(path("none")); }).system_code(), ENOENT);
  EXPECT_SAYS(failure([&] { plait::stripe_count(named("plain")); }), "without stripe:");
}

TEST_F(Finding, ComparesWhatTheNameSays) {
  make("a", 2, "4K", 100);
  EXPECT_NO_THROW(store::find_place(url("a", 2, "4096"), false));
  fs::create_symlink("d1", path("link"));
  EXPECT_NO_THROW(store::find_place(named("a") + "?disks=" + path("d0/") + "," + path("link"), false));
  const Error unit = failure([&] { store::find_place(url("a", 2, "4"), false); });
  EXPECT_EQ(unit.kind(), ErrorKind::kArgument);
  EXPECT_SAYS(unit, "stripes of 4096 bytes, but unit=4");
  EXPECT_SAYS(failure([&] { store::find_place(url("a", 3, "4K"), false); }), "disks=");
}

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
