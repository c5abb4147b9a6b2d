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

/// The number of ranks, and the number of ranks on each node (0: all ranks are on one node).
struct Ranks {
  int count = 1;
  int on_a_node = 0;
};

inline std::string print(const Ranks& ranks) {
  return std::to_string(ranks.count) + " ranks" +
         (ranks.on_a_node == 0 ? "" : ", " + std::to_string(ranks.on_a_node) + " a node");
}

inline std::vector<Ranks> all_ranks() {
  return {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {6, 0}, {2, 1}, {3, 2}, {4, 1}, {6, 2}, {6, 4}};
}

/// Runs `body` on ranks that share a Comm.
inline void on_ranks(const Ranks& ranks, const std::function<void(const plait::Comm&)>& body) {
  plait::transport::thread::run_team(ranks.count, [&](plait::transport::Transport& inner) {
    std::unique_ptr<wrapped::SeveralNodes> nodes;
    plait::transport::Transport* transport = &inner;
    if (ranks.on_a_node > 0) {
      nodes = std::make_unique<wrapped::SeveralNodes>(inner, ranks.on_a_node);
      transport = nodes.get();
    }
    body(plait::core::comm_over(std::shared_ptr<plait::transport::Transport>(transport, [](auto*) {})));
  });
}

/// Delays a rank at random, so that the ranks make their calls at different times.
class RandomDelay {
 public:
  RandomDelay(int seed, int rank) : random_(static_cast<std::uint32_t>(seed * 100 + rank)) {}
  /// Returns a random number from 0 to `max`.
  std::int64_t up_to(std::int64_t max) { return std::uniform_int_distribution<std::int64_t>(0, max)(random_); }
  void sleep_randomly() {
    if (up_to(3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(up_to(400)));
  }

 private:
  std::mt19937 random_;
};

class StreamFolder : public plait_test::FolderTest {
 protected:
  std::string path(const std::string& name = "a") const { return FolderTest::path(name); }
  /// Makes a file of the numbers 0, 1, 2, ... after a header of a few bytes.
  std::string numbered(std::int64_t count, const std::string& name = "a") const {
    Numbers numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    std::ofstream out(path(name), std::ios::binary);
    out.write("headed..", kHead);
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size() * sizeof(std::int64_t)));
    return path(name);
  }
  Numbers content(const std::string& name, std::streamsize head) const {
    std::ifstream in(path(name), std::ios::binary);
    in.seekg(head);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Numbers result(text.size() / sizeof(std::int64_t));
    text.copy(reinterpret_cast<char*>(result.data()), result.size() * sizeof(std::int64_t));
    return result;
  }
  static constexpr std::streamsize kHead = 8;
};

inline plait::FileOptions whole_numbers(std::int64_t count, std::int64_t head, std::int64_t memory = 0) {
  plait::FileOptions options;
  options.shape = plait::Extents{count};
  options.element_bytes = sizeof(std::int64_t);
  options.offset = head;
  options.memory = memory;
  return options;
}

inline std::byte* bytes(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }

/// Returns the numbers that a stream reads.
inline Numbers read(plait::Stream& stream, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count), -1);
  const std::int64_t elements_read = stream.read(bytes(numbers), count);
  for (auto i = static_cast<std::size_t>(elements_read); i < numbers.size(); ++i) EXPECT_EQ(numbers[i], -1);
  numbers.resize(static_cast<std::size_t>(elements_read));
  return numbers;
}

inline Numbers range(std::int64_t first, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace stream_case
