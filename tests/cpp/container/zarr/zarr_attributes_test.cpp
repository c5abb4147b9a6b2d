// Attributes and hierarchies in every kind of object store.
#include "container/zarr/zarr_attributes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/zarr_format.hpp"
#include "object_case.hpp"
#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"

namespace plait::container::zarr {
namespace {

using namespace object_case;
using nlohmann::json;
using store::Sharing;

class AttributesInObjects : public ObjectStoreTest, public testing::WithParamInterface<Kind> {
 protected:
  AttributesInObjects() : ObjectStoreTest(GetParam()) {}
  static AttributeChanges set_attribute(const std::string& name, const std::string& value) {
    ArrayAttribute attribute;
    attribute.name = name;
    attribute.dtype = ArrayAttribute::kTexts;
    attribute.texts = {value};
    return {{name, attribute}};
  }
  static std::string array_text() {
    FileOptions options;
    options.shape = Extents{4};
    options.dtype = "<i4";
    const NewContent created = new_array("a.zarr", options);
    return {reinterpret_cast<const char*>(created.head.data()), created.head.size()};
  }
  static std::string group_text() { return make_group_metadata({}, "a.zarr"); }
};

INSTANTIATE_TEST_SUITE_P(Kinds, AttributesInObjects,
                         testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace), object_case::case_name);

TEST_P(AttributesInObjects, ChangeInTheMetadataOfVersion3) {
  const auto group = objects("");
  group->put("zarr.json", text_bytes(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"x": 1}})"));
  const auto array = objects("a");
  array->put("zarr.json", text_bytes(array_text()));
  change_attributes(*array, set_attribute("units", "K"));
  EXPECT_EQ(json::parse(read_object(*array, "zarr.json"))["attributes"], json::parse(R"({"units": "K"})"));
  EXPECT_EQ(read_attributes(read_object(*array, "zarr.json"), *array, "zarr.json").front().texts.front(), "K");
  remove_parent_copies(array->name());
  EXPECT_EQ(read_object(*group, "zarr.json"), R"({"zarr_format": 3, "node_type": "group"})");
}

TEST_P(AttributesInObjects, ChangeInSeparateObjectsOfVersion2AndInConsolidatedMetadata) {
  const auto group = objects("");
  group->put(".zgroup", text_bytes(R"({"zarr_format": 2})"));
  group->put(".zmetadata", text_bytes(R"({"metadata": {"a/.zattrs": {"old": 1}}})"));
  const auto array = objects("a");
  array->put(".zarray", text_bytes("{}"));
  change_attributes(*array, set_attribute("units", "K"));
  change_attributes(*array, set_attribute("name", "t"));
  const json expected = json::parse(R"({"units": "K", "name": "t"})");
  EXPECT_EQ(json::parse(read_object(*array, ".zattrs")), expected);
  EXPECT_EQ(json::parse(read_object(*group, ".zmetadata"))["metadata"]["a/.zattrs"], expected);
  EXPECT_EQ(read_attributes("{}", *group, "a/.zarray").size(), 2U);
  EXPECT_EQ(metadata_object(*group, "a/"), "a/.zarray");
}

TEST_P(AttributesInObjects, NoConcurrentChangeOfSeveralProgramsIsLost) {
  objects("a")->put("zarr.json", text_bytes(array_text()));
  constexpr int kChanges = 10;
  std::vector<std::jthread> programs;
  for (int program = 0; program < 3; ++program) {
    programs.emplace_back([&, program] {
      for (int i = 0; i < kChanges; ++i)
        change_attributes(*store::open_objects(root() + "/a", Sharing::kShared),
                          set_attribute(base::text("name-", program, '-', i), "value"));
    });
  }
  programs.clear();
  EXPECT_EQ(json::parse(read_object(*objects("a"), "zarr.json"))["attributes"].size(), 3U * kChanges);
}

TEST_P(AttributesInObjects, NewArraysReplaceOnlyArraysAndEmptyGroups) {
  const auto new_array_error = [&](const std::string& name) {
    try {
      (void)new_folder(root() + '/' + name, std::nullopt, {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(new_array_error("free.zarr"), "");
  objects("array.zarr")->put("zarr.json", text_bytes(array_text()));
  EXPECT_EQ(new_array_error("array.zarr"), "");
  const auto group = objects("group.zarr");
  group->put("zarr.json", text_bytes(group_text()));
  EXPECT_EQ(new_array_error("group.zarr"), "");
  group->put("a/zarr.json", text_bytes(array_text()));
  EXPECT_NE(new_array_error("group.zarr").find("is a group that holds others"), std::string::npos);
  EXPECT_EQ(new_folder(root() + "/group.zarr", "b/c", {}).other_files.size(), 1U);
  EXPECT_THROW((void)new_folder(root() + "/group.zarr", "a/c", {}), Error);
  objects("other.zarr")->put("notes.txt", text_bytes("text"));
  EXPECT_NE(new_array_error("other.zarr").find("is a folder without Zarr's metadata"), std::string::npos);
}

/// A store with the name of a metadata object, as the driver opens it.
class NamedStore : public store::memory::MemoryStore {
 public:
  explicit NamedStore(std::string name) : MemoryStore(0), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }

 private:
  std::string name_;
};

TEST_P(AttributesInObjects, HierarchiesAreListed) {
  const auto group = objects("h.zarr");
  group->put("zarr.json", text_bytes(group_text()));
  group->put("a/zarr.json", text_bytes(array_text()));
  group->put("a/c/0", text_bytes("12345678"));
  group->put("g/zarr.json", text_bytes(group_text()));
  group->put("g/b/zarr.json", text_bytes(array_text()));
  group->put("g/damaged/zarr.json", text_bytes("no JSON"));
  const auto store = std::make_shared<NamedStore>(root() + "/h.zarr/zarr.json");
  const std::unique_ptr<OpenedFile> opened = formats()[0]->open(store, root() + "/h.zarr");
  const std::vector<Member> members = opened->arrays();
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(member.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "g/b", "g/damaged"}));
  EXPECT_EQ(members.at(0).stored, Member::kNotCounted);
  EXPECT_EQ(members.at(1).type.shape, Extents{4});
  EXPECT_NE(members.at(2).rejection.reason().find("it is not JSON"), std::string::npos);
  EXPECT_EQ(opened->groups().size(), 2U);
}

}  // namespace
}  // namespace plait::container::zarr
