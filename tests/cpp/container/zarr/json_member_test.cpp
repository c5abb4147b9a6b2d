// Changes of one member of a JSON text that leave all other bytes unchanged.
#include "container/zarr/json_member.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace plait::container::zarr {
namespace {

TEST(JsonMember, RemovesAMemberAndLeavesAllOtherBytes) {
  EXPECT_EQ(remove_member(R"({"a": 1, "k": {"x": [1, {"k": 2}]}, "b": 2})", "k"), R"({"a": 1, "b": 2})");
  EXPECT_EQ(remove_member(R"({ "k" : 5 , "b": 2})", "k"), R"({ "b": 2})");
  EXPECT_EQ(remove_member(R"({"a": 1, "k": null})", "k"), R"({"a": 1})");
  EXPECT_EQ(remove_member(R"({"k": "}\",{"})", "k"), "{}");
  EXPECT_EQ(remove_member(R"({"k": 1, "a": 340282366920938463463374607431768211457, "k": 2})", "k"),
            R"({"a": 340282366920938463463374607431768211457})");
  EXPECT_EQ(remove_member("{\n  \"a\": NaN\n}\n", "k"), "{\n  \"a\": NaN\n}\n");
  EXPECT_EQ(remove_member(R"({"attributes": {"k": 1}})", "k"), R"({"attributes": {"k": 1}})");
  EXPECT_EQ(remove_member(" {} ", "k"), " {} ");
}

TEST(JsonMember, ComparesNamesAfterDecodingEscapes) {
  EXPECT_EQ(remove_member(R"({"gr\u00f6": 1, "b": 2, "gr\u00F6": 3})", "gr\u00f6"), R"({"b": 2})");
  EXPECT_EQ(set_member(R"({"gr\u00f6": 1, "b": 2})", "gr\u00f6", "3"), R"({"gr\u00f6": 3, "b": 2})");
  EXPECT_EQ(remove_member(R"({"a\/b": 1, "q\"": 2})", "a/b"), R"({"q\"": 2})");
  EXPECT_EQ(set_member("{}", "q\"", "2"), R"({"q\"": 2})");
}

TEST(JsonMember, UsesTheLastOfDuplicateMembers) {
  const std::string duplicate = R"({"k": 1, "a": 0, "k": 2})";
  EXPECT_EQ(find_member_text(duplicate, "k"), "2");
  const auto created = set_member(duplicate, "k", "3");
  ASSERT_TRUE(created);
  EXPECT_EQ(nlohmann::json::parse(*created)["k"], 3);
}

TEST(JsonMember, RejectsTextsThatAreNotObjects) {
  for (const char* text :
       {"", "[]", "{", R"({"a")", R"({"a": 1)", R"({"a": "1})", R"({"a": ]})", R"({"k" 1})", R"({,})"})
    EXPECT_FALSE(remove_member(text, "k")) << text;
}

TEST(JsonMember, AgreesWithAParserInEveryOrder) {
  const std::array<std::string, 4> members{R"("a": [1, "],}"])", R"("k": {"k": {}})", R"("b\"": "k")", R"("c": {})"};
  for (std::size_t first = 0; first < 4; ++first)
    for (std::size_t second = 0; second < 4; ++second)
      for (std::size_t third = 0; third < 4; ++third) {
        std::string text = "{" + members[first];
        text += "," + members[second];
        text += " ,\n" + members[third] + "}";
        auto expected = nlohmann::json::parse(text);
        expected.erase("k");
        const auto created = remove_member(text, "k");
        ASSERT_TRUE(created) << text;
        EXPECT_EQ(nlohmann::json::parse(*created), expected) << text << " became " << *created;
      }
}

}  // namespace
}  // namespace plait::container::zarr
