// Arrays under memory://, opened by ranks that are threads of one process, and by ranks in several processes.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/internals.hpp"
#include "driver/driver_registry.hpp"
#include "driver/locating.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "store/objects/memory/memory_objects.hpp"
#include "store/objects/open_objects.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using plait::Comm;
using plait::Error;
using plait::File;
using plait::Layout;
using plait::Mode;
using plait::transport::Transport;

constexpr int kRanks = 3;

/// Returns a communicator over a transport, which must outlive it.
Comm make_comm(Transport& transport) {
  return plait::core::comm_over(std::shared_ptr<Transport>(&transport, [](auto*) {}));
}

/// Describes an array of 12 bytes in chunks of 2.
plait::FileOptions array_options() {
  plait::FileOptions options;
  options.shape = plait::Extents{12};
  options.dtype = "|u1";
  options.chunk = plait::Extents{2};
  return options;
}

/// Each rank writes its block with the number of the rank, and reads the elements that are cyclic over all ranks.
void write_and_read(Transport& transport, const std::string& name) {
  const Comm comm = make_comm(transport);
  std::vector<std::byte> block(4, std::byte(transport.rank()));
  const plait::ConstPart written{block.data(), {}};
  auto file = File::open(name, Mode::kWrite, array_options(), comm);
  file.write(Layout::parse("12 (block) onto (3)"), {&written, 1});
  file.close();
  auto opened = File::open(name, Mode::kRead, {}, comm);
  std::vector<std::byte> bytes(4);
  const plait::MutablePart read{bytes.data(), {}};
  opened.read(Layout::parse("12 (cyclic) onto (3)"), {&read, 1});
  for (int i = 0; i < 4; ++i) {
    const int index = transport.rank() + kRanks * i;
    const int writer = index / 4;  // each rank has written 4 elements
    EXPECT_EQ(std::to_integer<int>(bytes[static_cast<std::size_t>(i)]), writer);
  }
}

TEST(MemoryUrls, ThreadsOfOneProcessShareArrays) {
  plait::transport::thread::run_team(
      kRanks, [](Transport& transport) { write_and_read(transport, "memory://threads/data.zarr::/group/a"); });
  const auto members = plait::driver::arrays_in("memory://threads/data.zarr");
  ASSERT_EQ(members.size(), 1U);
  EXPECT_EQ(members[0].name, "group/a");
  EXPECT_EQ(members[0].type.shape, plait::Extents{12});
}

TEST(MemoryUrls, RanksOfSeveralProcessesAreRejected) {
  plait::transport::thread::run_team(kRanks, [](Transport& transport) {
    wrapped::LikeProcesses processes(transport);
    for (const Mode mode : {Mode::kWrite, Mode::kRead}) {
      try {
        (void)File::open("memory://processes/a.zarr", mode,
                         mode == Mode::kWrite ? array_options() : plait::FileOptions{}, make_comm(processes));
        ADD_FAILURE() << "opened";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
        EXPECT_NE(std::string(error.what()).find("the objects of memory:// belong to one process"), std::string::npos)
            << error.what();
      }
    }
  });
}

TEST(MemoryUrls, OpeningNeedsTwoRequests) {
  const auto bucket = std::make_shared<plait::store::memory::Bucket>();
  const plait::store::AddedObjectStores added("memory://counted/", [&](const std::string& location) {
    return std::make_shared<plait::store::memory::MemoryObjects>(bucket, location, false);
  });
  auto file = File::open("memory://counted/a.zarr::/g/b", Mode::kWrite, array_options());
  file.close();
  bucket->gets = bucket->heads = 0;
  (void)File::open("memory://counted/a.zarr::/g/b", Mode::kRead);
  EXPECT_EQ(bucket->heads, 1);
  EXPECT_EQ(bucket->gets, 1);
}

TEST(MemoryUrls, NamesOfOtherDriversKeepTheirMeaning) {
  const auto prefix = [](const char* name) { return plait::driver::find_driver(name).prefix(); };
  EXPECT_EQ(prefix("memory:field"), "memory:");
  EXPECT_EQ(prefix("memory:/field"), "memory:");
  EXPECT_EQ(prefix("pipe://run/field"), "pipe:");
  EXPECT_EQ(prefix("distant://field"), "distant:");
  EXPECT_EQ(prefix("stripe:///scratch/field"), "stripe:");
  EXPECT_EQ(prefix("raw:memory://bucket/a.zarr"), "raw:");
  for (const char* name : {"memory://bucket/a.zarr", "zarr:memory://bucket/a", "s3://bucket/a.zarr"}) {
    EXPECT_EQ(prefix(name), "") << name;
    EXPECT_NE(&plait::driver::find_driver(name), &plait::driver::find_driver("a.zarr")) << name;
  }
  for (const char* name : {"host:path", "C:/data", "C:\\data", "a.nc::/s3://x", "./s3://b/a", "hdf5:a.h5::/x"})
    EXPECT_EQ(&plait::driver::find_driver(name), &plait::driver::find_driver("a.zarr")) << name;
}

TEST(MemoryUrls, AreLocatedWithoutAPath) {
  const auto array = plait::driver::locate("memory://bucket/a.zarr::/group/x/");
  EXPECT_EQ(array.path, "");
  EXPECT_EQ(array.id, "memory://bucket/a.zarr/group/x");
  EXPECT_EQ(array.kind, "Zarr in memory://");
  EXPECT_TRUE(array.names_arrays && array.adds_arrays && array.has_chunks);
  EXPECT_FALSE(array.supports_unfinished);
  EXPECT_EQ(plait::driver::locate("zarr:memory://bucket/a/").id, "memory://bucket/a");
}

}  // namespace
