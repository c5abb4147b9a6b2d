// Striped stores, compared with bytes in memory.
#include "store/stripe/striped_store.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "oracle.hpp"
#include "stripe_case.hpp"

namespace {

using namespace stripe_case;
using store::ReadSegment;
using store::WriteSegment;
using stripe::StripedStore;

using StripedStoreTest = Stripes;

TEST_F(StripedStoreTest, ReadsAndWritesLikeBytesInMemory) {
  std::mt19937 random(7);
  const auto random_below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  for (int round = 0; round < 24 / oracle::kThinning + 3; ++round) {
    const int disks = static_cast<int>(1 + random_below(5));
    const std::int64_t unit = 1 + random_below(round % 3 == 0 ? 5 : round % 3 == 1 ? 100 : 5000);
    const std::int64_t bytes = random_below(20'000);
    const Description description = make("a", disks, std::to_string(unit), bytes);
    StripedStore striped(description, StripedStore::Access::kReadWrite, "a");
    ASSERT_EQ(striped.size(), bytes);
    Bytes expected_bytes(oracle::to_size_t(bytes));  // the content that the store should have
    for (int batch = 0; batch < 6; ++batch) {
      // Writes that do not overlap, in any order; reads of anything.
      std::vector<std::int64_t> edges;
      for (std::int64_t i = random_below(12); i >= 0; --i) edges.push_back(random_below(bytes + 1));
      std::sort(edges.begin(), edges.end());
      Bytes new_bytes(expected_bytes.size());
      for (std::byte& value : new_bytes) value = static_cast<std::byte>(random());
      std::vector<WriteSegment> writes;
      for (std::size_t i = 0; i + 1 < edges.size(); ++i)
        if (random_below(3) > 0) writes.push_back({edges[i], new_bytes.data() + edges[i], edges[i + 1] - edges[i]});
      if (batch % 2 == 0) std::shuffle(writes.begin(), writes.end(), random);
      for (const WriteSegment& write : writes)
        std::copy_n(write.data, write.bytes, expected_bytes.begin() + write.offset);
      striped.write(writes);
      std::vector<Bytes> buffer;
      std::vector<ReadSegment> reads;
      for (std::int64_t i = random_below(12); i >= 0; --i) {
        const std::int64_t offset = random_below(bytes + 1);
        buffer.emplace_back(oracle::to_size_t(random_below(bytes - offset + 1)));
        reads.push_back({offset, nullptr, static_cast<std::int64_t>(buffer.back().size())});
      }
      for (std::size_t i = 0; i < reads.size(); ++i) reads[i].data = buffer[i].data();
      striped.read(reads);
      for (std::size_t i = 0; i < reads.size(); ++i)
        ASSERT_TRUE(std::equal(buffer[i].begin(), buffer[i].end(), expected_bytes.begin() + reads[i].offset));
    }
    // The components contain the bytes that the format defines.
    std::vector<std::string> expected(oracle::to_size_t(disks));
    for (std::int64_t i = 0; i < bytes; ++i)
      expected[oracle::to_size_t(i / unit % disks)] += static_cast<char>(expected_bytes[oracle::to_size_t(i)]);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(content(fs::relative(description.components[i], folder_).string()), expected[i]);
    striped.sync();
  }
}

TEST_F(StripedStoreTest, TransfersASegmentOfManyStripesInRounds) {
  // First more pieces than one system call accepts, then more bytes than one round transfers.
  for (const auto& [unit, bytes] :
       std::vector<std::pair<std::string, std::int64_t>>{{"7", 200'003}, {"64K", 30'000'001}}) {
    Bytes expected_bytes(oracle::to_size_t(bytes));
    for (std::int64_t i = 0; i < bytes; ++i) expected_bytes[oracle::to_size_t(i)] = byte_at(i);
    StripedStore striped(make("a", 3, unit, bytes), StripedStore::Access::kReadWrite, "a");
    striped.write({{0, expected_bytes.data(), bytes}});
    Bytes actual(expected_bytes.size());
    striped.read({{0, actual.data(), bytes}});
    EXPECT_TRUE(actual == expected_bytes);
    std::fill(actual.begin(), actual.end(), std::byte{0});
    striped.read({{5, actual.data() + 5, bytes - 9}});
    EXPECT_TRUE(std::equal(actual.begin() + 5, actual.end() - 4, expected_bytes.begin() + 5));
  }
}

TEST_F(StripedStoreTest, AccessesBytesPast32Bits) {
  const std::int64_t bytes = (std::int64_t{5} << 31) + 17;
  for (const std::int64_t unit : {std::int64_t{1'000'003}, std::int64_t{65536}, std::int64_t{3} << 30}) {
    Description description{unit, bytes, "0", {}};
    for (int i = 0; i < 3; ++i) description.components.push_back(text(disk(i), "/far"));
    for (std::size_t i = 0; i < 3; ++i) {  // sparse files, because the disk may have less than 10 GiB of free space
      std::ofstream(description.components[i]).close();
      fs::resize_file(description.components[i], static_cast<std::uintmax_t>(description.component_bytes(i)));
    }
    put("far", description.to_text());
    const store::Location position = find(named("far"), true).location;
    const auto striped = reopen(position, true);
    EXPECT_EQ(striped->size(), bytes);
    std::mt19937_64 random(3);
    std::vector<std::int64_t> positions{0, (std::int64_t{1} << 31) - 3, (std::int64_t{1} << 32) - 2, bytes - 1000};
    for (int i = 0; i < 20; ++i) positions.push_back(static_cast<std::int64_t>(random() >> 1) % (bytes - 1000));
    Bytes part(1000);
    for (const std::int64_t from : positions) {
      for (std::int64_t i = 0; i < 1000; ++i) part[oracle::to_size_t(i)] = byte_at(from + i);
      striped->write({{from, part.data(), 1000}});
    }
    for (const std::int64_t from : positions) {
      striped->read({{from, part.data(), 1000}});
      for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(part[oracle::to_size_t(i)], byte_at(from + i));
      // Compare one byte in the component file that the definition of stripes determines.
      const std::int64_t stripe_number = from / unit;
      std::ifstream in(description.components[oracle::to_size_t(stripe_number % 3)], std::ios::binary);
      in.seekg(stripe_number / 3 * unit + from % unit);
      ASSERT_EQ(static_cast<std::byte>(in.get()), byte_at(from));
    }
  }
}

TEST_F(StripedStoreTest, RangesOutsideAreErrorsAndChangeNothing) {
  StripedStore striped(make("a", 2, "4", 10), StripedStore::Access::kReadWrite, "stripe:a");
  Bytes word(12, std::byte{'x'});
  for (const auto& [offset, bytes] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 11}, {10, 1}, {-1, 1}, {INT64_MAX, 1}, {4, INT64_MAX}}) {
    const Error error = failure([&] { striped.write({{0, word.data(), 1}, {offset, word.data(), bytes}}); });
    EXPECT_SAYS(error, "stripe:a: the file has 10 bytes");
    failure([&] { striped.read({{offset, word.data(), bytes}}); });
  }
  EXPECT_NO_THROW(striped.read({{10, word.data(), 0}}));
  Bytes actual(10, std::byte{'y'});
  striped.read({{0, actual.data(), 10}});
  EXPECT_TRUE(actual == Bytes(10));
}

TEST_F(StripedStoreTest, AFailureNamesTheComponent) {
  const Description description = make("a", 3, "4", 100);
  StripedStore striped(description, StripedStore::Access::kRead, "stripe:a");
  fs::resize_file(description.components[1], 5);
  Bytes actual(100);
  const Error truncated_error = failure([&] { striped.read({{0, actual.data(), 100}}); });
  EXPECT_SAYS(truncated_error, description.components[1] + " at offset 5");
  EXPECT_SAYS(truncated_error, "truncated");
  EXPECT_NO_THROW(striped.read({{8, actual.data(), 4}}));
  const Error write = failure([&] { striped.write({{4, actual.data(), 1}}); });
  EXPECT_SAYS(write, text("cannot write ", description.components[1], " at offset 0"));
  EXPECT_EQ(write.system_code(), EBADF);
}

TEST_F(StripedStoreTest, ManyThreadsShareAStore) {
  constexpr std::int64_t kBytesPerThread = 30'001;
  StripedStore striped(make("a", 3, "17", 4 * kBytesPerThread), StripedStore::Access::kReadWrite, "a");
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&striped, t] {
      Bytes written(kBytesPerThread, static_cast<std::byte>(t + 1));
      striped.write({{t * kBytesPerThread, written.data(), kBytesPerThread}});
      Bytes actual(kBytesPerThread);
      striped.read({{t * kBytesPerThread, actual.data(), kBytesPerThread}});
      EXPECT_TRUE(actual == written);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
