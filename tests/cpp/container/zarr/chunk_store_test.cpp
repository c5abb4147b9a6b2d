// Chunks and shards in every kind of object store: new arrays, changes of existing ones, several programs, and damage.
#include "container/zarr/chunk_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "container/zarr/growth/array_shape.hpp"
#include "container/zarr/new_array.hpp"
#include "object_case.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {
namespace {

using namespace object_case;
using store::Sharing;

enum class StorageMode : std::uint8_t { kPlain, kCompressed, kPlainShards, kCompressedShards };

using Parameter = std::tuple<Kind, StorageMode>;
using Bytes = std::vector<std::byte>;

/// Arrays of 6 x 8 numbers of 4 bytes with the fill value 7, in chunks of 2 x 4 and shards of 6 x 4.
constexpr std::int64_t kChunks = 6;
constexpr std::int64_t kChunkBytes = 32;

class ChunksInObjects : public ObjectStoreTest, public testing::WithParamInterface<Parameter> {
 protected:
  ChunksInObjects() : ObjectStoreTest(std::get<Kind>(GetParam())) {
    FileOptions options;
    options.shape = Extents{6, 8};
    options.dtype = "<i4";
    options.chunk = Extents{2, 4};
    options.fill_value = "7";
    if (has_shards()) options.shard = Extents{6, 4};
    if (storage_mode() == StorageMode::kCompressed || storage_mode() == StorageMode::kCompressedShards)
      options.codec = "zstd:1";
    const NewContent created = new_array("a.zarr", options);
    text_.assign(reinterpret_cast<const char*>(created.head.data()), created.head.size());
  }
  static StorageMode storage_mode() { return std::get<StorageMode>(GetParam()); }
  static bool has_shards() {
    return storage_mode() == StorageMode::kPlainShards || storage_mode() == StorageMode::kCompressedShards;
  }

  /// Opens the array as a program that makes it (`is_new`), or as one that opens an existing array.
  std::unique_ptr<ChunkStore> open_array(bool is_new, Sharing sharing = Sharing::kShared) const {
    return std::make_unique<ChunkStore>(objects("a.zarr", is_new ? sharing : Sharing::kShared),
                                        parse_metadata(text_, "a.zarr"), text_, is_new);
  }
  /// Makes an array whose elements are 1 in chunk 0 and elsewhere not written, so that they have the fill value 7.
  void make(Sharing sharing = Sharing::kPrivate) const {
    const auto store = open_array(/*is_new=*/true, sharing);
    write(*store, 0, 1);
    store->flush();
    store->sync();
  }
  static void write(ChunkStore& store, std::int64_t chunk, int value) {
    write_part(store, chunk * kChunkBytes, std::vector<int>(kChunkBytes / 4, value));
  }
  static void write_part(ChunkStore& store, std::int64_t offset, const std::vector<int>& values) {
    store.write({{offset, reinterpret_cast<const std::byte*>(values.data()), 4 * std::ssize(values)}});
  }
  static std::vector<int> read(ChunkStore& store, std::int64_t offset, std::size_t count) {
    std::vector<int> values(count, -1);
    store.read({{offset, reinterpret_cast<std::byte*>(values.data()), static_cast<std::int64_t>(4 * count)}});
    return values;
  }
  /// Returns the first element of each chunk, as a program that opens the array now reads it.
  std::vector<int> first_elements() const {
    const auto store = open_array(/*is_new=*/false);
    std::vector<int> values;
    for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) values.push_back(read(*store, chunk * kChunkBytes, 1)[0]);
    return values;
  }
  static std::string catch_error(const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::string text_;  // the metadata of the array
};

std::string case_name(const testing::TestParamInfo<Parameter>& info) {
  constexpr std::array<const char*, 4> kKinds{"Folder", "Memory", "MemoryInPlace", "Concurrent"};
  constexpr std::array<const char*, 4> kModes{"Plain", "Compressed", "PlainShards", "CompressedShards"};
  return std::string(kKinds[static_cast<std::size_t>(std::get<Kind>(info.param))]) +
         kModes[static_cast<std::size_t>(std::get<StorageMode>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChunksInObjects,
                         testing::Combine(testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace,
                                                          Kind::kConcurrent),
                                          testing::Values(StorageMode::kPlain, StorageMode::kCompressed,
                                                          StorageMode::kPlainShards, StorageMode::kCompressedShards)),
                         case_name);

TEST_P(ChunksInObjects, NewArraysAreReadAsTheyWereWritten) {
  for (const Sharing sharing : {Sharing::kPrivate, Sharing::kResumable}) {
    const auto store = open_array(/*is_new=*/true, sharing);
    std::vector<int> values(kChunks * kChunkBytes / 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    write_part(*store, 0, values);
    store->flush();
    EXPECT_EQ(read(*store, 0, values.size()), values);
    store->sync();
    const auto actual = open_array(/*is_new=*/false);
    EXPECT_EQ(read(*actual, 0, values.size()), values);
    EXPECT_EQ(read(*actual, 4 * 13, 3), (std::vector<int>{13, 14, 15}));
    EXPECT_EQ(actual->size(), kChunks * kChunkBytes);
  }
}

TEST_P(ChunksInObjects, NewArraysAreWrittenInPartsAndRewritten) {
  const auto store = open_array(/*is_new=*/true, Sharing::kPrivate);
  write_part(*store, 4, {1, 2});
  write_part(*store, kChunkBytes - 4, {3, 4, 5});
  EXPECT_EQ(read(*store, 0, 4), (std::vector<int>{7, 1, 2, 7}));
  store->flush();
  write_part(*store, 8, {6});
  write(*store, 4, 9);
  store->flush();
  store->sync();
  const auto actual = open_array(/*is_new=*/false);
  EXPECT_EQ(read(*actual, 0, 11), (std::vector<int>{7, 1, 6, 7, 7, 7, 7, 3, 4, 5, 7}));
  EXPECT_EQ(first_elements(), (std::vector<int>{7, 4, 7, 7, 9, 7}));
}

TEST_P(ChunksInObjects, MissingChunksHaveTheFillValue) {
  make();
  EXPECT_EQ(first_elements(), (std::vector<int>{1, 7, 7, 7, 7, 7}));
}

TEST_P(ChunksInObjects, ChangesTakeEffectWhenAnAccessEnds) {
  make();
  const auto store = open_array(/*is_new=*/false);
  const auto second = open_array(/*is_new=*/false);
  EXPECT_EQ(read(*second, 0, 1)[0], 1);
  write(*store, 0, 2);
  write(*store, 5, 3);
  EXPECT_EQ(read(*store, 0, 1)[0], 2);
  EXPECT_EQ(read(*second, 0, 1)[0], 1);
  EXPECT_EQ(read(*second, 5 * kChunkBytes, 1)[0], 7);
  store->flush();
  store->sync();
  EXPECT_EQ(read(*second, 0, 1)[0], 2);
  EXPECT_EQ(read(*second, 5 * kChunkBytes, 1)[0], 3);
  EXPECT_EQ(first_elements(), (std::vector<int>{2, 7, 7, 7, 7, 3}));
  if (kind_ == Kind::kFolder) {
    EXPECT_FALSE(std::filesystem::exists(root() + "/a.zarr/.plait-changes"));
  }
}

TEST_P(ChunksInObjects, FailedAccessesChangeNothing) {
  make();
  const auto store = open_array(/*is_new=*/false);
  write(*store, 0, 2);
  write(*store, 3, 2);
  store->discard_buffered();
  EXPECT_EQ(read(*store, 0, 1)[0], 1);
  store->flush();
  EXPECT_EQ(first_elements(), (std::vector<int>{1, 7, 7, 7, 7, 7}));
}

TEST_P(ChunksInObjects, PartsOfChunksChange) {
  make();
  const auto store = open_array(/*is_new=*/false);
  write_part(*store, 8, {2, 3});
  write_part(*store, 16, {4});
  write_part(*store, 2 * kChunkBytes + 4, {5});
  write_part(*store, 2 * kChunkBytes, {6});
  store->flush();
  EXPECT_EQ(read(*store, 0, 6), (std::vector<int>{1, 1, 2, 3, 4, 1}));
  EXPECT_EQ(read(*store, 2 * kChunkBytes, 3), (std::vector<int>{6, 5, 7}));
  EXPECT_EQ(first_elements(), (std::vector<int>{1, 7, 6, 7, 7, 7}));
}

TEST_P(ChunksInObjects, TheSecondOfTwoProgramsCannotOverwriteParts) {
  make();
  const auto first = open_array(/*is_new=*/false);
  const auto second = open_array(/*is_new=*/false);
  write_part(*first, 0, {2});
  write_part(*second, 4, {3});
  first->flush();
  const bool writes_in_place = storage_mode() == StorageMode::kPlain && first->objects().writes_in_place();
  const std::string error = catch_error([&] { second->flush(); });
  if (writes_in_place) {
    EXPECT_EQ(error, "no error");
  } else {
    EXPECT_NE(error.find("c/0/0: another program has changed it while a part"), std::string::npos) << error;
    second->discard_buffered();
  }
  EXPECT_EQ(read(*open_array(/*is_new=*/false), 0, 3), (std::vector<int>{2, writes_in_place ? 3 : 1, 1}));
  write_part(*second, 4, {4});
  second->flush();
  EXPECT_EQ(read(*open_array(/*is_new=*/false), 0, 3), (std::vector<int>{2, 4, 1}));
}

TEST_P(ChunksInObjects, ProgramsThatWriteWholeChunksOfOneShardLoseNothing) {
  make();
  const auto first = open_array(/*is_new=*/false);
  const auto second = open_array(/*is_new=*/false);
  write(*first, 1, 2);
  write(*second, 2, 3);
  first->flush();
  second->flush();
  EXPECT_EQ(first_elements(), (std::vector<int>{1, 2, 3, 7, 7, 7}));
  for (int value = 4; value < 8; ++value) {
    write(*first, 0, value);
    write(*second, 1, -value);
    second->flush();
    first->flush();
  }
  EXPECT_EQ(first_elements(), (std::vector<int>{7, -7, 3, 7, 7, 7}));
}

TEST_P(ChunksInObjects, DamagedObjectsAreErrorsThatNameThem) {
  make();
  const auto store = open_array(/*is_new=*/false);
  store->objects().put("c/0/0", text_bytes("short"));
  const std::string error = catch_error([&] { (void)read(*store, 0, 2); });
  EXPECT_NE(error.find(root() + "/a.zarr/c/0/0"), std::string::npos) << error;
  if (has_shards()) {
    EXPECT_NE(error.find("it has 5 bytes, less than its index, which has 52"), std::string::npos) << error;
  }
  if (storage_mode() == StorageMode::kPlain) {
    EXPECT_NE(error.find("it has 5 bytes, but a chunk has 32"), std::string::npos) << error;
  }
}

TEST_P(ChunksInObjects, ReadersGetTheCurrentContent) {
  make();
  const auto reader = open_array(/*is_new=*/false);
  for (int value = 2; value < 6; ++value) {
    const auto writer = open_array(/*is_new=*/false);
    write(*writer, 0, value);
    if (value % 2 == 0) write_part(*writer, kChunkBytes + 4, {value});
    writer->flush();
    EXPECT_EQ(read(*reader, 4, 2), (std::vector<int>{value, value}));
    EXPECT_EQ(read(*reader, kChunkBytes, 2), (std::vector<int>{7, value / 2 * 2}));
  }
}

/// Tests that count requests, which only object stores in memory do.
class ChunksInMemory : public ChunksInObjects {};

INSTANTIATE_TEST_SUITE_P(Kinds, ChunksInMemory,
                         testing::Combine(testing::Values(Kind::kMemory, Kind::kMemoryInPlace),
                                          testing::Values(StorageMode::kPlain, StorageMode::kCompressed,
                                                          StorageMode::kPlainShards, StorageMode::kCompressedShards)),
                         case_name);

TEST_P(ChunksInMemory, ChunksAreReadByOneRequestEach) {
  make();
  const auto store = open_array(/*is_new=*/false);
  const auto count_requests = [&](std::int64_t offset, std::size_t count) {
    const std::int64_t before = bucket_->gets;
    (void)read(*store, offset, count);
    return bucket_->gets - before;
  };
  const std::int64_t index_requests = has_shards() ? 1 : 0;  // the first access to a shard reads its index
  EXPECT_EQ(count_requests(0, kChunkBytes / 4), 1 + index_requests);
  EXPECT_EQ(count_requests(0, kChunkBytes / 4), 1);
  EXPECT_EQ(count_requests(4, 2), 1);
  EXPECT_EQ(count_requests(kChunkBytes / 2, 3), 1);
}

TEST_P(ChunksInObjects, ABatchReadsEachChunkOnceAndAllAtTheSameTime) {
  make();
  {
    const auto changed = open_array(/*is_new=*/false);
    for (const std::int64_t chunk : {1, 4}) write(*changed, chunk, static_cast<int>(chunk) + 1);
    changed->flush();
  }
  const auto store = open_array(/*is_new=*/false);
  std::vector<int> values(18, -1);
  const auto segment = [&](std::int64_t offset, std::size_t first, std::size_t count) {
    return store::ReadSegment{offset, reinterpret_cast<std::byte*>(values.data() + first),
                              static_cast<std::int64_t>(4 * count)};
  };
  const std::int64_t before = bucket_->gets;
  // Two pieces of chunk 0, the end of chunk 1 and the beginning of chunk 2, which is missing, all of chunk 4, and an
  // element of chunk 5.
  store->read({segment(0, 0, 1), segment(8, 1, 2), segment(2 * kChunkBytes - 12, 3, 6), segment(4 * kChunkBytes, 9, 8),
               segment(5 * kChunkBytes, 17, 1)});
  EXPECT_EQ(values, (std::vector<int>{1, 1, 1, 2, 2, 2, 7, 7, 7, 5, 5, 5, 5, 5, 5, 5, 5, 7}));
  if (kind_ != Kind::kFolder && !has_shards()) {
    EXPECT_EQ(bucket_->gets - before, 5);
  }
  if (kind_ == Kind::kConcurrent && !has_shards()) {
    EXPECT_EQ(dynamic_cast<ConcurrentObjects&>(store->objects()).largest_batch(), 5U);
  }
  // Consecutive pieces of one chunk in two batches.
  store->read({segment(4, 0, 1)});
  store->read({segment(0, 1, 1), segment(kChunkBytes, 2, 1)});
  EXPECT_EQ(values[0] + values[1] + values[2], 4);
}

TEST_P(ChunksInObjects, NewArraysThatGrowLeaveNoTemporaryFiles) {
  for (const Sharing sharing : {Sharing::kPrivate, Sharing::kResumable}) {
    const std::shared_ptr<store::ObjectStore> created =
        objects(sharing == Sharing::kPrivate ? "a.zarr" : "b.zarr", sharing);
    created->put("zarr.json", text_bytes(text_));
    ChunkStore chunks(created, parse_metadata(text_, "a.zarr"), text_, /*is_new=*/true);
    write(chunks, 0, 1);
    chunks.flush();
    const std::shared_ptr<ChunkStore> grown = chunks.with_shape({8, 8});
    write(*grown, 6, 2);
    grown->flush();
    change_shape(*created, {6, 8}, {8, 8});
    EXPECT_EQ(read_shape(*created), (Extents{8, 8}));
    if (kind_ == Kind::kFolder) {
      EXPECT_FALSE(std::filesystem::exists(created->name() + "/.plait-changes"));
    }
  }
}

/// Counts the reads of objects that have not changed since they were read before.
class MatchingObjects : public store::memory::MemoryObjects {
 public:
  using MemoryObjects::MemoryObjects;
  store::GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                             const store::GetOptions& options) override {
    store::GetResult result = MemoryObjects::get_whole(object, memory, options);
    if (result.status == store::GetStatus::kMatch) ++matches_;
    return result;
  }
  int matches() const { return matches_; }

 private:
  int matches_ = 0;
};

TEST_P(ChunksInMemory, AnotherShapeHasACacheOfTheSameSize) {
  make();
  const auto actual = std::make_shared<MatchingObjects>(bucket_, root() + "/a.zarr", false);
  ChunkStore store(actual, parse_metadata(text_, "a.zarr"), text_, /*is_new=*/false);
  write(store, 1, 2);
  store.flush();
  store.resize_cache(4 * kChunkBytes);
  const std::shared_ptr<ChunkStore> longer = store.with_shape({8, 8});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(read(*longer, 4, 1), std::vector<int>{1});
    EXPECT_EQ(read(*longer, kChunkBytes + 4, 1), std::vector<int>{2});
    // Shards are read by ranges, and parts of chunks without codecs are not cached.
    EXPECT_EQ(actual->matches(), storage_mode() == StorageMode::kCompressed ? 2 * round : 0);
  }
}

}  // namespace
}  // namespace plait::container::zarr
