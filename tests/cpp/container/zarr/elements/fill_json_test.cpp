// Fill values of records: a JSON object with a value for each field.
#include "container/zarr/elements/fill_json.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace plait::container::zarr {
namespace {

/// Returns the bytes of the fill value that a JSON text states; empty if it is invalid for the dtype.
std::vector<int> fill_bytes(const char* value, const char* dtype) {
  std::vector<int> numbers;
  for (const std::byte byte : read_fill(nlohmann::json::parse(value), dtype)) numbers.push_back(static_cast<int>(byte));
  return numbers;
}

TEST(FillJson, RecordsHaveTheValuesOfTheirFields) {
  EXPECT_EQ(fill_bytes(R"({"a": 1, "b": 2})", "[('a', '|u1'), ('b', '<i2')]"), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(fill_bytes(R"({"a": 1, "r": {"x": 3, "y": 4}})", "[('a', '|u1'), ('r', [('x', '|u1'), ('y', '>i2')])]"),
            (std::vector<int>{1, 3, 0, 4}));
}

TEST(FillJson, PaddingOfRecordsIsZero) {
  EXPECT_EQ(fill_bytes(R"({"a": 1, "b": 2})", "[('a', '|u1'), ('', '|V2'), ('b', '<i2')]"),
            (std::vector<int>{1, 0, 0, 2, 0}));
}

TEST(FillJson, RecordsWithAMissingOrInvalidFieldHaveNone) {
  EXPECT_TRUE(fill_bytes(R"({"a": 1})", "[('a', '|u1'), ('b', '<i2')]").empty());
  EXPECT_TRUE(fill_bytes(R"({"a": 300, "b": 2})", "[('a', '|u1'), ('b', '<i2')]").empty());
  EXPECT_TRUE(fill_bytes(R"({"a": 1})", "[('a', '|u1', (2,))]").empty());
}

}  // namespace
}  // namespace plait::container::zarr
