// Shared files, in which each rank stores some stripes on its disk: every rank reads and writes all of the file.
#include "plait/shared_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/comm/internals.hpp"
#include "distant_case.hpp"
#include "plait/error.hpp"
#include "transport/transport.hpp"

namespace {

using plait::Comm;
using plait::DistantRequest;
using plait::SharedFile;
using plait::SharedFileMode;
using plait::SharedFileOptions;
using plait_test::Bytes;
using plait_test::make_bytes;

void barrier(const Comm& comm) {
  std::int64_t unused = 0;
  plait::core::get_transport(comm).reduce_min({&unused, 1});
}

/// The parameter is the number of ranks, and the number of ranks on each node.
class SharedFileTest : public plait_test::DistantTest, public testing::WithParamInterface<std::pair<int, int>> {
 protected:
  void everywhere(const std::function<void(const Comm&)>& body) const {
    on_ranks(GetParam().first, GetParam().second, body);
  }
  SharedFileOptions striped(std::int64_t unit, SharedFileMode mode = SharedFileMode::kWrite) const {
    SharedFileOptions options;
    options.path = path("data");
    options.mode = mode;
    options.unit = unit;
    options.striped = true;
    return options;
  }
};

/// Every rank writes disjoint ranges of uneven sizes, with several pending requests; then every rank reads the whole
/// file.
TEST_P(SharedFileTest, RequestsOfAllSizesAccessTheirStripes) {
  for (const std::int64_t unit : {7, 4096, 300000})
    everywhere([&](const Comm& comm) {
      SharedFile file = SharedFile::open(striped(unit), comm);
      EXPECT_TRUE(file.is_striped());
      EXPECT_EQ(file.components(), comm.size());
      EXPECT_EQ(file.unit(), unit);
      const std::int64_t size = unit == 7 ? 20001 : 1300001;
      const Bytes whole = make_bytes(static_cast<std::size_t>(size), 9);
      std::mt19937 random(3);
      std::vector<DistantRequest> requests;
      int part_number = 0;  // the ranks write the parts in turn
      for (std::int64_t at = 0; at < size; ++part_number) {
        const std::int64_t part_bytes = std::min(
            size - at, 1 + static_cast<std::int64_t>(random()) % (part_number % 3 == 0 ? size / 2 : size / 40));
        if (part_number % comm.size() == comm.rank())
          requests.push_back(file.start_write(at, whole.data() + at, part_bytes));
        at += part_bytes;
      }
      plait::wait_all(requests);
      barrier(comm);
      EXPECT_EQ(file.size(), size);
      Bytes in(whole.size());
      file.read(0, in.data(), size);
      EXPECT_EQ(in, whole);
      requests.clear();
      std::ranges::fill(in, std::byte{0});
      std::vector<std::int64_t> positions;
      for (std::int64_t at = 0; at < size; at += 123457) positions.push_back(at);
      for (const std::int64_t at : positions)
        requests.push_back(file.start_read(at, in.data() + at, std::min<std::int64_t>(123457, size - at)));
      plait::wait_all(requests);
      EXPECT_EQ(in, whole);
      file.sync();
      file.close();
      EXPECT_FALSE(file.is_open());
    });
}

TEST_P(SharedFileTest, TheLastByteOfAnyComponentIsTheEnd) {
  everywhere([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(10), comm);
    const std::int64_t position = std::int64_t{5} << 40;
    // The other ranks learn the end of this write only by a request to the rank that stores it.
    if (comm.rank() == comm.size() - 1) {
      try {
        file.write(position, "far", 3);
      } catch (const plait::Error& error) {
        ASSERT_EQ(error.system_code(), EFBIG) << error.what();  // a limit of the file system
        file.write(35, "far", 3);
      }
    }
    barrier(comm);
    const std::int64_t end = file.size();
    Bytes in(200, std::byte{1});
    file.start_read(end - 38, in.data(), 35).wait();
    for (std::size_t i = 0; i < 35; ++i) EXPECT_EQ(in[i], std::byte{0});
    file.read(end - 3, in.data(), 3);
    EXPECT_EQ(0, std::memcmp(in.data(), "far", 3));
    expect_error([&] { file.read(end - 3, in.data(), 4); }, "it ends at " + std::to_string(end));
    expect_error([&] { file.start_read(end, in.data(), 100).wait(); },
                 "cannot read 100 bytes at offset " + std::to_string(end) + " of the shared file " + path("data"));
    expect_error([&] { file.write(INT64_MAX, "x", 1); }, "passes 2^63 - 1");
    barrier(comm);
    file.resize(25);
    EXPECT_EQ(file.size(), 25);
    barrier(comm);
    file.resize(38);
    file.read(0, in.data(), 38);
    for (std::size_t i = 0; i < 38; ++i) EXPECT_EQ(in[i], std::byte{0});
    file.close();
  });
}

TEST_P(SharedFileTest, FilesThatAreOpenToReadAreNotWritten) {
  everywhere([&](const Comm& comm) {
    SharedFileOptions options = striped(1000);
    options.persistent = true;
    SharedFile file = SharedFile::open(options, comm);
    file.resize(5000);
    file.close();
    barrier(comm);
    options.mode = SharedFileMode::kRead;
    file = SharedFile::open(options, comm);
    Bytes in(5000);
    file.read(0, in.data(), 5000);
    expect_error([&] { file.write(0, in.data(), 1); }, "is open only to read");
    expect_error([&] { file.start_write(0, in.data(), 1); }, "is open only to read");
    expect_error([&] { file.resize(5); }, "is open only to read");
    expect_error([&] { file.owner(comm.size()); }, "0 to " + std::to_string(comm.size() - 1));
    barrier(comm);
    file.close();
    expect_error([&] { file.size(); }, "has been closed");
    expect_error([&] { file.sync(); }, "has been closed");
  });
}

/// On full disks the pieces of a request fail at several offsets, in any order.
TEST_P(SharedFileTest, ErrorsNameTheLowestOffsetThatFailed) {
  rlimit old{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_FSIZE, &old));
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  everywhere([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(100), comm);
    barrier(comm);
    if (comm.rank() == 0) {
      const rlimit small_limit{1000, old.rlim_max};
      ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &small_limit));
    }
    barrier(comm);
    const Bytes bytes(10000 * static_cast<std::size_t>(comm.size()));
    for (int i = 0; i < 20; ++i) {
      DistantRequest request = file.start_write(50, bytes.data(), static_cast<std::int64_t>(bytes.size()));
      expect_error([&] { request.wait(); }, "(offset 50 of the shared file " + path("data") + ")");
      expect_error([&] { request.wait(); }, "data.s0of" + std::to_string(comm.size()));
    }
    // Other writes still work.
    file.write(50, bytes.data(), 100);
    barrier(comm);
    if (comm.rank() == 0) {
      ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &old));
    }
    file.close();
  });
  std::signal(SIGXFSZ, handler);
}

TEST_P(SharedFileTest, FilesAreReopenedByAnyNumberOfRanks) {
  const Bytes whole = make_bytes(250001, 4);
  SharedFileOptions options = striped(999);
  options.persistent = true;
  everywhere([&](const Comm& comm) {
    SharedFile file = SharedFile::open(options, comm);
    if (comm.rank() == 0) file.write(0, whole.data(), 250001);
    file.close();
  });
  options.mode = SharedFileMode::kReadWrite;
  options.striped = std::nullopt;
  for (const auto& [ranks, ranks_per_node] : {std::pair(1, 1), std::pair(2, 1), std::pair(5, 2)})
    on_ranks(ranks, ranks_per_node, [&](const Comm& comm) {
      SharedFile file = SharedFile::open(options, comm);
      EXPECT_EQ(file.components(), GetParam().first);
      EXPECT_EQ(file.unit(), 999);
      for (int i = 0; i < file.components(); ++i) EXPECT_LT(file.owner(i), comm.size());
      Bytes in(whole.size());
      file.start_read(0, in.data(), 250001).wait();
      EXPECT_EQ(in, whole);
      barrier(comm);
      if (comm.rank() == 0) file.write(100, whole.data() + 100, 20000);
      file.close();
    });
}

/// With one rank, the removed component 0 is the only one, so that no component is left.
TEST_P(SharedFileTest, OpeningFailsIfAComponentIsMissing) {
  SharedFileOptions options = striped(100);
  options.persistent = true;
  everywhere([&](const Comm& comm) {
    SharedFile file = SharedFile::open(options, comm);
    file.resize(1000);
    file.close();
    barrier(comm);
    if (comm.rank() == 0)
      for (const auto& entry : std::filesystem::directory_iterator(folder_))
        if (entry.path().filename().string().starts_with("data.c0of")) std::filesystem::remove(entry.path());
    barrier(comm);
    SharedFileOptions read_options = options;
    read_options.mode = SharedFileMode::kRead;
    expect_error([&] { SharedFile::open(read_options, comm); },
                 comm.size() > 1 ? "no rank sees 0, written on host" : "no rank sees a component of it");
  });
}

/// If a rank is killed during a replacement, either the old file or the new one remains.
TEST_P(SharedFileTest, FilesLeftByKilledRanksAreIgnored) {
  SharedFileOptions options = striped(100);
  options.persistent = true;
  const auto write_file = [&](const char* text) {
    everywhere([&](const Comm& comm) {
      SharedFile file = SharedFile::open(options, comm);
      if (comm.rank() == 0) file.write(0, text, 3);
      file.close();
    });
  };
  const auto read_file = [&] {
    std::string text(3, ' ');
    everywhere([&](const Comm& comm) {
      SharedFileOptions read_options = options;
      read_options.mode = SharedFileMode::kRead;
      SharedFile file = SharedFile::open(read_options, comm);
      if (comm.rank() == 0) file.read(0, text.data(), 3);
      file.close();
    });
    return text;
  };
  const auto all_files = [&] {
    std::vector<std::filesystem::path> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path());
    std::ranges::sort(names);
    return names;
  };
  write_file("old");
  const std::filesystem::path saved = folder_ / "saved";
  std::filesystem::create_directory(saved);
  for (const auto& name : all_files())
    if (!std::filesystem::is_directory(name)) std::filesystem::copy(name, saved / name.filename());
  write_file("new");
  EXPECT_EQ(read_file(), "new");
  // The old file still exists, as if it could not be removed. The description of the new file states that it replaces
  // the old one.
  for (const auto& entry : std::filesystem::directory_iterator(saved))
    std::filesystem::copy(entry.path(), folder_ / entry.path().filename());
  EXPECT_EQ(read_file(), "new");
  // The new file is incomplete: the description of component 0, which is written last, is missing.
  for (const auto& name : all_files())
    if (name.filename().string().starts_with("data.c0of") && name.extension() == ".meta" &&
        !std::filesystem::exists(saved / name.filename()))
      std::filesystem::remove(name);
  EXPECT_EQ(read_file(), "old");
  write_file("3rd");
  EXPECT_EQ(read_file(), "3rd");
  // A component and its description for each rank, and the folder `saved`.
  EXPECT_EQ(all_files().size(), 2 * static_cast<std::size_t>(GetParam().first) + 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedFileTest,
                         testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(2, 2), std::pair(3, 1),
                                         std::pair(4, 2), std::pair(6, 1)),
                         [](const auto& each) {
                           return std::to_string(each.param.first) + "RanksNodesOf" + std::to_string(each.param.second);
                         });

using SharedFileOfOneProcess = plait_test::DistantTest;

TEST_F(SharedFileOfOneProcess, IsAnOrdinaryFile) {
  SharedFileOptions options;
  options.path = path("data");
  options.persistent = true;
  SharedFile file = SharedFile::open(options);
  EXPECT_FALSE(file.is_striped());
  EXPECT_EQ(file.components(), 1);
  file.write(5, "bytes", 5);
  file.close();
  std::ifstream in(path("data"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), std::string(5, '\0') + "bytes");
}

TEST_F(SharedFileOfOneProcess, UnitsFollowFromTheSizeOfRequests) {
  SharedFileOptions options;
  options.path = path("data");
  options.striped = true;
  for (const auto& [request, unit] : {std::pair<std::int64_t, std::int64_t>{0, 32 << 10},
                                      {1, 4 << 10},
                                      {4096, 4096},
                                      {4097, 8192},
                                      {30000, 32 << 10},
                                      {std::int64_t{1} << 40, 4 << 20}}) {
    options.request = request;
    EXPECT_EQ(SharedFile::open(options).unit(), unit) << request;
  }
  options.unit = 12345;
  EXPECT_EQ(SharedFile::open(options).unit(), 12345);
}

}  // namespace
