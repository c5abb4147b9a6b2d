// The guarantees of every object store, on a disk and in memory.
#include "store/objects/object_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "object_case.hpp"
#include "plait/error.hpp"

namespace {

using namespace object_case;
using plait::Error;
using plait::store::Condition;
using plait::store::GetStatus;
using plait::store::ListDepth;
using plait::store::ListedObject;
using plait::store::NewObject;
using plait::store::ObjectIdentity;
using plait::store::Part;

class ObjectStores : public ObjectStoreTest, public testing::WithParamInterface<Kind> {
 protected:
  ObjectStores() : ObjectStoreTest(GetParam()) {}
  /// Returns the sorted names of objects, with their sizes if all objects are listed.
  std::vector<std::string> list_names(const std::string& prefix, ListDepth depth) {
    std::vector<std::string> names;
    objects_->list(prefix, depth, [&](const ListedObject& object) {
      names.push_back(depth == ListDepth::kAll ? object.name + ' ' + std::to_string(object.bytes) : object.name);
    });
    std::ranges::sort(names);
    return names;
  }

  std::shared_ptr<ObjectStore> objects_ = objects("a");
};

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectStores,
                         testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace, Kind::kConcurrent),
                         object_case::case_name);

std::byte* at(std::string& text, std::size_t offset) { return reinterpret_cast<std::byte*>(text.data() + offset); }
const std::byte* at(const std::string& text, std::size_t offset) {
  return reinterpret_cast<const std::byte*>(text.data() + offset);
}

TEST_P(ObjectStores, ReadManyObjectsInOneCall) {
  objects_->put("a", text_bytes("0123456789"));
  objects_->put("b", text_bytes("abc"));
  const ObjectIdentity identity = objects_->identity("b");
  std::string ranges(5, ' ');
  std::string whole(3, ' ');
  std::vector<plait::store::GetRequest> requests(5);
  requests[0] = {.object = "a", .ranges = {{7, at(ranges, 0), 2}, {-3, at(ranges, 2), 3}}};
  requests[1] = {.object = "b", .whole = true, .options = {.identity = true}};
  requests[2] = {.object = "c", .whole = true};
  requests[3] = {.object = "b", .whole = true, .options = {.if_none_match = &identity}};
  requests[4] = {.object = "b", .ranges = {{2, at(ranges, 0), 2}}};
  std::vector<bool> is_reported(requests.size());
  const auto memory = [&](plait::store::GetRequest& request, std::int64_t bytes) {
    EXPECT_EQ(&request, &requests[1]);
    EXPECT_EQ(bytes, 3);
    return std::as_writable_bytes(std::span(whole));
  };
  objects_->get_all(requests, memory, [&](plait::store::GetRequest& request) {
    is_reported[static_cast<std::size_t>(&request - requests.data())] = true;
  });
  EXPECT_EQ(is_reported, std::vector<bool>(5, true));
  EXPECT_EQ(ranges, "78789");
  EXPECT_EQ(whole, "abc");
  constexpr std::array kExpectedStatus{GetStatus::kRead, GetStatus::kRead, GetStatus::kMissing, GetStatus::kMatch,
                                       GetStatus::kOutside};
  for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(requests[i].result.status, kExpectedStatus[i]) << i;
  EXPECT_EQ(requests[1].result.identity, identity);
  EXPECT_EQ(requests[0].result.bytes, 10);
}

TEST_P(ObjectStores, ReadsRangesIntoMemory) {
  objects_->put("c/0/1", text_bytes("0123456789"));
  std::string read(6, ' ');
  const auto result = objects_->get("c/0/1", {{7, at(read, 0), 2}, {0, at(read, 2), 1}, {-3, at(read, 3), 3}});
  EXPECT_EQ(result.status, GetStatus::kRead);
  EXPECT_EQ(result.bytes, 10);
  EXPECT_EQ(read, "780789");
  EXPECT_EQ(objects_->get("c/0/1", {}).bytes, 10);
  EXPECT_EQ(objects_->get("c/0/2", {}).status, GetStatus::kMissing);
  EXPECT_EQ(read_object(*objects_, "c/0/1"), "0123456789");
  EXPECT_EQ(read_object(*objects_, "c/1/1"), "(missing)");
  EXPECT_EQ(objects_->object_location("c/0/1"), root() + "/a/c/0/1");
}

TEST_P(ObjectStores, ReadNothingIfARangeIsOutside) {
  objects_->put("c", text_bytes("0123"));
  std::string read = "....";
  for (const std::int64_t begin : {1, 5, -5}) {
    const auto result = objects_->get("c", {{begin, at(read, 0), 4}});
    EXPECT_EQ(result.status, GetStatus::kOutside);
    EXPECT_EQ(result.bytes, 4);
  }
  EXPECT_EQ(read, "....");
}

TEST_P(ObjectStores, ReadDependingOnTheIdentity) {
  objects_->put("c", text_bytes("one"));
  const ObjectIdentity first = objects_->identity("c");
  EXPECT_NE(first, ObjectIdentity{});
  std::string read = "...";
  EXPECT_EQ(objects_->get("c", {{0, at(read, 0), 3}}, {.if_none_match = &first}).status, GetStatus::kMatch);
  EXPECT_EQ(read, "...");
  EXPECT_EQ(objects_->get("c", {{0, at(read, 0), 3}}, {.identity = true}).identity, first);
  objects_->put("c", text_bytes("two, which is longer"));
  EXPECT_NE(objects_->identity("c"), first);
  read = "...";
  EXPECT_EQ(objects_->get("c", {{0, at(read, 0), 3}}, {.if_match = &first}).status, GetStatus::kMismatch);
  EXPECT_EQ(read, "...");
  EXPECT_TRUE(objects_->get("c", {{0, at(read, 0), 3}}, {.if_none_match = &first}).found());
  EXPECT_EQ(read, "two");
  EXPECT_EQ(objects_->identity("d"), ObjectIdentity{});
}

TEST_P(ObjectStores, PutDependingOnTheIdentity) {
  EXPECT_TRUE(objects_->put("x/c", text_bytes("one"), ObjectIdentity{}));
  EXPECT_FALSE(objects_->put("x/c", text_bytes("two"), ObjectIdentity{}));
  const ObjectIdentity first = objects_->identity("x/c");
  EXPECT_TRUE(objects_->put("x/c", text_bytes("three"), first));
  EXPECT_FALSE(objects_->put("x/c", text_bytes("four"), first));
  EXPECT_EQ(read_object(*objects_, "x/c"), "three");
  objects_->put("x/c", text_bytes("five"));
  EXPECT_EQ(read_object(*objects_, "x/c"), "five");
  EXPECT_FALSE(objects_->put("x/d", text_bytes("six"), first));
  EXPECT_FALSE(objects_->contains("x/d"));
}

/// Threads increase a number in an object by conditional puts, and repeat those whose condition is not met.
TEST_P(ObjectStores, LoseNoUpdateOfThreads) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 25;
  const auto count = [&] {
    const std::shared_ptr<ObjectStore> thread_objects = plait::store::open_objects(root() + "/a", Sharing::kShared);
    for (int done = 0; done < kUpdates;) {
      const ObjectIdentity before = thread_objects->identity("count");
      const std::string text = read_object(*thread_objects, "count");
      const std::string next = std::to_string(text == "(missing)" ? 1 : std::stoi(text) + 1);
      if (thread_objects->put("count", text_bytes(next), before)) ++done;
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(count);
  threads.clear();
  EXPECT_EQ(read_object(*objects_, "count"), std::to_string(kThreads * kUpdates));
}

TEST_P(ObjectStores, NewContentsAppearAsAWhole) {
  const std::string text = "0123456789";
  objects_->put("s", text_bytes("old"));
  const std::unique_ptr<NewObject> created = objects_->create("s");
  created->write({{4, at(text, 4), 6}}, Part::kMore);
  created->write({{0, at(text, 0), 4}}, Part::kLast);
  EXPECT_EQ(created->size(), 10);
  std::string read(2, ' ');
  created->read({{3, at(read, 0), 2}});
  EXPECT_EQ(read, "34");
  EXPECT_EQ(read_object(*objects_, "s"), "old");
  created->resize(5);
  created->resize(6);  // the sixth byte is zero
  const std::array<NewObject*, 1> new_objects{created.get()};
  objects_->flush(new_objects);
  EXPECT_FALSE(created->commit(ObjectIdentity{}));
  EXPECT_EQ(read_object(*objects_, "s"), "old");
  EXPECT_TRUE(created->commit(objects_->identity("s")));
  EXPECT_EQ(read_object(*objects_, "s"), std::string("01234\0", 6));
}

TEST_P(ObjectStores, DropNewContentsThatAreNotCommitted) {
  objects_->create("x/s")->write({{0, at(std::string("new"), 0), 3}}, Part::kLast);
  objects_->end_writes();
  EXPECT_FALSE(objects_->contains("x/s"));
  EXPECT_EQ(list_names("", ListDepth::kAll), std::vector<std::string>{});
}

TEST_P(ObjectStores, UpdateNewContentsUntilTheConditionIsMet) {
  const std::string text = "ab";
  for (const bool missing : {true, false}) {
    const std::unique_ptr<NewObject> created = objects_->create("s");
    created->write({{0, at(text, 0), 1}}, Part::kMore);
    const ObjectIdentity before = objects_->identity("s");
    objects_->put("s", text_bytes(missing ? "other" : "another"));
    int updates = 0;
    created->commit(before, [&]() -> Condition {
      ++updates;
      created->write({{1, at(text, 1), 1}}, Part::kLast);
      return objects_->identity("s");
    });
    EXPECT_EQ(updates, 1);
    EXPECT_EQ(read_object(*objects_, "s"), "ab");
  }
  const std::unique_ptr<NewObject> created = objects_->create("s");
  EXPECT_THROW(created->commit(ObjectIdentity{}, []() -> Condition { throw Error(plait::ErrorKind::kSystem, "no"); }),
               Error);
  EXPECT_EQ(read_object(*objects_, "s"), "ab");
}

TEST_P(ObjectStores, ListByPrefix) {
  EXPECT_EQ(list_names("", ListDepth::kAll), std::vector<std::string>{});
  for (const char* const name : {"zarr.json", "c/0/0", "c/0/1", "c/1/0", "d/zarr.json"})
    objects_->put(name, text_bytes("four"));
  EXPECT_EQ(list_names("", ListDepth::kChildren), (std::vector<std::string>{"c/", "d/", "zarr.json"}));
  EXPECT_EQ(list_names("c/", ListDepth::kChildren), (std::vector<std::string>{"0/", "1/"}));
  EXPECT_EQ(list_names("c/", ListDepth::kAll), (std::vector<std::string>{"0/0 4", "0/1 4", "1/0 4"}));
  EXPECT_EQ(list_names("e/", ListDepth::kChildren), std::vector<std::string>{});
}

TEST_P(ObjectStores, RemoveObjects) {
  objects_->put("c/0", text_bytes("one"));
  objects_->remove("c/0");
  objects_->remove("c/0");
  objects_->remove("d/0");
  EXPECT_FALSE(objects_->contains("c/0"));
  objects_->sync();
}

TEST_P(ObjectStores, WriteInPlaceOrRejectIt) {
  objects_->put("c", text_bytes("0123"));
  const ObjectIdentity before = objects_->identity("c");
  const std::string text = "ABC";
  const auto write = [&] { objects_->write("c", {{1, at(text, 0), 1}, {3, at(text, 1), 2}}); };
  if (objects_->writes_in_place()) {
    write();
    EXPECT_EQ(read_object(*objects_, "c"), "0A2BC");
    EXPECT_NE(objects_->identity("c"), before);
    EXPECT_THROW(objects_->write("d", {{0, at(text, 0), 1}}), Error);
  } else {
    EXPECT_THROW(write(), Error);
    EXPECT_EQ(read_object(*objects_, "c"), "0123");
  }
  objects_->sync();
}

}  // namespace
