// Helpers of tests of streams: ranks that are threads, and files in which element i has the value i.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/comm/internals.hpp"
#include "folder.hpp"
#include "plait/comm.hpp"
#include "plait/stream.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace stream_case {

using Numbers = std::vector<std::int64_t>;

/// The number of ranks, and the number of ranks on each node (0 if all ranks are on one node).
struct Ranks {
  int count = 1;
  int per_node = 0;
};

inline std::string describe(const Ranks& ranks) {
  return std::to_string(ranks.count) + " ranks" +
         (ranks.per_node == 0 ? "" : ", " + std::to_string(ranks.per_node) + " a node");
}

inline std::vector<Ranks> all_ranks() {
  return {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {6, 0}, {2, 1}, {3, 2}, {4, 1}, {6, 2}, {6, 4}};
}

/// Runs `body` on ranks that share a Comm.
inline void on_ranks(const Ranks& ranks, const std::function<void(const plait::Comm&)>& body) {
  plait::transport::thread::run_team(ranks.count, [&](plait::transport::Transport& inner) {
    std::unique_ptr<wrapped::SeveralNodes> nodes;
    plait::transport::Transport* transport = &inner;
    if (ranks.per_node > 0) {
      nodes = std::make_unique<wrapped::SeveralNodes>(inner, ranks.per_node);
      transport = nodes.get();
    }
    body(plait::core::comm_over(std::shared_ptr<plait::transport::Transport>(transport, [](auto*) {})));
  });
}

/// Delays a rank at random, so that the ranks make their calls at different times.
class RandomDelay {
 public:
  RandomDelay(int seed, int rank) : random_(static_cast<std::uint32_t>(seed * 100 + rank)) {}
  /// Returns a random number from 0 to `max`, inclusive.
  std::int64_t random_up_to(std::int64_t max) { return std::uniform_int_distribution<std::int64_t>(0, max)(random_); }
  void sleep_randomly() {
    if (random_up_to(3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_up_to(400)));
  }

 private:
  std::mt19937 random_;
};

class StreamFolder : public plait_test::FolderTest {
 protected:
  std::string path(const std::string& name = "a") const { return FolderTest::path(name); }
  /// Makes a file of the numbers 0, 1, 2, ... after a header of kHeaderBytes bytes, and returns its path.
  std::string make_numbers_file(std::int64_t count, const std::string& name = "a") const {
    Numbers numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    std::ofstream out(path(name), std::ios::binary);
    out.write("headed..", kHeaderBytes);
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size() * sizeof(std::int64_t)));
    return path(name);
  }
  /// Returns the numbers of a file after the first `head` bytes.
  Numbers content(const std::string& name, std::streamsize head) const {
    std::ifstream in(path(name), std::ios::binary);
    in.seekg(head);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Numbers result(text.size() / sizeof(std::int64_t));
    text.copy(reinterpret_cast<char*>(result.data()), result.size() * sizeof(std::int64_t));
    return result;
  }
  static constexpr std::streamsize kHeaderBytes = 8;
};

/// Returns the options of a file that contains `count` 64-bit integers after `head` bytes.
inline plait::FileOptions int64_options(std::int64_t count, std::int64_t head, std::int64_t memory = 0) {
  plait::FileOptions options;
  options.shape = plait::Extents{count};
  options.element_bytes = sizeof(std::int64_t);
  options.offset = head;
  options.memory = memory;
  return options;
}

inline std::byte* bytes(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }

/// Reads up to `count` numbers from a stream. Checks that it does not change the buffer after the last number read.
inline Numbers read(plait::Stream& stream, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count), -1);
  const std::int64_t elements_read = stream.read(bytes(numbers), count);
  for (auto i = static_cast<std::size_t>(elements_read); i < numbers.size(); ++i) EXPECT_EQ(numbers[i], -1);
  numbers.resize(static_cast<std::size_t>(elements_read));
  return numbers;
}

/// Returns first, first + 1, ..., first + count - 1.
inline Numbers range(std::int64_t first, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace stream_case
