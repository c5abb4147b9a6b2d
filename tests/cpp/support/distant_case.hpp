/// Helpers of tests in which the threads of a team, as ranks, share distant files.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/internals.hpp"
#include "folder.hpp"
#include "plait/distant.hpp"
#include "plait/error.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace plait_test {

using Bytes = std::vector<std::byte>;

/// Returns bytes that depend on their position and on the seed.
inline Bytes make_bytes(std::size_t count, unsigned seed) {
  Bytes result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::byte>((i * 2654435761U + seed * 40503U + i / 251) >> 7U);
  return result;
}

/// The folder of each test contains one file for the "disk" of each rank.
class DistantTest : public FolderTest {
 protected:
  std::string disk(int rank) const { return path("disk-" + std::to_string(rank)); }
  /// Returns the options to open the file on the disk of a rank.
  plait::DistantOptions disk_options(int rank, plait::DistantMode mode = plait::DistantMode::kWrite) const {
    return {disk(rank), mode, false};
  }
  /// Runs `body(comm)` on each of `ranks` ranks, of which `ranks_per_node` are on each node.
  static void on_ranks(int ranks, int ranks_per_node, const std::function<void(const plait::Comm&)>& body) {
    plait::transport::thread::run_team(ranks, [&](plait::transport::Transport& inner) {
      const auto transport = std::make_shared<wrapped::SeveralNodes>(inner, ranks_per_node);
      body(plait::core::comm_over(transport));
    });
  }
  /// Expects a call to fail with a message that contains `part`.
  template <typename Call>
  static void expect_error(Call&& call, const std::string& part) {
    std::string text = "no error";
    try {
      call();
    } catch (const plait::Error& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n  does not say\n" << part;
  }
};

}  // namespace plait_test
