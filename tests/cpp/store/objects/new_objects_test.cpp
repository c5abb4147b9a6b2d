// Objects of a new array become visible together, in every kind of object store.
#include "store/objects/new_objects.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "object_case.hpp"
#include "plait/error.hpp"

namespace {

using namespace object_case;
using plait::Error;
using plait::store::make_new_objects;
using plait::store::NewObjects;
using plait::store::open_objects;

class NewObjectsTogether : public ObjectStoreTest, public testing::WithParamInterface<Kind> {
 protected:
  NewObjectsTogether() : ObjectStoreTest(GetParam()) { (void)objects(""); }
  /// Begins a new array `a` in the hierarchy target(), which becomes new too if it does not exist.
  std::unique_ptr<NewObjects> make_new(const std::string& array_text = "array") const {
    return make_new_objects({target(), target(), "a", {{"zarr.json", "group"}, {"a/zarr.json", array_text}}}, {});
  }
  std::string target() const { return root() + "/h.zarr"; }
  /// Returns the content of an object as other programs see it.
  std::string read_visible(const std::string& object) const {
    if (kind_ == Kind::kFolder && !std::filesystem::exists(target())) return "(missing)";
    return read_object(*open_objects(target(), Sharing::kShared), object);
  }
  static void put_chunk(const NewObjects& created, std::string_view text) {
    open_objects(created.location(), Sharing::kPrivate)->put("a/c/0", text_bytes(text));
  }
  /// Commits objects that must not replace others. Returns the errno; 0 after success.
  static int commit_code(NewObjects& created) {
    try {
      created.commit([] { return false; });
    } catch (const Error& error) {
      return error.system_code();
    }
    return 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, NewObjectsTogether, testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace),
                         object_case::case_name);

TEST_P(NewObjectsTogether, AreNotVisibleBeforeTheyAreComplete) {
  const std::unique_ptr<NewObjects> created = make_new();
  put_chunk(*created, "chunk");
  EXPECT_EQ(read_visible("zarr.json"), "(missing)");
  EXPECT_EQ(read_visible("a/zarr.json"), "(missing)");
  created->commit([] { return true; });
  EXPECT_EQ(read_visible("zarr.json"), "group");
  EXPECT_EQ(read_visible("a/zarr.json"), "array");
  EXPECT_EQ(read_visible("a/c/0"), "chunk");
}

TEST_P(NewObjectsTogether, LeaveNothingIfTheyAreDiscarded) {
  for (const bool is_explicit : {true, false}) {
    const std::unique_ptr<NewObjects> created = make_new();
    put_chunk(*created, "chunk");
    if (is_explicit) created->discard();
  }
  EXPECT_EQ(read_visible("zarr.json"), "(missing)");
  EXPECT_EQ(read_visible("a/c/0"), "(missing)");
}

TEST_P(NewObjectsTogether, ReplaceAnExistingArray) {
  const std::unique_ptr<NewObjects> first = make_new();
  put_chunk(*first, "old");
  open_objects(first->location(), Sharing::kPrivate)->put("a/c/1", text_bytes("old"));
  first->commit([] { return true; });
  const std::unique_ptr<NewObjects> second = make_new("another array");
  put_chunk(*second, "new");
  second->commit([] { return true; });
  EXPECT_EQ(read_visible("a/zarr.json"), "another array");
  EXPECT_EQ(read_visible("a/c/0"), "new");
  EXPECT_EQ(read_visible("a/c/1"), "(missing)");
}

TEST_P(NewObjectsTogether, DoNotReplaceObjectsThatAppearedMeanwhile) {
  const std::unique_ptr<NewObjects> created = make_new();
  objects("h.zarr")->put("zarr.json", text_bytes("of another program"));
  EXPECT_EQ(commit_code(*created), EEXIST);
  EXPECT_EQ(read_visible("zarr.json"), "of another program");
}

TEST_P(NewObjectsTogether, DoNotRemoveArraysOfOtherProgramsInTheSameNewHierarchy) {
  if (kind_ == Kind::kFolder)
    return;  // in folders, the hierarchy of the first program that finishes appears as a whole
  // Begins another new array with the given group metadata in the same hierarchy.
  const auto sibling = [this](const std::string& name, const std::string& group) {
    return make_new_objects({target(), target(), name, {{"zarr.json", group}, {name + "/zarr.json", "array"}}}, {});
  };
  const std::unique_ptr<NewObjects> created = make_new();
  put_chunk(*created, "chunk");
  {
    const std::unique_ptr<NewObjects> other = sibling("b", "group");
    created->commit([] { return true; });
  }
  EXPECT_EQ(read_visible("a/c/0"), "chunk") << "neither the beginning nor the end of the other program removes it";
  EXPECT_EQ(read_visible("zarr.json"), "group");
  EXPECT_EQ(commit_code(*sibling("c", "group")), 0) << "the group is the same";
  EXPECT_EQ(commit_code(*sibling("d", "another group")), EEXIST);
  EXPECT_EQ(read_visible("d/zarr.json"), "(missing)") << "an array that cannot be finished does not appear";
  EXPECT_EQ(read_visible("a/c/0") + read_visible("c/zarr.json"), "chunkarray");
}

TEST_P(NewObjectsTogether, DoNotRemoveAnArrayThatAnotherProgramHasFinished) {
  if (kind_ == Kind::kFolder) return;  // in folders, the objects of each program are separate until they appear
  const std::unique_ptr<NewObjects> created = make_new();
  {
    const std::unique_ptr<NewObjects> other = make_new();
    put_chunk(*created, "chunk");
    created->commit([] { return true; });
  }
  EXPECT_EQ(read_visible("a/zarr.json") + read_visible("a/c/0"), "arraychunk");
}

TEST_P(NewObjectsTogether, StayIfALaterProgramMayResume) {
  const plait::store::NewObjectsRequest request{target(), target(), "", {{"zarr.json", "array"}}};
  plait::store::NewFileOptions options;
  options.keeps_unfinished = true;
  if (kind_ != Kind::kFolder) {
    EXPECT_THROW((void)make_new_objects(request, options), Error);
    return;
  }
  for (const bool is_continuation : {false, true}) {
    options.continues = is_continuation;
    const std::unique_ptr<NewObjects> created = make_new_objects(request, options);
    EXPECT_EQ(created->continued(), is_continuation);
    const std::shared_ptr<ObjectStore> inside = open_objects(created->location(), Sharing::kResumable);
    EXPECT_EQ(read_object(*inside, "c/0"), is_continuation ? "chunk" : "(missing)");
    inside->put("c/0", text_bytes("chunk"));
    if (is_continuation) created->commit([] { return true; });
  }
  EXPECT_EQ(read_visible("c/0"), "chunk");
}

}  // namespace
