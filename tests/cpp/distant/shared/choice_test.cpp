// Which of the files that the ranks see under one name is opened, and the descriptions that components contain.
#include "distant/shared/choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "distant/shared/folder.hpp"
#include "distant/shared/shared_file_description.hpp"
#include "plait/error.hpp"

namespace {

using plait::distant::shared::Choice;
using plait::distant::shared::choose;
using plait::distant::shared::component_suffix;
using plait::distant::shared::Description;
using plait::distant::shared::NameView;
using plait::distant::shared::parse;
using plait::distant::shared::parse_component_name;
using plait::distant::shared::StripedFile;
using plait::store::Identity;

const std::string kOld = "0123456789abcdef";
const std::string kNew = "00000000000000ff";

/// Describes a file of four components, two on each of two hosts, which replaces the files with the ids `replaced`.
Description describe_file(const std::string& id, std::vector<std::string> replaced = {}) {
  return {id, 4, 1000, 0, {{0, 1, "here"}, {2, 3, "over there"}}, std::move(replaced), 0};
}

/// Returns the error of choosing among the files that ranks 0, 1, ... see.
std::string catch_error(const std::vector<NameView>& views, std::optional<bool> striped = std::nullopt) {
  try {
    choose("/disk/x", striped, views);
  } catch (const plait::Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  does not say\n" << part;
}

TEST(SharedChoice, RanksServeComponentsThatTheySee) {
  const StripedFile first_host{describe_file(kOld), {0, 1}};
  const StripedFile second_host{describe_file(kOld), {2, 3}};
  const std::vector<NameView> views{{{}, {first_host}}, {{}, {first_host}}, {{}, {second_host}}, {{}, {second_host}}};
  EXPECT_EQ(choose("x", std::nullopt, views), (Choice{false, kOld, 1000, {0, 1, 2, 3}}));
  // With fewer ranks, one rank serves several components.
  EXPECT_EQ(choose("x", true, {views[3], views[0]}).servers, (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(choose("x", true, {{{}, {{describe_file(kOld), {0, 1, 2, 3}}}}}).servers, (std::vector<int>{0, 0, 0, 0}));
  // With more ranks that see them, the components are distributed evenly.
  const StripedFile all{describe_file(kOld), {0, 1, 2, 3}};
  std::vector<int> servers = choose("x", std::nullopt, {{{}, {first_host}}, {{}, {all}}, {}, {{}, {all}}}).servers;
  EXPECT_EQ(std::ranges::count(servers, 2), 0);
  for (const int rank : {0, 1, 3}) EXPECT_LE(std::ranges::count(servers, rank), 2);
}

TEST(SharedChoice, MissingComponentsAreListedWithTheirHosts) {
  const std::vector<NameView> views{{{}, {{describe_file(kOld), {1}}}}, {}};
  expect_part(catch_error(views), "no rank sees 0, written on host here; 2 to 3, written on host over there");
  expect_part(catch_error({{}, {}}), "there is no such file, and no rank sees a component");
  expect_part(catch_error({{}, {}}, true), "no rank sees a component of it");
  expect_part(catch_error(views, false), "there is no such file");
}

TEST(SharedChoice, ANewFileHidesTheFilesThatItReplaces) {
  const StripedFile old{describe_file(kOld), {0, 1, 2, 3}};
  const StripedFile incomplete_old{describe_file(kOld), {0}};
  const StripedFile unrelated{describe_file(kNew), {0, 1, 2, 3}};
  const StripedFile incomplete_new{describe_file(kNew, {kOld}), {1, 2}};
  const StripedFile complete_new{describe_file(kNew, {kOld}), {0, 1, 2, 3}};
  EXPECT_EQ(choose("x", std::nullopt, {{{}, {old, incomplete_new}}}).id, kOld);
  EXPECT_EQ(choose("x", std::nullopt, {{{}, {old, complete_new}}}).id, kNew);
  EXPECT_EQ(choose("x", std::nullopt, {{{}, {incomplete_old, complete_new}}}).id, kNew);
  // Files with the same name from several jobs, on different hosts.
  EXPECT_EQ(choose("x", std::nullopt, {{{}, {incomplete_old}}, {{}, {unrelated}}}).id, kNew);
  expect_part(catch_error({{{}, {old}}, {{}, {unrelated}}}),
              "several striped files have this name: those with the ids " + kNew);
}

TEST(SharedChoice, AnOrdinaryFileMustBeTheSameForAllRanks) {
  const Identity ordinary{12, 0, 100, 5};
  const Identity other_file{12, 0, 101, 5};
  EXPECT_TRUE(choose("x", std::nullopt, {{ordinary, {}}, {ordinary, {}}}).one);
  expect_part(catch_error({{ordinary, {}}, {ordinary, {}}, {other_file, {}}}),
              "ranks 0 and 2 do not see the same ordinary file");
  expect_part(catch_error({{{}, {}}, {ordinary, {}}}, false), "ranks 0 and 1 do not see the same");
  const StripedFile striped{describe_file(kOld), {0, 1, 2, 3}};
  const std::vector<NameView> both{{ordinary, {striped}}};
  expect_part(catch_error(both), "an ordinary file and a striped one");
  EXPECT_TRUE(choose("x", false, both).one);
  EXPECT_FALSE(choose("x", true, both).one);
  // An incomplete striped file does not prevent the choice of an ordinary file.
  EXPECT_TRUE(choose("x", std::nullopt, {{ordinary, {{describe_file(kOld), {1}}}}}).one);
}

TEST(SharedChoice, ViewsAndChoicesAreEncodedAndDecoded) {
  const NameView view{Identity{~0ULL, 5, -7, 8},
                      {{describe_file(kOld), {0, 3}}, {describe_file(kNew, {kOld, "aaaaaaaaaaaaaaaa"}), {}}}};
  const auto round_trip = [](const auto& value) {
    return plait::base::decode<std::remove_cvref_t<decltype(value)>>(plait::base::encode(value),
                                                                     plait::base::kAnotherRank);
  };
  EXPECT_EQ(round_trip(view), view);
  EXPECT_EQ(round_trip(NameView{}), NameView{});
  const Choice choice{false, kOld, 4096, {3, 0, 0}};
  EXPECT_EQ(round_trip(choice), choice);
  const Choice single{true, {}, 0, {0}, 0};
  EXPECT_EQ(round_trip(single), single);
}

TEST(SharedDescription, TextsAreReadBackOrRejected) {
  const Description whole = describe_file(kNew, {kOld});
  const std::string text = whole.to_text();
  EXPECT_EQ(parse(text, "here"), whole);
  Description limited = whole;
  limited.limit = 5000;
  EXPECT_EQ(parse(limited.to_text(), "here"), limited);
  EXPECT_TRUE(text.starts_with("plait shared file 1\n"));
  EXPECT_TRUE(limited.to_text().starts_with("plait shared file 2\n"));
  EXPECT_EQ(whole.host(1), "here");
  EXPECT_EQ(whole.host(2), "over there");
  // Every truncated text, and every text without one of its lines, is damaged.
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_THROW(parse(text.substr(0, length), "here"), plait::Error) << length;
  const auto parse_changed = [&](const std::string& from, const std::string& to) {
    std::string result = text;
    result.replace(result.find(from), from.size(), to);
    try {
      parse(result, "/disk/x.meta");
    } catch (const plait::Error& error) {
      EXPECT_EQ(error.kind(), plait::ErrorKind::kSystem);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  expect_part(parse_changed("file 1", "file 3"), "cannot use /disk/x.meta: it is of version 3");
  expect_part(parse_changed("file 1", "file 2"), "lacks the line that begins with \"limit \"");
  expect_part(parse_changed("unit 1000", "unit 0"), "no number of at least 1");
  expect_part(parse_changed("components 4", "components 5"), "does not list the hosts of all components");
  expect_part(parse_changed("component 0", "component 4"), "its component number is 4, but there are 4 components");
  expect_part(parse_changed("host 2 3", "host 1 3"), "component 2's host");
  expect_part(parse_changed("id " + kNew, "id 12"), "no id of 16 digits");
  expect_part(parse_changed("end\n", "end\nmore\n"), "text after its last line");
  expect_part(parse_changed("unit 1000\n", ""), "lacks the line that begins with \"unit \"");
}

TEST(SharedDescription, NamesOfComponentsAreRecognised) {
  const auto component = parse_component_name("x.y" + component_suffix(3, 12, kOld), "x.y");
  ASSERT_TRUE(component);
  EXPECT_EQ(component->component, 3);
  EXPECT_EQ(component->components, 12);
  EXPECT_EQ(component->id, kOld);
  EXPECT_FALSE(component->description);
  EXPECT_TRUE(parse_component_name("x" + component_suffix(0, 1, kOld) + ".meta", "x")->description);
  for (const std::string& name : std::vector<std::string>{
           "x", "x.c3of12", "x.c3of12-12", "x.c12of12-" + kOld, "x.c-1of12-" + kOld, "y.c3of12-" + kOld,
           "x.c3of12-" + kOld + ".bak", "x" + component_suffix(3, 12, kOld, 's')})
    EXPECT_FALSE(parse_component_name(name, "x")) << name;
}

}  // namespace
