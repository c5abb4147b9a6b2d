// Properties of arrays: their text in the description of a collective call, their encoding, and defaults.
#include "container/properties.hpp"

#include <gtest/gtest.h>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "container/encoding.hpp"
#include "plait/file_options.hpp"

namespace plait::container {
namespace {

/// Returns an array with every property.
ArrayDescription make_temperature() {
  ArrayDescription array;
  array.name = "t";
  array.type = {{6, 8}, "<f4", 4, Order::kFortran};
  array.chunk = Extents{3, 8};
  array.shard = Extents{6, 8};
  array.codec = "zstd:3";
  array.fill_value = "NaN";
  array.dimension_names = {"time", "lat"};
  array.unlimited = {0};
  array.attributes = {{"units", ArrayAttribute::kTexts, {}, {}, {"K"}}};
  return array;
}

TEST(Properties, AreAllNamedInTheTextOfACall) {
  EXPECT_EQ(properties_text(make_temperature()),
            ", chunks 3x8, shards 6x8, codec zstd:3, fill_value NaN, dimension_names time lat, unlimited 0, "
            "attributes 1");
  EXPECT_EQ(properties_text(ArrayProperties()), "");
}

TEST(Properties, FillValuesThatAreAttributesAreInTheTextOfACall) {
  ArrayProperties array;
  array.attributes = {{"_FillValue", "<u2", {}, {std::byte{1}, std::byte{2}}}};
  EXPECT_EQ(properties_text(array), ", attributes 1, _FillValue <u2 scalar 1 2");
}

TEST(Properties, TheFirstStatedPropertyIsNamed) {
  ArrayProperties array = make_temperature();
  EXPECT_STREQ(find_stated_property(array), "a shape of chunks");
  array.chunk = array.shard = std::nullopt;
  EXPECT_STREQ(find_stated_property(array), "a codec");
  EXPECT_EQ(find_stated_property(ArrayProperties()), nullptr);
}

TEST(Properties, AttributesAloneNeedNoChunks) {
  ArrayProperties array;
  array.attributes = make_temperature().attributes;
  EXPECT_FALSE(describes_storage(array));
  array.unlimited = {0};
  EXPECT_TRUE(describes_storage(array));
  array.unlimited.clear();
  array.chunk = Extents();  // a request for contiguous storage
  EXPECT_TRUE(describes_storage(array));
}

TEST(Properties, DefaultsDoNotReplaceStatedProperties) {
  ArrayProperties array;
  array.codec = "none";
  apply_defaults(array, make_temperature());
  EXPECT_EQ(properties_text(array),
            ", chunks 3x8, shards 6x8, codec none, fill_value NaN, dimension_names time lat, unlimited 0, "
            "attributes 1");
}

TEST(Properties, AreEncodedAndCopiedToOptionsWithoutLoss) {
  const ArrayDescription array = make_temperature();
  const auto copy = base::decode<ArrayDescription>(base::encode(array), base::kAnotherRank);
  EXPECT_EQ(properties_text(copy), properties_text(array));
  EXPECT_EQ(copy.attributes, array.attributes);
  const FileOptions options = options_for(copy);
  EXPECT_EQ(properties_text(options), properties_text(array));
  EXPECT_EQ(options.shape, array.type.shape);
  EXPECT_EQ(options.dtype, "<f4");
  EXPECT_EQ(options.element_bytes, 4);
  EXPECT_EQ(options.order, Order::kFortran);
}

}  // namespace
}  // namespace plait::container
