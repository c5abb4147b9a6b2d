// Raw files that contain several arrays, one after the other.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "folder.hpp"
#include "oracle.hpp"
#include "plait/disks.hpp"
#include "plait/file.hpp"

namespace {

namespace fs = std::filesystem;
using oracle::expect_rejected;
using plait::ArrayType;
using plait::ConstPart;
using plait::Extents;
using plait::File;
using plait::FileOptions;
using plait::Layout;
using plait::Mode;
using plait::MutablePart;
using plait::Order;

class SeveralArrays : public plait_test::FolderTest {
 protected:
  SeveralArrays() {
    for (const char* disk : {"d1", "d2"}) fs::create_directory(folder_ / disk);
  }
  /// Returns the URL of a new striped file on two disks.
  std::string striped_url(const std::string& name) const {
    return "stripe:" + path(name) + "?disks=" + path("d1") + "," + path("d2") + "&unit=100";
  }

  static FileOptions several_options() {
    FileOptions options;
    options.several = true;
    options.shape = Extents{0};
    options.element_bytes = 1;
    return options;
  }
};

/// Returns `count` numbers from `first` on.
std::vector<int> make_numbers(std::size_t count, int first) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

template <typename Value>
void write(File& file, const Layout& layout, const std::vector<Value>& values) {
  const ConstPart part{reinterpret_cast<const std::byte*>(values.data()), {}};
  file.write(layout, {&part, 1});
}

template <typename Value>
std::vector<Value> read(File& file, const Layout& layout) {
  std::vector<Value> values(static_cast<std::size_t>(layout.elements()));
  const MutablePart part{reinterpret_cast<std::byte*>(values.data()), {}};
  file.read(layout, {&part, 1});
  return values;
}

TEST_F(SeveralArrays, AreStoredOneAfterTheOther) {
  const Layout matrix = Layout::parse("30x20 (*, *)");
  const Layout vector = Layout::parse("77 (*)");
  const std::vector<int> first = make_numbers(600, 0);
  const std::vector<double> second(77, 2.5);
  for (const std::string& name : {path("plain"), striped_url("stripes")}) {
    File file = File::open(name, Mode::kWrite, several_options());
    file.select({{30, 20}, {}, 4, Order::kC}, 0);
    write(file, matrix, first);
    file.select({{77}, {}, 8, Order::kC}, 2400, 64);
    write(file, vector, second);
    EXPECT_EQ(file.type().shape, (Extents{77}));
    // The array that was written first can be read before the file is closed.
    file.select({{30, 20}, {}, 4, Order::kFortran}, 0);
    const std::vector<int> transposed = read<int>(file, matrix);
    for (std::size_t i = 0; i < 30; ++i)
      for (std::size_t j = 0; j < 20; ++j) ASSERT_EQ(transposed[i * 20 + j], static_cast<int>(i + 30 * j));
    file.close();
  }
  for (const std::string& name : {path("plain"), "stripe:" + path("stripes")}) {
    File file = File::open(name, Mode::kReadWrite, several_options());
    for (int round = 0; round < 2; ++round) {
      file.select({{77}, {}, 8, Order::kC}, 2400);
      EXPECT_EQ(read<double>(file, vector), second);
      file.select({{30, 20}, {}, 4, Order::kC}, 0);
      EXPECT_EQ(read<int>(file, matrix), first);
    }
    file.select({{78}, {}, 8, Order::kC}, 2400);
    EXPECT_THROW(read<double>(file, Layout::parse("78 (*)")), plait::Error);
    file.close();
  }
  EXPECT_EQ(fs::file_size(path("plain")), 2400U + 77 * 8);
  EXPECT_EQ(plait::stripe_count(path("stripes")), 2);
}

TEST_F(SeveralArrays, PlainFilesGrowInPlaceAndStripedFilesDoNot) {
  const Layout vector = Layout::parse("50 (*)");
  for (const std::string& name : {path("plain"), striped_url("stripes")}) {
    File file = File::open(name, Mode::kWrite, several_options());
    file.select({{50}, {}, 4, Order::kC}, 0);
    write(file, vector, make_numbers(50, 1));
    file.close();
  }
  File plain = File::open(path("plain"), Mode::kReadWrite, several_options());
  plain.select({{50}, {}, 4, Order::kC}, 200);
  write(plain, vector, make_numbers(50, 51));
  plain.close();
  EXPECT_EQ(fs::file_size(path("plain")), 400U);
  File stripes = File::open("stripe:" + path("stripes"), Mode::kReadWrite, several_options());
  stripes.select({{50}, {}, 4, Order::kC}, 200);
  EXPECT_THROW(write(stripes, vector, make_numbers(50, 51)), plait::Error);
}

TEST_F(SeveralArrays, InvalidSelectionsAreErrors) {
  expect_rejected([&] { File::open(path("a.npy"), Mode::kWrite, several_options()); }, "holds one array");
  File file = File::open(path("a"), Mode::kWrite, several_options());
  expect_rejected([&] { file.select({{4}, {}, 0, Order::kC}, 0); }, "elements of 0 bytes");
  expect_rejected([&] { file.select({{4}, {}, 4, Order::kC}, -1); }, "offset -1");
  expect_rejected([&] { file.select({{4}, {}, 4, Order::kC}, 0, -5); }, "memory=-5");
  expect_rejected([&] { file.select({{4, -1}, {}, 4, Order::kC}, 0); }, "negative size");
  expect_rejected([&] { file.select({{INT64_MAX}, {}, 1, Order::kC}, 1); }, "bytes of the file");
  file.close();
  expect_rejected([&] { file.select({{4}, {}, 4, Order::kC}, 0); }, "is closed");
  FileOptions single_options;
  single_options.shape = Extents{4};
  single_options.element_bytes = 4;
  File single = File::open(path("b"), Mode::kWrite, single_options);
  expect_rejected([&] { single.select({{4}, {}, 4, Order::kC}, 0); }, "the file was not opened for several");
  // Without `several`, a longer file is an error.
  std::ofstream(path("c")) << "0123456789";
  single_options.element_bytes = 1;
  expect_rejected([&] { File::open(path("c"), Mode::kRead, single_options); }, "has 10 bytes");
}

}  // namespace
