// Objects of a new array that appear together, in every kind of object store.
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
  std::unique_ptr<NewObjects> begun(const std::string& array_text = "array") const {
    return make_new_objects({target(), target(), "a", {{"zarr.json", "group"}, {"a/zarr.json", array_text}}}, {});
  }
  std::string target() const { return root() + "/h.zarr"; }
  /// What other programs find.
  std::string found(const std::string& object) const {
    if (kind_ == Kind::kFolder && !std::filesystem::exists(target())) return "(missing)";
    return read_object(*open_objects(target(), Sharing::kShared), object);
  }
  static void put_chunk(const NewObjects& made, std::string_view text) {
    open_objects(made.location(), Sharing::kPrivate)->put("a/c/0", text_bytes(text));
  }
  static int code_of_commit(NewObjects& made) {
    try {
      made.commit([] { return false; });
    } catch (const Error& error) {
      return error.system_code();
    }
    return 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, NewObjectsTogether, testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace),
                         object_case::case_name);

TEST_P(NewObjectsTogether, AreNotFoundBeforeTheyAreComplete) {
  const std::unique_ptr<NewObjects> made = begun();
  put_chunk(*made, "chunk");
  EXPECT_EQ(found("zarr.json"), "(missing)");
  EXPECT_EQ(found("a/zarr.json"), "(missing)");
  made->commit([] { return true; });
  EXPECT_EQ(found("zarr.json"), "group");
  EXPECT_EQ(found("a/zarr.json"), "array");
  EXPECT_EQ(found("a/c/0"), "chunk");
}

TEST_P(NewObjectsTogether, LeaveNothingIfTheyAreDropped) {
  for (const bool by_name : {true, false}) {
    const std::unique_ptr<NewObjects> made = begun();
    put_chunk(*made, "chunk");
    if (by_name) made->discard();
  }
  EXPECT_EQ(found("zarr.json"), "(missing)");
  EXPECT_EQ(found("a/c/0"), "(missing)");
}

TEST_P(NewObjectsTogether, ReplaceWhatIsThere) {
  const std::unique_ptr<NewObjects> first = begun();
  put_chunk(*first, "old");
  open_objects(first->location(), Sharing::kPrivate)->put("a/c/1", text_bytes("old"));
  first->commit([] { return true; });
  const std::unique_ptr<NewObjects> second = begun("another array");
  put_chunk(*second, "new");
  second->commit([] { return true; });
  EXPECT_EQ(found("a/zarr.json"), "another array");
  EXPECT_EQ(found("a/c/0"), "new");
  EXPECT_EQ(found("a/c/1"), "(missing)");
}

TEST_P(NewObjectsTogether, DoNotReplaceWhatHasAppearedMeanwhile) {
  const std::unique_ptr<NewObjects> made = begun();
  objects("h.zarr")->put("zarr.json", text_bytes("of another program"));
  EXPECT_EQ(code_of_commit(*made), EEXIST);
  EXPECT_EQ(found("zarr.json"), "of another program");
}

TEST_P(NewObjectsTogether, LeaveTheArraysOfOthersInTheSameNewHierarchy) {
  if (kind_ == Kind::kFolder) return;  // there the hierarchy of the first one to end appears as a whole
  const auto sibling = [this](const std::string& name, const std::string& group) {
    return make_new_objects({target(), target(), name, {{"zarr.json", group}, {name + "/zarr.json", "array"}}}, {});
  };
  const std::unique_ptr<NewObjects> made = begun();
  put_chunk(*made, "chunk");
  {
    const std::unique_ptr<NewObjects> other = sibling("b", "group");
    made->commit([] { return true; });
  }
  EXPECT_EQ(found("a/c/0"), "chunk") << "neither the beginning nor the end of the other one removes it";
  EXPECT_EQ(found("zarr.json"), "group");
  EXPECT_EQ(code_of_commit(*sibling("c", "group")), 0) << "the group is the same";
  EXPECT_EQ(code_of_commit(*sibling("d", "another group")), EEXIST);
  EXPECT_EQ(found("d/zarr.json"), "(missing)") << "what cannot be finished does not appear";
  EXPECT_EQ(found("a/c/0") + found("c/zarr.json"), "chunkarray");
}

TEST_P(NewObjectsTogether, LeaveAnArrayThatAnotherProgramHasFinished) {
  if (kind_ == Kind::kFolder) return;  // whose objects are apart until they appear
  const std::unique_ptr<NewObjects> made = begun();
  {
    const std::unique_ptr<NewObjects> other = begun();
    put_chunk(*made, "chunk");
    made->commit([] { return true; });
  }
  EXPECT_EQ(found("a/zarr.json") + found("a/c/0"), "arraychunk");
}

TEST_P(NewObjectsTogether, StayWhereALaterProgramMayGoOn) {
  const plait::store::NewObjectsRequest request{target(), target(), "", {{"zarr.json", "array"}}};
  plait::store::NewFileOptions options;
  options.keeps_unfinished = true;
  if (kind_ != Kind::kFolder) {
    EXPECT_THROW((void)make_new_objects(request, options), Error);
    return;
  }
  for (const bool continues : {false, true}) {
    options.continues = continues;
    const std::unique_ptr<NewObjects> made = make_new_objects(request, options);
    EXPECT_EQ(made->continued(), continues);
    const std::shared_ptr<ObjectStore> inside = open_objects(made->location(), Sharing::kResumable);
    EXPECT_EQ(read_object(*inside, "c/0"), continues ? "chunk" : "(missing)");
    inside->put("c/0", text_bytes("chunk"));
    if (continues) made->commit([] { return true; });
  }
  EXPECT_EQ(found("c/0"), "chunk");
}

}  // namespace
