// Names of arrays on the ranks' own disks, and such files in one process, also by several threads.
#include "driver/distant/distant_name.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "driver/driver_registry.hpp"
#include "folder.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"

namespace {

namespace fs = std::filesystem;
using plait::driver::distant::Name;
using plait::driver::distant::parse_name;
using plait::driver::distant::resolve_path;

using DistantArrays = plait_test::FolderTest;

TEST(DistantNames, AreParsed) {
  const Name all = parse_name("distant:x/a?striped=true&unit=3m&folder=/d%3F e");
  EXPECT_EQ(all.path, "x/a");
  EXPECT_EQ(all.folder, "/d? e");
  EXPECT_EQ(all.unit, 3 << 20);
  EXPECT_EQ(all.striped, true);
  EXPECT_EQ(resolve_path(all), "/d? e/x/a");
  const Name bare = parse_name("distant:%61");
  EXPECT_EQ(bare.path, "a");
  EXPECT_EQ(bare.unit, 0);
  EXPECT_EQ(bare.striped, std::nullopt);
  EXPECT_EQ(resolve_path(bare), (fs::current_path() / "a").string());
  EXPECT_EQ(parse_name("distant:a?striped=false").striped, false);
  EXPECT_EQ(resolve_path(parse_name("distant:/b/../a")), "/a");
}

TEST(DistantNames, UseTheFolderOfTheEnvironmentByDefault) {
  ::setenv("PLAIT_DISTANT_FOLDER", "/setting", 1);
  EXPECT_EQ(resolve_path(parse_name("distant:a")), "/setting/a");
  EXPECT_EQ(resolve_path(parse_name("distant:/whole/a")), "/whole/a");
  EXPECT_EQ(resolve_path(parse_name("distant:a?folder=/given")), "/given/a");
  ::unsetenv("PLAIT_DISTANT_FOLDER");
}

TEST(DistantNames, ErrorsStateWhatIsWrong) {
  for (const auto& [name, expected_text] : std::vector<std::pair<std::string, std::string>>{
           {"distant:", "no name after distant:"},
           {"distant:?unit=4K", "no name after distant:"},
           {"distant:a?wide=1", "the option \"wide\" is not known"},
           {"distant:a?unit=0", "unit=0 is not above 0"},
           {"distant:a?unit=1&unit=2", "unit= is given twice"},
           {"distant:a?striped=here", "striped=here was given"},
           {"distant:a?folder=", "folder= is empty"},
           {"distant:/a?folder=/b", "is an absolute path; leave out folder="},
           {"distant:a%4", "write %25"},
       }) {
    try {
      parse_name(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const plait::Error& error) {
      EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
      EXPECT_NE(std::string(error.what()).find(expected_text), std::string::npos) << error.what();
    }
  }
}

TEST(DistantNames, LeadToTheirDriver) {
  EXPECT_EQ(plait::driver::find_driver("distant:a").prefix(), "distant:");
  EXPECT_EQ(plait::driver::without_prefix("distant:a?x"), "a?x");
  EXPECT_EQ(plait::driver::find_driver("./distant:a").prefix(), "");
  EXPECT_EQ(plait::driver::find_driver("a").prefix(), "");
}

/// Several raw arrays one after the other; the file becomes longer with each array that is written.
TEST_F(DistantArrays, MayBeSeveralInOneFile) {
  const std::string url = "distant:a?striped=true&unit=1000&folder=" + path("");
  plait::FileOptions options;
  options.shape = {100};
  options.element_bytes = 8;
  options.several = true;
  std::vector<double> values(500);
  std::iota(values.begin(), values.end(), 1.0);
  const plait::ConstPart written_part{reinterpret_cast<const std::byte*>(values.data()), {}};
  auto file = plait::File::open(url, plait::Mode::kWrite, options);
  file.write(plait::Layout::parse("100 (*)"), {&written_part, 1});
  file.select({{500}, "", 8, plait::Order::kC}, 800);
  file.write(plait::Layout::parse("500 (*)"), {&written_part, 1});
  file.close();
  file = plait::File::open(url, plait::Mode::kRead, options);
  EXPECT_EQ(file.type().shape, plait::Extents{100});
  file.select({{600}, "", 8, plait::Order::kC}, 0);
  std::vector<double> actual(600);
  const plait::MutablePart read_part{reinterpret_cast<std::byte*>(actual.data()), {}};
  file.read(plait::Layout::parse("600 (*)"), {&read_part, 1});
  // The first array is 1, 2, ..., 100, the second one 1, 2, ..., 500.
  for (int i = 0; i < 600; ++i) ASSERT_EQ(actual[static_cast<std::size_t>(i)], i < 100 ? i + 1 : i - 99);
}

/// Elements with a known size but without a dtype, which become opaque bytes.
TEST_F(DistantArrays, NeedNoDtype) {
  const std::string url = "distant:a?folder=" + path("");
  plait::FileOptions options;
  options.shape = {3, 4};
  options.element_bytes = 5;
  std::vector<std::byte> values(60, std::byte{7});
  const plait::ConstPart written_part{values.data(), {}};
  auto file = plait::File::open(url, plait::Mode::kWrite, options);
  file.write(plait::Layout::parse("3x4 (*, *)"), {&written_part, 1});
  file.close();
  file = plait::File::open(url, plait::Mode::kRead);
  EXPECT_EQ(file.type().dtype, "|V5");
  EXPECT_EQ(file.type().element_bytes, 5);
  EXPECT_EQ(file.type().shape, (plait::Extents{3, 4}));
  options.element_bytes = 4;
  EXPECT_THROW(plait::File::open(url, plait::Mode::kRead, options), plait::Error);
}

/// A single process may open several arrays at once, each in a different thread.
TEST_F(DistantArrays, AreOpenedByAnyThreadOfAProcess) {
  const auto work = [&](int number) {
    const std::string url = plait::base::text("distant:a", number, "?striped=true&unit=100&folder=", path(""));
    const plait::Layout layout = plait::Layout::parse("70 (*)");
    plait::FileOptions options;
    options.shape = {70};
    options.dtype = "<f8";
    for (int round = 0; round < 20; ++round) {
      std::vector<double> values(70, number + round / 100.0);
      const plait::ConstPart written_part{reinterpret_cast<const std::byte*>(values.data()), {}};
      auto file = plait::File::open(url, plait::Mode::kWrite, options);
      file.write(layout, {&written_part, 1});
      file.close();
      std::vector<double> actual(70);
      const plait::MutablePart read_part{reinterpret_cast<std::byte*>(actual.data()), {}};
      plait::File::open(url, plait::Mode::kRead).read(layout, {&read_part, 1});
      ASSERT_EQ(actual, values);
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
