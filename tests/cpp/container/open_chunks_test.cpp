// Chunks that several threads write in parts, with buffers for only some of the chunks at a time.
#include "container/chunks/open_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using plait::container::OpenChunks;
using plait::container::WholeChunks;

constexpr std::int64_t kChunkBytes = std::int64_t{4} << 20;

/// A store of chunks in memory.
class ChunksInMemory : public WholeChunks {
 public:
  explicit ChunksInMemory(std::size_t count) : chunks_(count, std::vector<std::byte>(kChunkBytes)) {}

  std::int64_t chunk_bytes(std::int64_t /*number*/) const override { return kChunkBytes; }
  std::int64_t bytes_inside(std::int64_t /*number*/) const override { return kChunkBytes; }
  void fill_chunk(std::int64_t /*number*/, std::span<std::byte> chunk) const override {
    std::ranges::fill(chunk, std::byte{});
  }
  void read_old(std::int64_t number, std::span<std::byte> chunk) override {
    const std::scoped_lock lock(mutex_);
    std::ranges::copy(chunks_[static_cast<std::size_t>(number)], chunk.begin());
  }
  void put(std::int64_t number, std::span<const std::byte> chunk) override {
    if (fails) throw std::runtime_error("no space");
    const std::scoped_lock lock(mutex_);
    std::ranges::copy(chunk, chunks_[static_cast<std::size_t>(number)].begin());
    ++puts;
  }
  const std::vector<std::byte>& chunk(std::int64_t number) const { return chunks_[static_cast<std::size_t>(number)]; }

  int puts = 0;
  bool fails = false;

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> chunks_;
};

/// Writes `bytes` bytes with one value into a chunk.
void write_part(OpenChunks& open_chunks, std::int64_t number, std::int64_t offset, std::int64_t bytes, int value) {
  const std::vector<std::byte> part(static_cast<std::size_t>(bytes), static_cast<std::byte>(value));
  const std::vector<plait::store::WriteSegment> parts{{offset, part.data(), bytes}};
  open_chunks.write(number, parts);
}

TEST(OpenChunks, CombinePartsOfSeveralThreads) {
  constexpr int kThreads = 6;
  constexpr int kParts = 8;
  ChunksInMemory chunks(3 * kThreads);
  OpenChunks open_chunks(chunks);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&open_chunks, thread] {
      constexpr std::int64_t kPart = kChunkBytes / kParts;
      // The parts of three chunks in turn, without the last part of the third one.
      for (int part = 0; part < kParts; ++part)
        for (int i = 0; i < 3; ++i)
          if (i < 2 || part + 1 < kParts) write_part(open_chunks, 3 * thread + i, part * kPart, kPart, 1 + thread);
    });
  for (std::thread& thread : threads) thread.join();
  open_chunks.flush();
  for (int number = 0; number < 3 * kThreads; ++number) {
    const std::vector<std::byte>& chunk = chunks.chunk(number);
    const std::ptrdiff_t written = number % 3 < 2 ? kChunkBytes : kChunkBytes / kParts * (kParts - 1);
    EXPECT_EQ(std::ranges::count(chunk, static_cast<std::byte>(1 + number / 3)), written) << number;
  }
}

TEST(OpenChunks, AreStoredOnceWhenTheyAreComplete) {
  ChunksInMemory chunks(2);
  OpenChunks open_chunks(chunks);
  for (int part = 0; part < 4; ++part)
    for (int number = 0; number < 2; ++number)
      write_part(open_chunks, number, part * kChunkBytes / 4, kChunkBytes / 4, 1);
  EXPECT_EQ(chunks.puts, 2);
  open_chunks.flush();
  EXPECT_EQ(chunks.puts, 2);
}

TEST(OpenChunks, AreNotLostIfTheyCannotBeStored) {
  ChunksInMemory chunks(1);
  OpenChunks open_chunks(chunks);
  write_part(open_chunks, 0, 0, kChunkBytes / 2, 1);
  chunks.fails = true;
  EXPECT_THROW(write_part(open_chunks, 0, kChunkBytes / 2, kChunkBytes / 2, 1), std::runtime_error);
  EXPECT_THROW(open_chunks.flush(), std::runtime_error);
  chunks.fails = false;
  open_chunks.flush();
  EXPECT_EQ(std::ranges::count(chunks.chunk(0), std::byte{1}), kChunkBytes);
}

}  // namespace
