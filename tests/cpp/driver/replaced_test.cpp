// Files that are replaced while ranks open them: the ranks read one of the files, completely.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/comm/internals.hpp"
#include "folder.hpp"
#include "oracle.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

namespace fs = std::filesystem;
using plait::Comm;
using plait::Error;
using plait::File;
using plait::Layout;
using plait::Mode;
using plait::transport::Transport;

constexpr int kRanks = 3;

/// Calls `action(n)` before the n-th call that its worker makes, counted from 0.
class CallCounter : public wrapped::WrappedTransport {
 public:
  CallCounter(Transport& inner, std::function<void(int)> action)
      : WrappedTransport(inner), action_(std::move(action)) {}
  wrapped::Gates& gates() override { return count_call(), inner_.gates(); }
  std::span<std::byte> note(int node_rank) override { return count_call(), inner_.note(node_rank); }
  std::unique_ptr<wrapped::Ticket> send(int to, std::span<const std::byte> bytes) override {
    return count_call(), inner_.send(to, bytes);
  }
  std::unique_ptr<wrapped::Ticket> receive(int from, std::span<std::byte> bytes) override {
    return count_call(), inner_.receive(from, bytes);
  }
  void reduce_min(std::span<std::int64_t> values) override { count_call(), inner_.reduce_min(values); }
  void broadcast(std::span<std::byte> bytes, int root) override { count_call(), inner_.broadcast(bytes, root); }

 private:
  void count_call() { action_(calls_++); }
  std::function<void(int)> action_;
  int calls_ = 0;
};

/// The content of a file of equal bytes.
struct Content {
  std::int64_t size = 0;  ///< a multiple of kRanks
  int value = 0;          ///< of each byte
  std::string text() const { return std::to_string(size) + " times " + std::to_string(value); }
};

void write_file(const std::string& url, const Content& content) {
  plait::FileOptions options;
  options.shape = {content.size};
  options.dtype = "|u1";
  auto file = File::open(url, Mode::kWrite, options);
  const std::vector<std::byte> bytes(static_cast<std::size_t>(content.size), static_cast<std::byte>(content.value));
  const plait::ConstPart part{bytes.data(), {}};
  file.write(Layout::parse(std::to_string(content.size) + " (*)"), {&part, 1});
  file.close();
}

/// The results of ranks that open a file together.
struct Outcome {
  std::vector<std::string> results;  ///< of each rank: the content that it read, or an error
  int max_calls = 0;
};

/// All ranks open and read the file. During the opening, `replace(call)` is called before each call of rank
/// `acting_rank`.
Outcome open_by_all(const std::string& url, Mode mode, int acting_rank, const std::function<void(int)>& replace) {
  Outcome outcome;
  outcome.results.resize(kRanks);
  plait::FileOptions options;
  if (!url.ends_with(".npy") && !url.starts_with("distant:")) {
    options.shape = {12};
    options.dtype = "|u1";
  }
  plait::transport::thread::run_team(kRanks, [&](Transport& inner) {
    bool is_opening = true;
    CallCounter counter(inner, [&](int call) {
      if (!is_opening || inner.rank() != acting_rank) return;
      outcome.max_calls = call;
      replace(call);
    });
    const Comm comm = plait::core::comm_over(std::shared_ptr<Transport>(&counter, [](auto*) {}));
    std::string& actual = outcome.results[static_cast<std::size_t>(inner.rank())];
    try {
      auto file = File::open(url, mode, options, comm);
      is_opening = false;
      const std::int64_t size = file.type().shape.at(0);
      std::vector<std::byte> bytes(static_cast<std::size_t>(size / kRanks));
      const plait::MutablePart part{bytes.data(), {}};
      file.read(Layout::parse(std::to_string(size) + " (block) onto (" + std::to_string(kRanks) + ")"), {&part, 1});
      actual = Content{size, std::to_integer<int>(bytes.front())}.text();
      if (std::ranges::count(bytes, bytes.front()) != size / kRanks) actual += ", and others";
      file.close();
    } catch (const Error& error) {
      actual = error.what();
      EXPECT_EQ(error.system_code(), ESTALE) << actual;
    }
  });
  return outcome;
}

class ReplacedFileTest : public plait_test::FolderTest {
 protected:
  /// Tests a replacement at every point of the opening: replaces the file before the first call of a rank, in the next
  /// trial before the second call, and so on. Every rank must read the same file.
  /// url: the URL that creates the file. name: the name that opens it.
  void replace_before_each_call(const std::string& url, const std::string& name, const Content& before,
                                const Content& after, Mode mode = Mode::kRead) {
    for (const int acting_rank : {0, kRanks - 1}) {
      for (int replace_at = 0, last_call = 0; replace_at <= last_call; ++replace_at) {
        write_file(url, before);
        std::once_flag once;
        const Outcome outcome = open_by_all(name, mode, acting_rank, [&](int call) {
          if (call >= replace_at) std::call_once(once, [&] { write_file(url, after); });
        });
        if (replace_at == 0) last_call = outcome.max_calls;
        for (const std::string& actual : outcome.results)
          EXPECT_EQ(actual, outcome.results[0]) << "step " << replace_at;
        EXPECT_TRUE(outcome.results[0] == before.text() || outcome.results[0] == after.text())
            << "step " << replace_at << ": " << outcome.results[0];
      }
    }
  }
  /// Replaces the file before every call, so that opening never succeeds.
  void replace_repeatedly(const std::string& url, const std::string& name) {
    write_file(url, {12, 1});
    // A copy has another inode, so that the name refers to another file.
    const auto replace = [&](int) {
      fs::copy_file(name, path("spare"));
      fs::rename(path("spare"), name);
    };
    const Outcome outcome = open_by_all(url, Mode::kRead, 0, replace);
    for (const std::string& actual : outcome.results) {
      EXPECT_EQ(actual, outcome.results[0]);
      EXPECT_NE(actual.find("replace"), std::string::npos) << actual;
    }
  }
};

TEST_F(ReplacedFileTest, NumpyFilesAreReadWhole) {
  replace_before_each_call(path("a.npy"), path("a.npy"), {12, 1}, {90, 2});
  replace_before_each_call(path("a.npy"), path("a.npy"), {90, 1}, {12, 2});
  replace_before_each_call(path("a.npy"), path("a.npy"), {12, 1}, {12, 2}, Mode::kReadWrite);
}

TEST_F(ReplacedFileTest, RawFilesAreReadWhole) { replace_before_each_call(path("a"), path("a"), {12, 1}, {12, 2}); }

TEST_F(ReplacedFileTest, StripedFilesAreReadWhole) {
  const std::string url = "stripe:" + path("a") + "?disks=" + folder_.string() + ',' + folder_.string() + "&unit=5";
  replace_before_each_call(url, "stripe:" + path("a"), {12, 1}, {12, 2});
  replace_before_each_call(url, "stripe:" + path("a"), {12, 1}, {12, 2}, Mode::kReadWrite);
}

TEST_F(ReplacedFileTest, ArraysInSharedFilesAreReadWhole) {
  for (const std::string is_striped : {"false", "true"}) {
    const std::string url = "distant:" + path("striped-" + is_striped) + "?striped=" + is_striped;
    replace_before_each_call(url, url, {12, 1}, {90, 2});
    replace_before_each_call(url, url, {12, 1}, {12, 2});
  }
}

TEST_F(ReplacedFileTest, EndlessReplacementsAreAnError) {
  replace_repeatedly(path("a.npy"), path("a.npy"));
  if (oracle::is_thorough()) replace_repeatedly("distant:" + path("b") + "?striped=false", path("b"));
}

}  // namespace
