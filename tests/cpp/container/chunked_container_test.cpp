// Reads and writes of a chunked array through the public header, in files of several ranks and of one process.
// The array is in a format that this test adds.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "chunk_case.hpp"
#include "container/array_type.hpp"
#include "container/format_registry.hpp"
#include "plait/file.hpp"
#include "plait/stream.hpp"
#include "stream_case.hpp"

namespace {

using access_case::Bytes;
using access_case::Case;
using oracle::expect_rejected;
using oracle::to_size_t;
using plait::Comm;
using plait::Distribution;
using plait::Extents;
using plait::File;
using plait::FileOptions;
using plait::Layout;
using plait::Mode;
using plait::Order;
using plait::Region;
using plait::container::Content;

constexpr std::int64_t kHeaderBytes = 64;

/// An opened file of the format `Tiles`.
class TilesFile : public plait::container::OpenedFile {
 public:
  explicit TilesFile(std::shared_ptr<plait::store::Store> store) : store_(std::move(store)) {}
  std::unique_ptr<plait::container::Dataset> dataset(const FileOptions& /*stated*/) override {
    std::string head(to_size_t(kHeaderBytes), ' ');
    store_->read({{0, reinterpret_cast<std::byte*>(head.data()), kHeaderBytes}});
    std::istringstream in(head);
    std::size_t dimensions = 0;
    int order = 0;
    Content actual;
    actual.data_offset = kHeaderBytes;
    in >> dimensions >> actual.type.element_bytes >> order;
    actual.type.order = static_cast<Order>(order);
    actual.chunk.emplace();
    for (Extents* extents : {&actual.type.shape, &*actual.chunk})
      for (std::size_t d = 0; d < dimensions; ++d) in >> extents->emplace_back();
    return std::make_unique<plait::container::Dataset>(actual, store_);
  }

 private:
  std::shared_ptr<plait::store::Store> store_;
};

/// A format for this test: a line of 64 characters states dimensions, bytes of an element, order, shape and chunk; then
/// follow the chunks, of three elements in each dimension.
class Tiles : public plait::container::Format {
 public:
  Tiles() : Format({.suffix = ".tiles", .kind = "a .tiles file"}) {}
  bool has_signature(std::span<const std::byte> /*header*/) const override { return false; }
  std::unique_ptr<plait::container::OpenedFile> open(std::shared_ptr<plait::store::Store> store,
                                                     const std::string& /*name*/) const override {
    return std::make_unique<TilesFile>(std::move(store));
  }
  std::unique_ptr<plait::container::NewFile> create(const std::string& name,
                                                    const FileOptions& options) const override {
    plait::container::NewContent created;
    created.type = plait::container::make_array_type(options, name, true);
    created.data_offset = kHeaderBytes;
    created.chunk.emplace(created.type.shape.size(), 3);
    std::ostringstream out;
    out << created.type.shape.size() << ' ' << created.type.element_bytes << ' '
        << static_cast<int>(created.type.order);
    for (const Extents* extents : {&created.type.shape, &*created.chunk})
      for (const std::int64_t extent : *extents) out << ' ' << extent;
    std::string head = out.str();
    head.resize(to_size_t(kHeaderBytes), ' ');
    std::ranges::transform(head, std::back_inserter(created.head), [](char c) { return static_cast<std::byte>(c); });
    return std::make_unique<plait::container::NewFile>(std::move(created));
  }
};

class ChunkedFiles : public plait_test::FolderTest {
 protected:
  Bytes content() const {
    std::ifstream in(path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Bytes result;
    std::ranges::transform(text, std::back_inserter(result), [](char c) { return static_cast<std::byte>(c); });
    return result;
  }
  std::string path() const { return FolderTest::path("a.tiles"); }
  static FileOptions make_options(const Case& access) {
    FileOptions options;
    options.shape = access.file_shape;
    options.element_bytes = access.element_bytes;
    options.order = access.file_order;
    return options;
  }

  Tiles tiles_;
  plait::container::AddedFormat added_{tiles_};
};

Case make_case(Order order, const Layout& layout, Region region = {}) {
  return {{10, 7, 4}, order, std::move(region), layout, 8, kHeaderBytes};
}

TEST_F(ChunkedFiles, SeveralRanksWriteAndReadThem) {
  const Layout columns({10, 7, 4}, {Distribution::cyclic(), Distribution::blocked(), Distribution::collapsed()},
                       {3, 2});
  const Layout rows({4, 7}, {Distribution::cyclic(), Distribution::collapsed()}, {6});
  for (const Order order : {Order::kC, Order::kFortran}) {
    for (const int ranks_per_node : {0, 1, 4}) {
      const Case access = make_case(order, columns);
      const Bytes flat = access_case::pattern(access_case::store_bytes(access));
      const std::vector<Bytes> rank_arrays = access_case::make_locals(access, flat);
      const Case part = make_case(order, rows, {{1, 4, 2, false}, {0, 7, 1, false}, {2, 1, 1, true}});
      const std::vector<Bytes> parts = access_case::make_locals(part, flat);
      stream_case::on_ranks({6, ranks_per_node}, [&](const Comm& comm) {
        const Bytes& local = rank_arrays[to_size_t(comm.rank())];
        File created = File::open(path(), Mode::kWrite, make_options(access), comm);
        const plait::ConstPart from{local.data(), {}};
        created.write(columns, {&from, 1});
        created.close();
        File file = File::open(path(), Mode::kRead, {}, comm);
        EXPECT_EQ(file.type().shape, access.file_shape);
        Bytes actual(local.size());
        const plait::MutablePart to{actual.data(), {}};
        file.read(columns, {&to, 1});
        EXPECT_TRUE(actual == local);
        actual.assign(parts[to_size_t(comm.rank())].size(), std::byte{0});
        const plait::MutablePart part_to{actual.data(), {}};
        file.read(rows, {&part_to, 1}, part.region);
        EXPECT_TRUE(actual == parts[to_size_t(comm.rank())]);
      });
      const Extents chunk{3, 3, 3};
      Bytes expected = chunk_case::to_chunks(access, chunk, flat, std::byte{0});
      const Bytes file_bytes = content();
      std::copy_n(file_bytes.begin(), kHeaderBytes, expected.begin());
      EXPECT_TRUE(file_bytes == expected);
      EXPECT_EQ(file_bytes.size(), to_size_t(kHeaderBytes + chunk_case::padded_elements(access.file_shape, chunk) * 8));
    }
  }
}

TEST_F(ChunkedFiles, OneProcessChangesAPartInPlace) {
  const Layout two_ranks({10, 7, 4}, {Distribution::blocked(), Distribution::collapsed(), Distribution::collapsed()},
                         {2});
  const Case access = make_case(Order::kC, two_ranks);
  const Bytes flat = access_case::pattern(access_case::store_bytes(access));
  const std::vector<Bytes> locals = access_case::make_locals(access, flat);
  File created = File::open(path(), Mode::kWrite, make_options(access));
  created.write(two_ranks, access_case::const_parts(locals));
  created.close();
  const Layout piece({2, 2, 2}, std::vector<Distribution>(3, Distribution::collapsed()), {});
  const Bytes ones(to_size_t(8 * 8), std::byte{1});
  const plait::ConstPart part{ones.data(), {}};
  File file = File::open(path(), Mode::kReadWrite);
  file.write(piece, {&part, 1}, {{2, 2, 1, false}, {2, 2, 1, false}, {2, 2, 1, false}});
  file.close();
  Bytes after = flat;
  for (const std::int64_t element : {66, 67, 70, 71, 94, 95, 98, 99})
    std::fill_n(after.begin() + kHeaderBytes + 8 * element, 8, std::byte{1});
  Bytes expected = chunk_case::to_chunks(access, {3, 3, 3}, after, std::byte{0});
  const Bytes file_bytes = content();
  std::copy_n(file_bytes.begin(), kHeaderBytes, expected.begin());
  EXPECT_TRUE(file_bytes == expected);
}

TEST_F(ChunkedFiles, StreamsDirectAccessAndTruncationAreErrors) {
  const Layout whole({10, 7, 4}, std::vector<Distribution>(3, Distribution::collapsed()), {});
  const Case access = make_case(Order::kC, whole);
  const Bytes zeros(to_size_t(10 * 7 * 4 * 8));
  const plait::ConstPart part{zeros.data(), {}};
  File created = File::open(path(), Mode::kWrite, make_options(access));
  created.write(whole, {&part, 1});
  created.close();
  File file = File::open(path(), Mode::kRead);
  expect_rejected([&] { plait::Stream(file, plait::StreamMode::kOwn); }, "keeps its array in chunks");
  EXPECT_NE(file.explain(whole).find("24 of 216 B, each touched by one rank"), std::string::npos)
      << file.explain(whole);
  FileOptions direct;
  direct.strategy = "direct";
  File other = File::open(path(), Mode::kRead, direct);
  Bytes actual(zeros.size());
  const plait::MutablePart to{actual.data(), {}};
  expect_rejected([&] { other.read(whole, {&to, 1}); }, "the array lies in chunks");
  std::filesystem::resize_file(path(), 24 * 216 + kHeaderBytes - 1);
  EXPECT_THROW(File::open(path(), Mode::kRead), plait::Error);
}

}  // namespace
