// Creation of arrays in a Zarr hierarchy, from the name to the elements, in every kind of object store.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "container/zarr/chunk_store.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "object_case.hpp"
#include "store/objects/new_objects.hpp"

namespace plait::container::zarr {
namespace {

using namespace object_case;
using store::Sharing;

class NewHierarchies : public ObjectStoreTest, public testing::WithParamInterface<Kind> {
 protected:
  NewHierarchies() : ObjectStoreTest(GetParam()) { (void)objects(""); }
  /// Makes an array of 8 elements `value` in chunks of 4.
  void make_array(const std::string& array, int value) const {
    FileOptions options;
    options.shape = Extents{8};
    options.dtype = "<i4";
    options.chunk = Extents{4};
    options.codec = "zstd:1";
    const NewContent content = new_array("h.zarr", options);
    const std::string text(reinterpret_cast<const char*>(content.head.data()), content.head.size());
    const std::string path = root() + "/h.zarr";
    const NewFolder folder = new_folder(path, array, {});
    store::NewObjectsRequest request{folder.target, path, array, folder.other_files};
    request.metadata.emplace_back(folder.file, text);
    const std::unique_ptr<store::NewObjects> created = store::make_new_objects(std::move(request), {});
    const std::string location = (std::filesystem::path(created->location()) / folder.file).parent_path().string();
    ChunkStore chunks(store::open_objects(location, Sharing::kPrivate), parse_metadata(text, path), text,
                      /*is_new=*/true);
    const std::vector<int> values(8, value);
    chunks.write({{0, reinterpret_cast<const std::byte*>(values.data()), 32}});
    chunks.flush();
    chunks.sync();
    created->commit(folder.replaces);
    folder.on_appearance();
  }
  int first_element(const std::string& array) const {
    const auto array_objects = store::open_objects(root() + "/h.zarr/" + array, Sharing::kShared);
    const std::string text = read_object(*array_objects, "zarr.json");
    ChunkStore chunks(array_objects, parse_metadata(text, "zarr.json"), text, /*is_new=*/false);
    int value = 0;
    chunks.read({{0, reinterpret_cast<std::byte*>(&value), 4}});
    return value;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, NewHierarchies, testing::Values(Kind::kFolder, Kind::kMemory, Kind::kMemoryInPlace),
                         object_case::case_name);

TEST_P(NewHierarchies, GrowArrayByArray) {
  make_array("g/a", 1);
  make_array("g/b", 2);
  make_array("c", 3);
  make_array("g/a", 4);
  EXPECT_EQ(first_element("g/a"), 4);
  EXPECT_EQ(first_element("g/b"), 2);
  EXPECT_EQ(first_element("c"), 3);
  EXPECT_TRUE(is_group(read_object(*store::open_objects(root() + "/h.zarr", Sharing::kShared), "g/zarr.json"), "g"));
}

TEST_P(NewHierarchies, LoseConsolidatedMetadataWhenAnArrayIsAdded) {
  make_array("a", 1);
  const auto group = store::open_objects(root() + "/h.zarr", Sharing::kShared);
  group->put("zarr.json", text_bytes(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {}})"));
  make_array("b", 2);
  EXPECT_EQ(read_object(*group, "zarr.json"), R"({"zarr_format": 3, "node_type": "group"})");
}

}  // namespace
}  // namespace plait::container::zarr
