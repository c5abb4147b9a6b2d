// Locks and names of unfinished files.
#include "store/posix/temporary.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "store/posix/descriptor.hpp"
#include "store_case.hpp"

namespace {

using namespace store_case;
using namespace plait::store::posix;
using UnfinishedFileTest = StoreInFolder;

TEST_F(UnfinishedFileTest, LocksAreExclusive) {
  put("a", "");
  const Descriptor first = open_file(path("a"), O_RDWR);
  const Descriptor second = open_file(path("a"), O_RDWR);
  EXPECT_TRUE(lock_at_once(first.number(), "a"));
  EXPECT_TRUE(lock_at_once(first.number(), "a"));
  EXPECT_FALSE(lock_at_once(second.number(), "a"));
}

TEST_F(UnfinishedFileTest, FilesThatCannotBeLockedCountAsLocked) {
  // flock() fails with EBADF, as on NFS for a folder, which is not open for writing.
  EXPECT_TRUE(lock_at_once(-1, "a"));
}

TEST_F(UnfinishedFileTest, ArraysOfAHierarchyHaveDifferentNames) {
  EXPECT_EQ(sibling_path("/x/h.zarr", ""), "/x/h.zarr");
  EXPECT_EQ(sibling_path("/x/h.zarr", "/"), "/x/h.zarr");
  EXPECT_EQ(sibling_path("/x/h.zarr", "/a/b/"), "/x/h.zarr::a%2Fb");
  EXPECT_NE(sibling_path("h.zarr", "a%2Fb"), sibling_path("h.zarr", "a/b"));
}

}  // namespace
