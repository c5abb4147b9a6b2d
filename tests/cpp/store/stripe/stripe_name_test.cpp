// Names and descriptions of striped files.
#include "store/stripe/stripe_name.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "plait/disks.hpp"
#include "stripe_case.hpp"

namespace {

using namespace stripe_case;

using Names = Stripes;

TEST_F(Names, AreParsed) {
  EXPECT_TRUE(stripe::is_name("stripe:a"));
  EXPECT_FALSE(stripe::is_name("./stripe:a"));
  const stripe::Name full = stripe::parse_name("stripe:x/a.bin?unit=3m&disks=/p,q r");
  EXPECT_EQ(full.path, "x/a.bin");
  EXPECT_EQ(full.disks, (std::vector<std::string>{"/p", "q r"}));
  EXPECT_EQ(full.unit, 3 << 20);
  for (const char* bare : {"stripe:a", "stripe:a?"}) {
    EXPECT_EQ(stripe::parse_name(bare).path, "a");
    EXPECT_TRUE(stripe::parse_name(bare).disks.empty());
    EXPECT_EQ(stripe::parse_name(bare).unit, 0);
  }
  EXPECT_EQ(stripe::parse_name("stripe:a?unit=7").unit, 7);
  EXPECT_EQ(stripe::parse_name("stripe:a?unit=7G").unit, std::int64_t{7} << 30);
}

TEST_F(Names, MayContainAnyCharacter) {
  const std::string odd_name = "50% a,b&c?d=%41";
  EXPECT_EQ(plait::stripe_url("a/b"), "stripe:a/b");
  EXPECT_EQ(plait::stripe_url("a?,&%", {"x,y", "z"}), "stripe:a%3F%2C%26%25?disks=x%2Cy,z");
  const stripe::Name name = stripe::parse_name(plait::stripe_url(odd_name, {odd_name, "q"}) + "&unit=8");
  EXPECT_EQ(name.path, odd_name);
  EXPECT_EQ(name.disks, (std::vector<std::string>{odd_name, "q"}));
  EXPECT_EQ(name.unit, 8);
  EXPECT_EQ(stripe::parse_name("stripe:%c3%a4%2f?disks=%41").path, "\xc3\xa4/");
  fs::create_directory(path(odd_name));
  make_new(plait::stripe_url(path("a" + odd_name), {path(odd_name), disk(1)}), 100)->commit();
  EXPECT_EQ(find(plait::stripe_url(path("a" + odd_name)), false).store->size(), 100);
  EXPECT_EQ(plait::stripe_count(path("a" + odd_name)), 2);
}

TEST_F(Names, ErrorsStateWhatIsWrong) {
  for (const auto& [name, expected_text] :
       std::vector<std::pair<std::string, std::string>>{{"stripe:", "no name"},
                                                        {"stripe:?disks=a", "no name"},
                                                        {"stripe:a%", "write %25"},
                                                        {"stripe:a%4", "write %25"},
                                                        {"stripe:a%4gb", "write %25"},
                                                        {"stripe:a%-1b", "write %25"},
                                                        {"stripe:a%00b", "write %25"},
                                                        {"stripe:a?disks=b%,c", "write %25"},
                                                        {"stripe:a?unit=0", "not above 0"},
                                                        {"stripe:a?unit=-4", "not above 0"},
                                                        {"stripe:a?unit=", "not a number"},
                                                        {"stripe:a?unit=K", "not a number"},
                                                        {"stripe:a?unit=4T", "not a number"},
                                                        {"stripe:a?unit=4KB", "not a number"},
                                                        {"stripe:a?unit=1.5K", "not a number"},
                                                        {"stripe:a?unit=9223372036854775808", "too large"},
                                                        {"stripe:a?unit=9007199254740992K", "too large"},
                                                        {"stripe:a?unit=4&unit=4", "twice"},
                                                        {"stripe:a?disks=a&disks=b", "twice"},
                                                        {"stripe:a?disks=a,,b", "without a name"},
                                                        {"stripe:a?disks=", "without a name"},
                                                        {"stripe:a?stripes=4", "the option \"stripes\" is not known"},
                                                        {"stripe:a?disks=a&", "the option \"\" is not known"}}) {
    const Error error = failure([&name = name] { stripe::parse_name(name); });
    EXPECT_EQ(error.kind(), ErrorKind::kArgument);
    EXPECT_SAYS(error, expected_text);
    EXPECT_SAYS(error, name);
  }
}

TEST_F(Names, TheSettingListsDisks) {
  ::setenv("PLAIT_DISKS", (disk(3) + "::" + disk(1) + ":").c_str(), 1);
  EXPECT_EQ(plait::disks(), (std::vector<std::string>{disk(3), disk(1)}));
  make_new(named("a"), 100)->commit();
  ::unsetenv("PLAIT_DISKS");
  EXPECT_TRUE(plait::disks().empty());
  EXPECT_EQ(plait::stripe_count(path("a")), 2);
  EXPECT_EQ(plait::stripe_count(named("a")), 2);
  const Description description = stripe::read_description(path("a"), "a");
  EXPECT_EQ(description.unit, 65536);
  EXPECT_EQ(fs::path(description.components[0]).parent_path(), disk(3));
  const Error error = failure([&] { make_new(named("b"), 100); });
  EXPECT_EQ(error.kind(), ErrorKind::kArgument);
  EXPECT_SAYS(error, "PLAIT_DISKS");
}

using Descriptions = Stripes;

TEST_F(Descriptions, DistributeTheBytesRoundRobin) {
  for (std::int64_t unit = 1; unit < 6; ++unit)
    for (std::size_t disks = 1; disks < 5; ++disks)
      for (std::int64_t bytes = 0; bytes < 40; ++bytes) {
        Description description{unit, bytes, "1", {}};
        std::vector<std::int64_t> expected(disks, 0);
        for (std::int64_t i = 0; i < bytes; ++i) ++expected[oracle::to_size_t(i / unit) % disks];
        for (std::size_t i = 0; i < disks; ++i) description.components.push_back(text("/", i));
        for (std::size_t i = 0; i < disks; ++i) ASSERT_EQ(description.component_bytes(i), expected[i]);
        EXPECT_EQ(stripe::parse(description.to_text(), "a"), description);
      }
}

TEST_F(Descriptions, HaveTheSameLengthForAnySize) {
  Description description{5, 0, "1", {"/a"}};
  const std::size_t length = description.to_text().size();
  description.bytes = INT64_MAX;
  EXPECT_EQ(description.to_text().size(), length);
  EXPECT_EQ(stripe::parse(description.to_text(), "a"), description);
}

TEST_F(Descriptions, DamageIsDetected) {
  const std::string good = Description{5, 7, "1f", {"/a", "/b"}}.to_text();
  for (std::size_t length = 14; length < good.size(); ++length)
    EXPECT_SAYS(failure([&] { stripe::parse(good.substr(0, length), "stripe:a"); }), "damaged") << length;
  // Returns the text with one part replaced.
  const auto with_replaced = [&good](const std::string& old, const std::string& replacement) {
    std::string bad = good;
    bad.replace(bad.find(old), old.size(), replacement);
    return bad;
  };
  for (const std::string& bad :
       {with_replaced("stripes 1", "stripes x"), with_replaced("unit 5", "unit 0"), with_replaced("unit 5", "unit -5"),
        with_replaced("unit 5", "unit 5x"), with_replaced("unit", "units"), with_replaced("bytes  ", "bytes -"),
        with_replaced("id 1f", "id "), with_replaced("/a", ""), with_replaced("end", "End"),
        with_replaced("component /a\ncomponent /b\n", ""), good + "more\n",
        with_replaced("unit 5", "unit 99999999999999999999")}) {
    const Error error = failure([&] { stripe::parse(bad, "stripe:a"); });
    EXPECT_EQ(error.kind(), ErrorKind::kSystem);
    EXPECT_SAYS(error, "cannot open stripe:a: its description is damaged");
  }
  const Error newer = failure([&] { stripe::parse(with_replaced("stripes 1", "stripes 2"), "stripe:a"); });
  EXPECT_SAYS(newer, "version 2");
  EXPECT_SAYS(newer, "newer Plait");
  EXPECT_SAYS(failure([] { stripe::parse("something else", "stripe:a"); }), "not the description of a striped file");
}

TEST_F(Descriptions, MayNameComponentsRelativeToTheirFolder) {
  Description description = make("a", 2, "3", 20);
  for (std::string& component : description.components) component = fs::relative(component, folder_).string();
  put("a", description.to_text());
  EXPECT_EQ(find(named("a"), false).store->size(), 20);
}

using Finding = Stripes;

TEST_F(Finding, NamesAMissingOrWrongComponent) {
  const Description description = make("a", 3, "4", 100);
  const std::string name = named("a");
  const auto find_error = [&] { return failure([&] { find(name, false); }); };
  fs::resize_file(description.components[2], 31);
  EXPECT_SAYS(find_error(),
              text("component file 3 of 3, ", description.components[2], " has 31 bytes, but should have 32"));
  fs::resize_file(description.components[2], 33);
  EXPECT_SAYS(find_error(), "has 33 bytes, but should have 32");
  fs::resize_file(description.components[2], 32);
  fs::remove(description.components[1]);
  EXPECT_SAYS(find_error(), text("component file 2 of 3, ", description.components[1], ": No such file or directory"));
  EXPECT_EQ(find_error().system_code(), ENOENT);
  fs::create_directory(description.components[1]);
  EXPECT_SAYS(find_error(), "not a regular file");
  put("plain", "text");
  EXPECT_SAYS(failure([&] { find(named("plain"), false); }), "without stripe:");
  EXPECT_EQ(failure([&] { find(named("none"), false); }).system_code(), ENOENT);
  EXPECT_EQ(plait::stripe_count(path("plain")), 1);
  EXPECT_EQ(failure([&] { plait::stripe_count(path("none")); }).system_code(), ENOENT);
  EXPECT_SAYS(failure([&] { plait::stripe_count(named("plain")); }), "without stripe:");
}

TEST_F(Finding, ComparesTheOptionsOfTheName) {
  make("a", 2, "4K", 100);
  EXPECT_NO_THROW(find(url("a", 2, "4096"), false));
  fs::create_symlink("d1", path("link"));
  EXPECT_NO_THROW(find(named("a") + "?disks=" + path("d0/") + "," + path("link"), false));
  const Error unit = failure([&] { find(url("a", 2, "4"), false); });
  EXPECT_EQ(unit.kind(), ErrorKind::kArgument);
  EXPECT_SAYS(unit, "stripes of 4096 bytes, but unit=4");
  EXPECT_SAYS(failure([&] { find(url("a", 3, "4K"), false); }), "disks=");
}

}  // namespace
