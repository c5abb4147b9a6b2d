// Files in one process, through the public header: accesses by several threads, requests and errors.
#include "plait/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "access_case.hpp"
#include "folder.hpp"

namespace {

namespace fs = std::filesystem;
using access_case::Bytes;
using access_case::Case;
using access_case::const_parts;
using access_case::mutable_parts;
using oracle::expect_rejected;
using plait::Distribution;
using plait::Error;
using plait::ErrorKind;
using plait::Extents;
using plait::File;
using plait::FileOptions;
using plait::Layout;
using plait::Mode;
using plait::Order;
using plait::Request;

class FileInFolder : public plait_test::FolderTest {
 protected:
  Bytes content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Bytes result(text.size());
    std::transform(text.begin(), text.end(), result.begin(), [](char c) { return static_cast<std::byte>(c); });
    return result;
  }
  void put(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  /// Returns the number of files in the folder.
  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
};
using Files = FileInFolder;

/// Returns the options of a file without a header.
FileOptions raw_options(const Extents& shape, std::int64_t element_bytes) {
  FileOptions options;
  options.shape = shape;
  options.element_bytes = element_bytes;
  return options;
}

std::vector<Bytes> zeros_like(const std::vector<Bytes>& arrays) {
  std::vector<Bytes> result;
  for (const Bytes& array : arrays) result.emplace_back(array.size());
  return result;
}

TEST_F(Files, LargeArraysAreAccessedBySeveralThreads) {
  const Extents shape{500, 700};
  const Layout layout(shape, {Distribution::cyclic(), Distribution::cyclic(3)}, {2, 3});
  for (const std::string strategy : {"direct", "two-phase"})
    for (const Order order : {Order::kC, Order::kFortran}) {
      const Case access{shape, order, {}, layout, 8, 0};
      const Bytes whole = access_case::pattern(access_case::store_bytes(access));
      const std::vector<Bytes> locals = access_case::make_locals(access, whole);
      FileOptions options = raw_options(shape, 8);
      options.strategy = strategy;
      options.order = order;
      options.memory = 1 << 20;  // shared by the threads
      fs::remove(path("a"));
      File out = File::open(path("a"), Mode::kWrite, options);
      out.write(layout, const_parts(locals));
      EXPECT_FALSE(fs::exists(path("a")));
      out.close();
      ASSERT_TRUE(content("a") == whole) << strategy;
      File in = File::open(path("a"), Mode::kRead, options);
      std::vector<Bytes> read = zeros_like(locals);
      in.read(layout, mutable_parts(read));
      ASSERT_TRUE(read == locals) << strategy;
      const plait::AccessTimes times = in.last_times();
      EXPECT_GT(times.total, 0);
      EXPECT_GE(times.total * 1.01, times.io);
    }
}

TEST_F(Files, StartedAccessesRunInOrder) {
  const Extents shape{64, 32};
  const Layout layout(shape, {Distribution::blocked(), {}}, {4});
  const Case access{shape, Order::kC, {}, layout, 8, 0};
  const Bytes whole = access_case::pattern(access_case::store_bytes(access));
  const std::vector<Bytes> locals = access_case::make_locals(access, whole);
  put("a", Bytes(whole.size()));
  File file = File::open(path("a"), Mode::kReadWrite, raw_options(shape, 8));
  std::vector<Bytes> before = locals;
  std::vector<Bytes> after = zeros_like(locals);
  Request first = file.start_read(layout, mutable_parts(before));
  Request write = file.start_write(layout, const_parts(locals));
  Request second = file.start_read(layout, mutable_parts(after));
  File moved = std::move(file);
  second.wait();
  EXPECT_TRUE(first.test());
  EXPECT_TRUE(write.test());
  first.wait();
  write.wait();
  write.wait();
  EXPECT_TRUE(before == zeros_like(locals));
  EXPECT_TRUE(after == locals);
  // A blocking call waits for the accesses that were started before.
  const std::vector<Bytes> zeros = zeros_like(locals);
  std::vector<Bytes> read = locals;
  Request last = moved.start_write(layout, const_parts(zeros));
  moved.read(layout, mutable_parts(read));
  EXPECT_TRUE(last.test());
  EXPECT_TRUE(read == zeros);
  moved.close();
}

TEST_F(Files, AFailedRequestThrowsAtEachWait) {
  const Layout layout({8}, {Distribution::blocked()}, {2});
  put("a", Bytes(64));
  File file = File::open(path("a"), Mode::kRead, raw_options({8}, 8));
  const std::vector<Bytes> locals(2, Bytes(32));
  Request request = file.start_write(layout, const_parts(locals));
  for (int i = 0; i < 2; ++i) expect_rejected([&] { request.wait(); }, "open for reading");
  EXPECT_TRUE(request.test());
  std::vector<Bytes> read(2, Bytes(32));
  EXPECT_NO_THROW(file.read(layout, mutable_parts(read)));
}

TEST_F(Files, ADestroyedFileFinishesStartedAccesses) {
  const Extents shape{512, 512};
  const Layout layout(shape, {Distribution::cyclic(), {}}, {2});
  std::vector<Bytes> locals(2, Bytes(256 * 512 * 8, std::byte{7}));
  put("a", Bytes(512 * 512 * 8));
  std::optional<Request> request;
  {
    File file = File::open(path("a"), Mode::kReadWrite, raw_options(shape, 8));
    for (int i = 0; i < 3; ++i) request = file.start_write(layout, const_parts(locals));
  }
  EXPECT_TRUE(request->test());
  EXPECT_TRUE(content("a") == Bytes(512 * 512 * 8, std::byte{7}));
}

TEST_F(Files, ANewFileThatIsNotClosedDoesNotAppear) {
  const Layout layout({8}, {{}}, {});
  const std::vector<Bytes> locals(1, Bytes(64));
  {
    File file = File::open(path("a"), Mode::kWrite, raw_options({8}, 8));
    file.write(layout, const_parts(locals));
    EXPECT_EQ(count_files(), 1U);
  }
  EXPECT_EQ(count_files(), 0U);
  File file = File::open(path("a"), Mode::kWrite, raw_options({8}, 8));
  file.abandon();
  EXPECT_EQ(count_files(), 0U);
  EXPECT_FALSE(file.is_open());
}

TEST_F(Files, ACallOnAClosedFileIsAnError) {
  put("a", Bytes(64));
  const Layout layout({8}, {{}}, {});
  std::vector<Bytes> locals(1, Bytes(64));
  File file = File::open(path("a"), Mode::kRead, raw_options({8}, 8));
  EXPECT_TRUE(file.is_open());
  file.close();
  file.close();
  EXPECT_FALSE(file.is_open());
  expect_rejected([&] { file.read(layout, mutable_parts(locals)); }, "is closed");
  expect_rejected([&] { file.write(layout, const_parts(locals)); }, "is closed");
  expect_rejected([&] { file.start_read(layout, mutable_parts(locals)).wait(); }, "is closed");
  expect_rejected([&] { file.fail("anything"); }, "is closed");
  expect_rejected([&] { static_cast<void>(file.explain(layout)); }, "is closed");
}

TEST_F(Files, MismatchedPartsAreErrors) {
  put("a", Bytes(8 * 6 * 4));
  const Layout layout({8, 6}, {Distribution::blocked(), {}}, {2});
  std::vector<Bytes> locals(2, Bytes(4 * 6 * 4));
  File file = File::open(path("a"), Mode::kReadWrite, raw_options({8, 6}, 4));
  auto parts = mutable_parts(locals);
  parts.pop_back();
  expect_rejected([&] { file.read(layout, parts); }, "1 local arrays were given for 2 ranks");
  parts.push_back({nullptr, {}});
  expect_rejected([&] { file.read(layout, parts); }, "rank 1 is missing");
  parts[1] = {locals[1].data(), {4}};
  expect_rejected([&] { file.read(layout, parts); }, "has 1 dimensions, but the layout has 2");
  const Layout small({8, 5}, {Distribution::blocked(), {}}, {2});
  expect_rejected([&] { file.read(small, mutable_parts(locals)); }, "8x5");
  expect_rejected([&] { file.read(small, mutable_parts(locals), {{0, 8, 1, false}, {0, 7, 1, false}}); }, "");
  expect_rejected([&] { file.fail("my own words"); }, "my own words");
  EXPECT_NO_THROW(file.read(layout, mutable_parts(locals)));
}

TEST_F(Files, InvalidOptionsAreErrors) {
  put("a", Bytes(64));
  const auto expect_error = [&](FileOptions options, const std::string& part, Mode mode = Mode::kRead) {
    expect_rejected([&] { File::open(path("a"), mode, options); }, part);
  };
  const auto options_with = [](auto change) {
    FileOptions options = raw_options({8}, 8);
    change(options);
    return options;
  };
  for (const Mode mode : {Mode::kRead, Mode::kWrite, Mode::kReadWrite}) {
    expect_error({}, "shape and dtype must be given", mode);
    expect_error(options_with([](auto& o) { o.strategy = "fast"; }), "\"fast\" is not known", mode);
    expect_error(options_with([](auto& o) { o.memory = -1; }), "memory=-1", mode);
    expect_error(options_with([](auto& o) { o.shape = Extents{-1}; }), "negative", mode);
    expect_error(options_with([](auto& o) { o.shape = Extents(33, 1); }), "33 dimensions", mode);
    expect_error(options_with([](auto& o) { o.element_bytes = -8; }), "-8 bytes", mode);
    expect_error(options_with([](auto& o) { o.shape = Extents{std::int64_t{1} << 61}; }), "bytes of the array", mode);
    expect_error(options_with([](auto& o) {
                   o.element_bytes = 0;
                   o.dtype = "|O";
                 }),
                 "Python objects", mode);
  }
  expect_error(options_with([](auto& o) { o.offset = -1; }), "offset=-1 is negative");
  expect_error(options_with([](auto& o) { o.offset = 1; }), "offset=1 in mode w", Mode::kWrite);
  expect_error(options_with([](auto& o) { o.shape = Extents{7}; }), "has 64 bytes");
  EXPECT_EQ(count_files(), 1U);
  EXPECT_TRUE(content("a") == Bytes(64));
}

/// Sets an environment variable during the lifetime of this object.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~EnvironmentVariable() { ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
};

TEST_F(Files, TheEnvironmentSetsOmittedOptions) {
  put("a", Bytes(1 << 16));
  const Layout layout({64, 128}, {{}, Distribution::cyclic()}, {2});
  const auto explain_with = [&](const FileOptions& options) {
    return File::open(path("a"), Mode::kRead, options).explain(layout);
  };
  const FileOptions options = raw_options({64, 128}, 8);
  FileOptions direct = options;
  direct.strategy = "direct";
  {
    const EnvironmentVariable strategy("PLAIT_STRATEGY", "two-phase");
    const EnvironmentVariable memory("PLAIT_MEMORY", "16384");
    const std::string text = explain_with(options);
    EXPECT_NE(text.find("two-phase"), std::string::npos) << text;
    EXPECT_NE(text.find("8 windows"), std::string::npos) << text;
    EXPECT_NE(explain_with(direct).find("direct"), std::string::npos);
  }
  {
    const EnvironmentVariable memory("PLAIT_MEMORY", "");
    EXPECT_NO_THROW(explain_with(options));
  }
  for (const char* bad : {"much", "12k", "0", "-5", " "}) {
    const EnvironmentVariable memory("PLAIT_MEMORY", bad);
    expect_rejected([&] { explain_with(options); }, "PLAIT_MEMORY");
  }
  const EnvironmentVariable strategy("PLAIT_STRATEGY", "fast");
  expect_rejected([&] { explain_with(options); }, "\"fast\" is not known");
}

TEST_F(Files, TheTypeIsReadFromTheFile) {
  FileOptions options;
  options.shape = Extents{3, 4};
  options.dtype = "<f4";
  options.order = Order::kFortran;
  File::open(path("a.npy"), Mode::kWrite, options).close();
  const File file = File::open(path("a.npy"), Mode::kRead);
  EXPECT_EQ(file.type().shape, (Extents{3, 4}));
  EXPECT_EQ(file.type().dtype, "<f4");
  EXPECT_EQ(file.type().element_bytes, 4);
  EXPECT_EQ(file.type().order, Order::kFortran);
  EXPECT_EQ(file.path(), path("a.npy"));
  EXPECT_EQ(file.mode(), Mode::kRead);
  options.dtype = "<f8";
  expect_rejected([&] { File::open(path("a.npy"), Mode::kRead, options); }, "dtype <f4");
}

/// A program that has no dtype for its elements states their size. If the size were not checked, the library could
/// access more memory than the program's arrays have.
TEST_F(Files, TheSizeOfElementsMustMatchTheDtype) {
  FileOptions options;
  options.shape = Extents{3, 4};
  options.dtype = "<f8";
  options.element_bytes = 4;
  expect_rejected([&] { File::open(path("a.npy"), Mode::kWrite, options); },
                  "dtype <f8 have 8 bytes, but 4 were given");
  EXPECT_EQ(count_files(), 0U);
  options.element_bytes = 8;
  File::open(path("a.npy"), Mode::kWrite, options).close();
  options.dtype.reset();
  EXPECT_NO_THROW(File::open(path("a.npy"), Mode::kRead, options));
  options.element_bytes = 4;
  expect_rejected([&] { File::open(path("a.npy"), Mode::kReadWrite, options); },
                  "elements of 8 bytes, but 4 were given");
}

TEST_F(Files, NamesWithNullCharactersAreErrors) {
  for (const char* scheme : {"", "distant:"})
    for (const Mode mode : {Mode::kWrite, Mode::kRead})
      expect_rejected([&] { File::open(scheme + path("a") + std::string("\0b", 2), mode, raw_options({8}, 8)); },
                      "contains a null character");
  EXPECT_EQ(count_files(), 0U);
}

}  // namespace
