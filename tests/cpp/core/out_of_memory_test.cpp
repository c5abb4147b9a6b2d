// Makes each allocation of one rank in a collective call fail in turn: all ranks get the same error, and no rank waits
// for ever.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "core/comm/internals.hpp"
#include "folder.hpp"
#include "oracle.hpp"
#include "plait/distant.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "plait/redistribute.hpp"
#include "plait/shared_file.hpp"
#include "plait/stream.hpp"
#include "transport/thread/team.hpp"
#include "watchdog.hpp"
#include "wrapped_transport.hpp"

namespace {

using namespace plait;
using plait_test::Watchdog;
using transport::Transport;

constexpr int kRanks = 3;
/// The tests make one of every kInterval allocations fail; fewer under sanitizers, which take ten times as long.
const std::int64_t kInterval = oracle::kSanitized ? 29 : oracle::is_thorough() ? 1 : 7;

/// A collective call that is prepared before allocations fail, and a description of its result, which is the same on
/// all ranks.
struct Call {
  template <std::invocable Body>
  Call(Body body) : make(std::move(body)) {}
  Call(std::function<void()> body, std::function<std::string()> outcome)
      : make(std::move(body)), describe_result(std::move(outcome)) {}
  std::function<void()> make;
  std::function<std::string()> describe_result = [] { return std::string(); };
};
using Prepare = std::function<Call(const Comm&)>;

/// The error of each rank, or its result; `was_reached` is false if the victim makes fewer than n allocations.
struct Outcome {
  std::vector<std::string> results = std::vector<std::string>(kRanks);
  bool was_reached = true;
};

/// Prepares a call on each rank and makes it, while the n-th allocation of rank `victim` fails.
Outcome run_once(const Prepare& prepare, int ranks_per_node, int victim, std::int64_t n) {
  Outcome outcome;
  transport::thread::run_team(kRanks, [&](Transport& inner) {
    wrapped::LikeProcesses processes(inner);
    std::optional<wrapped::SeveralNodes> nodes;
    Transport* transport = &processes;
    if (ranks_per_node > 0) transport = &nodes.emplace(processes, ranks_per_node);
    const Comm comm = plait::core::comm_over(std::shared_ptr<Transport>(transport, [](auto*) {}));
    const Call call = prepare(comm);
    std::string& result = outcome.results[static_cast<std::size_t>(inner.rank())];
    const bool fails = inner.rank() == victim;
    result.reserve(4096);
    if (fails) allocations::fail_at(n);
    bool has_succeeded = false;
    try {
      call.make();
      has_succeeded = true;
    } catch (const Error& error) {
      if (!allocations::failed() && fails) ADD_FAILURE() << error.what();
      result = error.what();
    } catch (const std::exception& error) {
      result = std::string("not an Error: ") + error.what();
    }
    if (fails) outcome.was_reached = allocations::failed();
    if (has_succeeded) result = call.describe_result();
    // A barrier: no rank may free memory that other ranks still use.
    std::array<std::int64_t, 1> lowest{inner.rank()};
    inner.reduce_min(lowest);
  });
  return outcome;
}

/// Checks for different victims, and for one of every `interval` allocations, that all ranks get the same error or the
/// same result.
void try_all(const std::string& name, const Prepare& prepare, std::int64_t interval = kInterval) {
  for (const int ranks_per_node : {0, 1, 2}) {
    for (const int victim : {0, 1}) {
      std::int64_t n = 1;
      for (; n < 5000; n += interval) {
        const std::string what = name + ", " + std::to_string(ranks_per_node) + " a node, allocation " +
                                 std::to_string(n) + " of rank " + std::to_string(victim);
        const Watchdog watchdog(what);
        const Outcome outcome = run_once(prepare, ranks_per_node, victim, n);
        if (!outcome.was_reached) break;
        for (const std::string& result : outcome.results) {
          ASSERT_EQ(result, outcome.results[0]) << what;
          ASSERT_EQ(result.find("not an Error"), std::string::npos) << what << ": " << result;
        }
      }
      ASSERT_GT(n, 1) << name;
      ASSERT_LT(n, 5000) << name;
    }
  }
}

using Numbers = std::vector<std::int64_t>;

class OutOfMemory : public plait_test::FolderTest {
 protected:
  FileOptions options(const std::string& strategy = "") const {
    FileOptions result;
    result.shape = Extents{12, 10};
    result.dtype = "<i8";
    result.memory = 2048;
    result.strategy = strategy;
    return result;
  }
  /// Writes a file of 12 x 10 numbers: 0, 1, 2, ...
  void make_file(const std::string& name) const {
    File file = File::open(path(name), Mode::kWrite, options());
    Numbers numbers(120);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    const std::array<ConstPart, 1> part{ConstPart{reinterpret_cast<std::byte*>(numbers.data()), {80, 8}}};
    file.write(Layout::parse("12x10 (*, *)"), part);
    file.close();
  }
};

const char* const kLayout = "12x10 (cyclic, *) onto (3)";

TEST_F(OutOfMemory, Opening) {
  make_file("a.npy");
  for (const Mode mode : {Mode::kRead, Mode::kReadWrite, Mode::kWrite})
    try_all("open", [&](const Comm& comm) -> Call {
      const auto name = std::make_shared<const std::string>(path("a.npy"));
      const auto call_options = std::make_shared<const FileOptions>(mode == Mode::kWrite ? options() : FileOptions());
      return [name, call_options, comm, mode] { const File file = File::open(*name, mode, *call_options, comm); };
    });
}

std::string describe_type(const ArrayType& type) {
  std::string text = type.dtype + ' ' + std::to_string(type.element_bytes) + (type.order == Order::kC ? " C" : " F");
  for (const std::int64_t extent : type.shape) text += ' ' + std::to_string(extent);
  return text;
}

/// Reads the rows of a rank in kLayout. The numbers are right only if the rank has the right offset of the array.
/// Returns a text that says if they are right.
std::string read_own_rows(File& file, int rank) {
  Numbers numbers(40, -1);
  const std::array<MutablePart, 1> part{MutablePart{reinterpret_cast<std::byte*>(numbers.data()), {80, 8}}};
  file.read(Layout::parse(kLayout), part);
  for (std::int64_t i = 0; i < 40; ++i)
    if (numbers[static_cast<std::size_t>(i)] != 10 * (rank + i / 10 * kRanks) + i % 10)
      return "other numbers on rank " + std::to_string(rank);
  return "its numbers";
}

/// Only rank 0 reads the properties of a file. The other ranks receive all of them or none.
TEST_F(OutOfMemory, FilesHaveTheSameTypeOnAllRanks) {
  make_file("a.npy");
  for (const Mode mode : {Mode::kRead, Mode::kReadWrite, Mode::kWrite})
    try_all("open and compare", [&](const Comm& comm) -> Call {
      const auto name = std::make_shared<const std::string>(path("a.npy"));
      const auto call_options = std::make_shared<const FileOptions>(mode == Mode::kWrite ? options() : FileOptions{});
      const auto file = std::make_shared<std::optional<File>>();
      return {[name, call_options, file, comm, mode] { file->emplace(File::open(*name, mode, *call_options, comm)); },
              [file, mode, rank = comm.rank()] {
                const std::string type = describe_type((*file)->type());
                return mode == Mode::kWrite ? type : type + ", " + read_own_rows(**file, rank);
              }};
    });
}

TEST_F(OutOfMemory, ReadingAndWriting) {
  make_file("a.npy");
  for (const char* const strategy : {"direct", "two-phase"})
    for (const bool write : {false, true})
      try_all(std::string(write ? "write " : "read ") + strategy, [&](const Comm& comm) -> Call {
        FileOptions call_options;
        call_options.strategy = strategy;
        call_options.memory = 2048;
        auto file = std::make_shared<File>(File::open(path("a.npy"), Mode::kReadWrite, call_options, comm));
        auto array = std::make_shared<Numbers>(40);
        auto layout = std::make_shared<Layout>(Layout::parse(kLayout));
        std::byte* const data = reinterpret_cast<std::byte*>(array->data());
        const auto source = std::make_shared<const std::array<ConstPart, 1>>(std::array{ConstPart{data, {80, 8}}});
        const auto target = std::make_shared<const std::array<MutablePart, 1>>(std::array{MutablePart{data, {80, 8}}});
        return [file, array, layout, source, target, write] {
          if (write) {
            file->write(*layout, *source);
          } else {
            file->read(*layout, *target);
          }
        };
      });
}

TEST_F(OutOfMemory, Closing) {
  try_all("close", [&](const Comm& comm) -> Call {
    auto file = std::make_shared<File>(File::open(path("b.npy"), Mode::kWrite, options(), comm));
    return [file] { file->close(); };
  });
}

TEST_F(OutOfMemory, Streams) {
  make_file("a.npy");
  for (const StreamMode mode : {StreamMode::kOrdered, StreamMode::kEqual, StreamMode::kSame})
    for (const bool write : {false, true})
      try_all("stream", [&](const Comm& comm) -> Call {
        auto file = std::make_shared<File>(File::open(path("a.npy"), Mode::kReadWrite, {}, comm));
        auto stream = std::make_shared<Stream>(*file, mode);
        auto array = std::make_shared<Numbers>(40);
        return [file, stream, array, write] {
          std::byte* const data = reinterpret_cast<std::byte*>(array->data());
          if (write) {
            stream->write(data, 40);
          } else {
            stream->read(data, 40);
          }
        };
      });
}

TEST_F(OutOfMemory, OpeningStreams) {
  make_file("a.npy");
  for (const StreamMode mode : {StreamMode::kOwn, StreamMode::kShared, StreamMode::kSame})
    try_all("stream", [&](const Comm& comm) -> Call {
      auto file = std::make_shared<File>(File::open(path("a.npy"), Mode::kReadWrite, {}, comm));
      return [file, mode] { const Stream stream(*file, mode); };
    });
}

/// The arrays of a rank for a redistribution.
struct Arrays {
  explicit Arrays(int rank) : columns(target.local_shape(rank)[1]) {}
  Layout source = Layout::parse("12x10 (block, *) onto (3)");
  Layout target = Layout::parse("12x10 (*, cyclic) onto (3)");
  std::int64_t columns;
  Numbers from = Numbers(40);
  Numbers to = Numbers(48);
  std::array<ConstPart, 1> source_part{ConstPart{reinterpret_cast<const std::byte*>(from.data()), {80, 8}}};
  std::array<MutablePart, 1> target_part{MutablePart{reinterpret_cast<std::byte*>(to.data()), {columns * 8, 8}}};
};

TEST_F(OutOfMemory, Redistributing) {
  for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{256}})
    try_all("redistribute", [&](const Comm& comm) -> Call {
      auto arrays = std::make_shared<Arrays>(comm.rank());
      RedistributionOptions call_options;
      call_options.memory = memory;
      return [arrays, comm, call_options] {
        redistribute(arrays->source, arrays->source_part, arrays->target, arrays->target_part, 8, comm, call_options);
      };
    });
}

TEST_F(OutOfMemory, OpeningDistantFiles) {
  try_all("open distant files", [&](const Comm& comm) -> Call {
    // Opens a first file, which makes the objects that all distant files of a communicator share.
    DistantFile::open({}, comm).close();
    const auto call_options = std::make_shared<const DistantOptions>(
        DistantOptions{path("disk-" + std::to_string(comm.rank())), DistantMode::kWrite, false});
    return [call_options, comm] { const DistantFile file = DistantFile::open(*call_options, comm); };
  });
}

TEST_F(OutOfMemory, ClosingDistantFiles) {
  try_all("close distant files", [&](const Comm& comm) -> Call {
    const DistantOptions call_options{path("disk-" + std::to_string(comm.rank())), DistantMode::kWrite, false};
    auto file = std::make_shared<DistantFile>(DistantFile::open(call_options, comm));
    return [file] { file->close(); };
  });
}

TEST_F(OutOfMemory, OpeningSharedFiles) {
  for (const bool is_striped : {false, true})
    for (const SharedFileMode mode : {SharedFileMode::kWrite, SharedFileMode::kReadWrite}) {
      const Prepare prepare = [&](const Comm& comm) -> Call {
        const auto call_options = std::make_shared<SharedFileOptions>();
        call_options->path = path(is_striped ? "striped" : "one");
        call_options->striped = is_striped;
        call_options->persistent = true;
        // Makes the objects that all shared files of a communicator share, and the file that mode r+ opens.
        SharedFile::open(*call_options, comm).close();
        call_options->mode = mode;
        call_options->striped = std::nullopt;
        if (mode == SharedFileMode::kWrite) call_options->striped = is_striped;
        return [call_options, comm] { const SharedFile file = SharedFile::open(*call_options, comm); };
      };
      try_all("open a shared file", prepare, 11 * kInterval);
    }
}

/// The files are persistent and atomic and have the name of an existing file, which close() replaces.
TEST_F(OutOfMemory, ClosingAndResizingSharedFiles) {
  for (const bool is_striped : {false, true})
    for (const bool resize : {false, true}) {
      const Prepare prepare = [&](const Comm& comm) -> Call {
        const SharedFileOptions call_options{
            .path = path(is_striped ? "striped" : "one"), .persistent = true, .atomic = true, .striped = is_striped};
        SharedFile::open(call_options, comm).close();
        auto file = std::make_shared<SharedFile>(SharedFile::open(call_options, comm));
        return [file, resize] { resize ? file->resize(100000) : file->close(); };
      };
      try_all(resize ? "resize a shared file" : "close an atomic shared file", prepare, 3 * kInterval);
    }
}

TEST_F(OutOfMemory, RedistributingByAPlan) {
  try_all("run", [&](const Comm& comm) -> Call {
    auto arrays = std::make_shared<Arrays>(comm.rank());
    auto plan = std::make_shared<Redistribution>(arrays->source, arrays->target, 8, comm, RedistributionOptions());
    return [arrays, plan] { plan->run(arrays->source_part, arrays->target_part); };
  });
}

}  // namespace
