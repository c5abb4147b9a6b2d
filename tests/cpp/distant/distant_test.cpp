// Distant files, which are on the disks of single ranks: every rank accesses each of them, by messages to the owner or,
// on the owner's node, directly.
#include "plait/distant.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
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
using plait::DistantFile;
using plait::DistantMode;
using plait::DistantOptions;
using plait::DistantRequest;
using plait_test::Bytes;
using plait_test::make_bytes;

void barrier(const Comm& comm) {
  std::int64_t unused = 0;
  plait::core::get_transport(comm).reduce_min({&unused, 1});
}

/// The parameter is the number of ranks, and the number of ranks on each node.
class DistantFileTest : public plait_test::DistantTest, public testing::WithParamInterface<std::pair<int, int>> {
 protected:
  void everywhere(const std::function<void(const Comm&)>& body) const {
    on_ranks(GetParam().first, GetParam().second, body);
  }
};

TEST_P(DistantFileTest, EveryRankAccessesEveryDisk) {
  const std::vector<std::int64_t> sizes{0, 1, 4096, 262143, 262144, 262145, 3 << 20};
  everywhere([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    for (int server = 0; server < comm.size(); ++server)
      EXPECT_EQ(file.direct(server), plait::core::get_transport(comm).rank_on_node(server) >= 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = static_cast<std::size_t>(sizes[i]);
      const std::int64_t max_file_bytes = (sizes[i] + 5) * comm.size();  // 5 bytes between the parts of the ranks
      for (int server = 0; server < comm.size(); ++server) {
        const Bytes out = make_bytes(size, static_cast<unsigned>(comm.rank() * 7 + server));
        file.write((sizes[i] + 5) * comm.rank(), out.data(), sizes[i], server);
      }
      barrier(comm);
      for (int server = 0; server < comm.size(); ++server) {
        const int writer = (comm.rank() + 1) % comm.size();
        Bytes in(size);
        file.read((sizes[i] + 5) * writer, in.data(), sizes[i], server);
        EXPECT_EQ(in, make_bytes(size, static_cast<unsigned>(writer * 7 + server)));
        EXPECT_LE(file.size(server), max_file_bytes);
      }
      barrier(comm);
    }
    file.close();
    EXPECT_FALSE(file.is_open());
  });
}

TEST_P(DistantFileTest, RequestsOverlapAndEndInAnyOrder) {
  constexpr int kParts = 40;
  constexpr std::int64_t kPart = 70000;
  everywhere([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    const int server = (comm.rank() + 1) % comm.size();
    const Bytes out = make_bytes(kParts * kPart, static_cast<unsigned>(comm.rank()));
    Bytes in(out.size());
    std::vector<DistantRequest> requests;
    for (int i = kParts - 1; i >= 0; --i)
      requests.push_back(file.start_write(i * kPart, out.data() + i * kPart, kPart, server));
    plait::wait_all(requests);
    for (const DistantRequest& request : requests) EXPECT_TRUE(request.test());
    requests.clear();
    for (int i = 0; i < kParts; ++i)
      requests.push_back(file.start_read(i * kPart, in.data() + i * kPart, kPart, server));
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) request->wait();
    EXPECT_EQ(in, out);
    file.start_sync(server).wait();
    file.close();
  });
}

/// Every rank writes and reads a private range on each disk, which it compares with a copy in memory, and a shared
/// range that all ranks write at once.
TEST_P(DistantFileTest, RandomAccessesAgreeWithACopyInMemory) {
  constexpr std::int64_t kSharedBytes = 20000;
  constexpr std::int64_t kPrivateBytes = 300000;
  constexpr int kOperations = 150;
  everywhere([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    const int ranks = comm.size();
    file.resize(kSharedBytes + kPrivateBytes * ranks, comm.rank());
    barrier(comm);
    std::mt19937 random(static_cast<unsigned>(comm.rank() + 100 * ranks));
    const auto random_below = [&](std::int64_t end) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(end));
    };
    std::vector<Bytes> copies(static_cast<std::size_t>(ranks), Bytes(kPrivateBytes));
    const Bytes rank_bytes(kSharedBytes, static_cast<std::byte>(comm.rank() + 1));
    for (int operation = 0; operation < kOperations; ++operation) {
      const auto server = static_cast<int>(random_below(ranks));
      Bytes& expected = copies[static_cast<std::size_t>(server)];
      const std::int64_t base = kSharedBytes + kPrivateBytes * comm.rank();
      // A batch of pending accesses that do not overlap each other.
      std::vector<DistantRequest> requests;
      const std::int64_t cut = 1 + random_below(kPrivateBytes - 1);
      const Bytes new_bytes = make_bytes(static_cast<std::size_t>(cut), static_cast<unsigned>(random()));
      Bytes read_bytes(static_cast<std::size_t>(kPrivateBytes - cut));
      const bool reads_first_part = random_below(2) == 0;
      const std::int64_t write_at = reads_first_part ? kPrivateBytes - cut : 0;
      const std::int64_t read_at = reads_first_part ? 0 : cut;
      requests.push_back(file.start_write(base + write_at, new_bytes.data(), cut, server));
      requests.push_back(file.start_read(base + read_at, read_bytes.data(), kPrivateBytes - cut, server));
      const std::int64_t begin = random_below(kSharedBytes);
      const std::int64_t count = random_below(kSharedBytes - begin) + 1;
      Bytes shared_bytes(static_cast<std::size_t>(count));
      requests.push_back(file.start_write(begin, rank_bytes.data(), count, server));
      requests.push_back(file.start_read(begin, shared_bytes.data(), count, static_cast<int>(random_below(ranks))));
      plait::wait_all(requests);
      std::memcpy(expected.data() + write_at, new_bytes.data(), new_bytes.size());
      ASSERT_EQ(0, std::memcmp(read_bytes.data(), expected.data() + read_at, read_bytes.size()));
      // Each byte is 0 or what some rank writes there.
      for (const std::byte value : shared_bytes) ASSERT_LE(static_cast<int>(value), ranks);
    }
    barrier(comm);
    for (int server = 0; server < ranks; ++server) {
      Bytes all(kPrivateBytes);
      file.read(kSharedBytes + kPrivateBytes * comm.rank(), all.data(), kPrivateBytes, server);
      EXPECT_EQ(all, copies[static_cast<std::size_t>(server)]);
    }
    file.close();
  });
}

TEST_P(DistantFileTest, ManySmallRequestsToOneRankAreServed) {
  constexpr int kRequests = 300;
  everywhere([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    std::vector<std::int64_t> numbers(kRequests);
    std::vector<DistantRequest> requests;
    for (int i = 0; i < kRequests; ++i) {
      numbers[static_cast<std::size_t>(i)] = i * 100 + comm.rank();
      const std::int64_t position = (i * comm.size() + comm.rank()) * 8;
      requests.push_back(file.start_write(position, &numbers[static_cast<std::size_t>(i)], 8, 0));
    }
    plait::wait_all(requests);
    barrier(comm);
    std::vector<std::int64_t> all(static_cast<std::size_t>(kRequests * comm.size()));
    file.read(0, all.data(), static_cast<std::int64_t>(all.size() * 8), 0);
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], static_cast<std::int64_t>(i) / comm.size() * 100 + static_cast<std::int64_t>(i) % comm.size());
    file.close();
  });
}

TEST_P(DistantFileTest, MistakesAreErrorsAndDoNoHarm) {
  everywhere([&](const Comm& comm) {
    const int last = comm.size() - 1;
    // Only the last rank has a disk.
    DistantFile file = DistantFile::open({comm.rank() == last ? disk(last) : "", DistantMode::kWrite, false}, comm);
    Bytes bytes(100);
    if (comm.rank() == last) file.write(0, bytes.data(), 100, last);
    barrier(comm);
    expect_error([&] { file.read(50, bytes.data(), 51, last); },
                 "cannot read 51 bytes at offset 50 of " + disk(last) + " on rank " + std::to_string(last));
    expect_error([&] { file.read(50, bytes.data(), 51, last); }, "the file ends at 100");
    expect_error([&] { file.start_read(5000, bytes.data(), 1, last).wait(); }, "the file ends at 100");
    expect_error([&] { file.read(-1, bytes.data(), 1, last); }, "offset -1 was given");
    expect_error([&] { file.read(0, bytes.data(), -1, last); }, "-1 bytes were asked for");
    expect_error([&] { file.write(0, nullptr, 1, last); }, "no buffer was given");
    expect_error([&] { file.write(INT64_MAX, bytes.data(), 1, last); }, "passes 2^63 - 1");
    expect_error([&] { file.read(0, bytes.data(), 1, comm.size()); }, "has the ranks 0 to " + std::to_string(last));
    expect_error([&] { file.resize(-1, last); }, "cannot have -1 bytes");
    if (last > 0) {
      expect_error([&] { file.read(0, bytes.data(), 1, 0); }, "has no file under this handle");
      expect_error([&] { file.write(0, bytes.data(), 1, 0); }, "has no file under this handle");
      expect_error([&] { file.sync(0); }, "has no file under this handle");
    }
    // wait() of a failed request throws each time, and other requests still work.
    DistantRequest bad = file.start_read(1000000, bytes.data(), 100, last);
    EXPECT_ANY_THROW(bad.wait());
    EXPECT_ANY_THROW(bad.wait());
    file.read(0, bytes.data(), 100, last);
    barrier(comm);
    file.close();
    expect_error([&] { file.read(0, bytes.data(), 1, last); }, "has been closed");
    expect_error([&] { file.close(); }, "has been closed already");

    DistantFile reader = DistantFile::open({comm.rank() == last ? disk(last) : "", DistantMode::kRead, false}, comm);
    expect_error([&] { reader.write(0, bytes.data(), 1, last); }, "opened to read only");
    expect_error([&] { reader.resize(1, last); }, "opened to read only");
    EXPECT_EQ(reader.size(last), 100);
    reader.close();
    // All ranks get the error if one rank cannot open its file.
    expect_error(
        [&] { DistantFile::open({comm.rank() == last ? path("none/x") : "", DistantMode::kWrite, false}, comm); },
        "cannot open " + path("none/x"));
  });
}

TEST_P(DistantFileTest, FilesAreFoundByName) {
  everywhere([&](const Comm& comm) {
    expect_error([&] { DistantFile::find("early", comm); }, "no distant file has been opened");
    DistantFile no_disk = DistantFile::open({}, comm);  // find() needs a file that is open
    const std::string name = "of " + std::to_string(comm.rank());
    DistantFile offered = DistantFile::offer(name, disk_options(comm.rank()), comm);
    EXPECT_EQ(offered.owner(), comm.rank());
    offered.write(0, name.data(), static_cast<std::int64_t>(name.size()), comm.rank());
    expect_error([&] { DistantFile::offer(name, disk_options(comm.rank()), comm); }, "already");
    expect_error([&] { DistantFile::find("nobody's", comm); }, "no rank has offered");
    // Closing a handle that was found does not withdraw the offer.
    DistantFile::find(name, comm).close();
    barrier(comm);
    const int other = (comm.rank() + 1) % comm.size();
    const std::string other_name = "of " + std::to_string(other);
    DistantFile found_file = DistantFile::find(other_name, comm);
    EXPECT_EQ(found_file.owner(), other);
    EXPECT_EQ(found_file.direct(other), plait::core::get_transport(comm).rank_on_node(other) >= 0);
    std::string text(other_name.size(), ' ');
    found_file.read(0, text.data(), static_cast<std::int64_t>(text.size()), other);
    EXPECT_EQ(text, other_name);
    if (comm.size() > 1) expect_error([&] { found_file.read(0, text.data(), 1, comm.rank()); }, "is owned by rank");
    barrier(comm);
    offered.close();
    barrier(comm);
    expect_error([&] { DistantFile::find(other_name, comm); }, "no rank has offered");
    expect_error([&] { found_file.read(0, text.data(), 1, other); }, "has no file under this handle");
    found_file.close();
    // A file that is offered for reading can only be read.
    DistantFile read_only =
        DistantFile::offer("read-only " + name, disk_options(comm.rank(), DistantMode::kRead), comm);
    barrier(comm);
    DistantFile reader = DistantFile::find("read-only " + other_name, comm);
    reader.read(0, text.data(), static_cast<std::int64_t>(text.size()), other);
    EXPECT_EQ(text, other_name);
    expect_error([&] { reader.write(0, text.data(), 1, other); }, "is open there to read only");
    expect_error([&] { reader.resize(0, other); }, "is open there to read only");
    barrier(comm);
    no_disk.close();
  });
}

TEST_P(DistantFileTest, PositionsBeyondTwoGigabytes) {
  everywhere([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    const int server = (comm.rank() + 1) % comm.size();
    for (const std::int64_t offset :
         {(std::int64_t{1} << 31) - 3, (std::int64_t{1} << 32) - 3, std::int64_t{5} << 40}) {
      const Bytes out = make_bytes(9, static_cast<unsigned>(comm.rank()));
      Bytes in(10);
      try {
        file.write(offset, out.data(), 9, server);
      } catch (const plait::Error& error) {
        ASSERT_EQ(error.system_code(), EFBIG) << error.what();  // a limit of the file system
        continue;
      }
      file.read(offset - 1, in.data(), 10, server);
      EXPECT_EQ(in[0], std::byte{0});
      EXPECT_EQ(0, std::memcmp(in.data() + 1, out.data(), 9));
      EXPECT_EQ(file.size(server), offset + 9);
    }
    file.close();
  });
}

TEST_P(DistantFileTest, OnlyTemporaryFilesAreRemoved) {
  everywhere([&](const Comm& comm) {
    DistantOptions options = disk_options(comm.rank());
    options.temporary = comm.rank() % 2 == 0;
    DistantFile file = DistantFile::open(options, comm);
    const char byte = 'x';
    file.write(0, &byte, 1, comm.size() - 1);
    file.close();
    struct stat status{};
    EXPECT_EQ(::stat(disk(comm.rank()).c_str(), &status) == 0, comm.rank() % 2 != 0);
  });
}

TEST_P(DistantFileTest, DestroyedHandlesWaitForTheirRequests) {
  everywhere([&](const Comm& comm) {
    Bytes in(1 << 20);
    {
      DistantFile first = DistantFile::open(disk_options(comm.rank()), comm);
      first.write(0, make_bytes(in.size(), 3).data(), static_cast<std::int64_t>(in.size()), comm.rank());
      barrier(comm);
      {
        DistantFile second = DistantFile::open(disk_options(comm.rank(), DistantMode::kRead), comm);
        second.start_read(0, in.data(), static_cast<std::int64_t>(in.size()), (comm.rank() + 1) % comm.size());
        barrier(comm);
        // close() also waits for requests of other ranks, because a file must not be closed while it is being read.
        second.close();
      }
      barrier(comm);
    }
    EXPECT_EQ(in, make_bytes(in.size(), 3));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, DistantFileTest,
                         testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(2, 2), std::pair(3, 1),
                                         std::pair(4, 2), std::pair(6, 1)),
                         [](const auto& each) {
                           return std::to_string(each.param.first) + "RanksNodesOf" + std::to_string(each.param.second);
                         });

using DistantFileOfOneProcess = plait_test::DistantTest;

TEST_F(DistantFileOfOneProcess, IsOnItsDisk) {
  DistantFile file = DistantFile::open(disk_options(0));
  const Bytes out = make_bytes(1 << 20, 1);
  Bytes in(out.size());
  file.start_write(10, out.data(), 1 << 20, 0).wait();
  file.read(10, in.data(), 1 << 20, 0);
  EXPECT_EQ(in, out);
  expect_error([&] { file.read(0, in.data(), 1, 1); }, "has the ranks 0 to 0");
  ASSERT_EQ(0, ::unlink(disk(0).c_str()));
  expect_error([&] { file.sync(0); }, "has been removed");
  file.close();
}

}  // namespace
