// Names resolved by every driver, without opening the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/file_driver.hpp"
#include "driver/locating.hpp"
#include "plait/disks.hpp"
#include "plait/file.hpp"
#include "stripe_case.hpp"

namespace {

namespace fs = std::filesystem;
using plait::driver::ComponentFile;
using plait::driver::locate;
using plait::driver::ResolvedName;
using plait::driver::sibling_files;

constexpr const char* kStriped = "raw elements in a striped file";
constexpr const char* kDistant = "an array on the ranks' own disks";
constexpr const char* kDistantOne = "an array on the ranks' own disks, in one .npy file";

class ResolvedStores : public stripe_case::Stripes {
 protected:
  /// Returns the path relative to the working folder; it contains `..`.
  std::string relative(const std::string& name) const { return fs::relative(path(name)).string(); }
  /// Makes a symbolic link to a file, and returns its path.
  std::string make_link(const std::string& name) const {
    fs::create_symlink(path(name), path("link-" + name));
    return path("link-" + name);
  }
  std::string distant(const std::string& name) const { return "distant:" + name + "?folder=" + path(""); }
};

/// Expects a store whose bytes are in the file itself, without component files.
void expect_single_file(const ResolvedName& actual, const std::string& kind, const std::string& path) {
  EXPECT_EQ(actual.kind, kind);
  EXPECT_EQ(actual.path, path);
  EXPECT_EQ(actual.id, "");
  EXPECT_EQ(actual.only_in, "");
  EXPECT_EQ(actual.unit, 0);
  EXPECT_TRUE(actual.components.empty());
}

std::vector<std::string> sorted(std::vector<std::string> paths) {
  std::ranges::sort(paths);
  return paths;
}

TEST_F(ResolvedStores, OrdinaryFilesHaveTheKindOfTheirName) {
  const std::vector<std::pair<std::string, std::string>> kinds{{"a.npy", "a .npy file"},
                                                               {"a.gz", "raw elements, packed by gzip"},
                                                               {"a.bin", "raw elements"},
                                                               {"a", "raw elements"}};
  for (const bool exists : {false, true})
    for (const auto& [name, kind] : kinds) {
      if (exists) put(name, "content");
      const ResolvedName actual = locate(path(name));
      expect_single_file(actual, kind, path(name));
      EXPECT_EQ(actual.name, path(name));
      EXPECT_EQ(actual.states_type, name == "a.npy");
      EXPECT_TRUE(sibling_files(actual).empty());
      const ResolvedName raw = locate("raw:" + path(name));
      expect_single_file(raw, "raw elements", path(name));
      EXPECT_EQ(raw.name, "raw:" + path(name));
      EXPECT_FALSE(raw.states_type);
    }
}

TEST_F(ResolvedStores, OrdinaryNamesAreNotDecoded) {
  EXPECT_EQ(locate(path("a%20b?c")).path, path("a%20b?c"));
  EXPECT_EQ(locate("raw:" + path("stripe:%61")).path, path("stripe:%61"));
  EXPECT_EQ(locate("./distant:a").path, (fs::current_path() / "distant:a").string());
}

TEST_F(ResolvedStores, PathsAreAbsoluteWithoutLinks) {
  put("a.npy", "content");
  make("b", 2, "16", 96);
  EXPECT_EQ(locate(relative("a.npy")).path, path("a.npy"));
  EXPECT_EQ(locate("raw:" + relative("none")).path, path("none"));
  EXPECT_EQ(locate("stripe:" + relative("b")).path, path("b"));
  EXPECT_EQ(locate(path("d0/../a.npy")).path, path("a.npy"));
  EXPECT_EQ(locate(make_link("a.npy")).path, path("a.npy"));
  EXPECT_EQ(locate("stripe:" + make_link("b")).path, path("b"));
  EXPECT_EQ(locate("distant:" + path("link-b")).path, path("b"));
}

TEST_F(ResolvedStores, NamesOfMissingOrSpecialFilesAreNoErrors) {
  expect_single_file(locate(path("d0")), "raw elements", path("d0"));
  expect_single_file(locate(path("none/a.npy")), "a .npy file", path("none/a.npy"));
  expect_single_file(locate("/dev/null"), "raw elements", "/dev/null");
}

TEST_F(ResolvedStores, StripedFilesHaveComponents) {
  make("a", 2, "16", 96);
  for (const std::string& name : {named("a"), path("a"), url("a", 2, "16"), "stripe:" + relative("a")}) {
    const ResolvedName actual = locate(name);
    EXPECT_EQ(actual.kind, kStriped);
    EXPECT_EQ(actual.path, path("a"));
    EXPECT_EQ(actual.name, name == path("a") ? named("a") : name);
    EXPECT_EQ(actual.unit, 16);
    EXPECT_FALSE(actual.states_type);
    ASSERT_EQ(actual.components.size(), 2U);
    for (int i = 0; i < 2; ++i) {
      const ComponentFile& component = actual.components[static_cast<std::size_t>(i)];
      EXPECT_EQ(fs::path(component.path).parent_path(), disk(i));
      EXPECT_EQ(component.bytes, 48);
    }
  }
  fs::remove(locate(path("a")).components[1].path);
  const ResolvedName damaged = locate(path("a"));
  ASSERT_EQ(damaged.components.size(), 2U);
  EXPECT_EQ(damaged.components[0].bytes, 48);
  EXPECT_EQ(damaged.components[1].bytes, std::nullopt);
}

TEST_F(ResolvedStores, StripedFilesThatCannotBeOpenedHaveNoComponents) {
  expect_single_file(locate(named("none")), kStriped, path("none"));
  put("ordinary", "content");
  expect_single_file(locate(named("ordinary")), kStriped, path("ordinary"));
  for (const char* text : {"plait stripes 1\n", "plait stripes 1\nunit 16\nbytes 5\nid 7\ncomponent d0/x\n",
                           "plait stripes 9\nunit 16\n"}) {
    put("broken", text);
    for (const std::string& name : {named("broken"), path("broken")}) {
      expect_single_file(locate(name), kStriped, path("broken"));
      EXPECT_EQ(locate(name).name, named("broken"));
      EXPECT_TRUE(sibling_files(locate(name)).empty());
    }
  }
}

TEST_F(ResolvedStores, EscapesInNamesAreResolved) {
  const std::string name = path("x y?&,%");
  stripe_case::make_new(url("x%20y%3F%26%2C%25", 1, "16"), 10)->commit();
  const ResolvedName plain = locate(name);
  EXPECT_EQ(plain.name, plait::stripe_url(name));
  for (const ResolvedName& actual : {plain, locate(plait::stripe_url(name)), locate(named("x%20y%3f%26%2c%25"))}) {
    EXPECT_EQ(actual.path, name);
    EXPECT_EQ(actual.components.size(), 1U);
  }
  expect_single_file(locate("distant:a%3Fb?folder=" + path("x%20y")), kDistantOne, path("x y/a?b"));
}

TEST_F(ResolvedStores, InvalidNamesAreErrors) {
  for (const auto& [name, expected_text] : std::vector<std::pair<std::string, std::string>>{
           {"stripe:", "no name after stripe:"},
           {"stripe:a?wide=1", "the option \"wide\" is not known"},
           {"stripe:a%4", "write %25"},
           {"distant:?unit=4K", "no name after distant:"},
           {"distant:a?folder=", "folder= is empty"},
       }) {
    const plait::Error error = stripe_case::failure([&, invalid = name] { locate(invalid); });
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    EXPECT_SAYS(error, expected_text);
  }
}

TEST_F(ResolvedStores, DistantArraysHaveTheVisibleComponents) {
  expect_single_file(locate(distant("d")), kDistantOne, path("d"));
  const std::string id = "-0123456789abcdef";
  put("d.c1of3" + id, "12345");
  put("d.c0of3" + id, "1234");
  put("d.c0of3" + id + ".meta", "what belongs together");
  for (const char* other : {"d.c3of3-0123456789abcdef", "d.c0of3-012", "e.c0of3-0123456789abcdef", "d.c0"})
    put(other, "");
  for (const std::string& name :
       {distant("d"), distant("%64") + "&striped=true", "distant:" + path("d"), "distant:" + relative("d")}) {
    const ResolvedName actual = locate(name);
    EXPECT_EQ(actual.kind, kDistant);
    EXPECT_EQ(actual.path, path("d"));
    EXPECT_EQ(actual.name, name);
    EXPECT_TRUE(actual.states_type);
    ASSERT_EQ(actual.components.size(), 2U);
    EXPECT_EQ(actual.components[0].path, path("d.c0of3" + id));
    EXPECT_EQ(actual.components[0].bytes, 4);
    EXPECT_EQ(actual.components[1].path, path("d.c1of3" + id));
    EXPECT_EQ(actual.components[1].bytes, 5);
  }
}

TEST_F(ResolvedStores, DistantArraysAreFoundAsTheyAreWritten) {
  plait::FileOptions options;
  options.shape = {70};
  options.dtype = "<f8";
  for (const bool is_striped : {false, true}) {
    const std::string url = is_striped ? distant("d-striped") + "&striped=true" : distant("d-one") + "&striped=false";
    plait::File::open(url, plait::Mode::kWrite, options).close();
    const ResolvedName actual = locate(url);
    EXPECT_EQ(actual.kind, is_striped ? kDistant : kDistantOne);
    EXPECT_EQ(actual.components.size(), is_striped ? 1U : 0U);
    EXPECT_EQ(fs::exists(actual.path), !is_striped);
  }
}

TEST_F(ResolvedStores, DistantArraysUseTheFolderOfTheEnvironment) {
  ::setenv("PLAIT_DISTANT_FOLDER", path("d0").c_str(), 1);
  EXPECT_EQ(locate("distant:a").path, path("d0/a"));
  EXPECT_EQ(locate("distant:x/../a?unit=4K").path, path("d0/a"));
  EXPECT_EQ(locate(distant("a")).path, path("a"));
  ::unsetenv("PLAIT_DISTANT_FOLDER");
}

/// The sibling files are the same for all names that lead to the path, whatever their driver.
TEST_F(ResolvedStores, SiblingFilesAreThoseOfAllDrivers) {
  const stripe_case::Description description = make("d", 2, "16", 96);
  put("d.c0of1-0123456789abcdef", "1234");
  put("d.c0of1-0123456789abcdef.meta", "what belongs together");
  std::vector<std::string> expected = description.components;
  expected.push_back(path("d.c0of1-0123456789abcdef"));
  expected.push_back(path("d.c0of1-0123456789abcdef.meta"));
  for (const std::string& name : {path("d"), "raw:" + path("d"), named("d"), distant("d")}) {
    std::vector<std::string> actual = sorted(sibling_files(locate(name)));
    actual.erase(std::unique(actual.begin(), actual.end()), actual.end());
    EXPECT_EQ(actual, sorted(expected)) << name;
  }
  expect_single_file(locate("raw:" + path("d")), "raw elements", path("d"));
}

TEST_F(ResolvedStores, MemoryAndPipesHaveNoPath) {
  const ResolvedName memory = locate("memory:a?b");
  EXPECT_EQ(memory.kind, "an array in memory");
  EXPECT_EQ(memory.id, "memory:a?b");
  EXPECT_EQ(memory.only_in, "the memory of the process that made it");
  const ResolvedName pipe = locate("pipe:flow?queue=3");
  EXPECT_EQ(pipe.kind, "pipe");
  EXPECT_EQ(pipe.id, "pipe:flow");
  EXPECT_EQ(pipe.name, "pipe:flow?queue=3");
  EXPECT_EQ(pipe.only_in, "");
  for (const ResolvedName& actual : {memory, pipe}) {
    EXPECT_EQ(actual.path, "");
    EXPECT_TRUE(actual.components.empty());
    EXPECT_TRUE(sibling_files(actual).empty());
  }
}

/// A driver that does not override locate().
class AddedDriver : public plait::driver::FileDriver {
 public:
  std::string_view prefix() const override { return "added:"; }
  plait::driver::Contents contents() const override { return plait::driver::Contents::kRaw; }
  plait::store::OpenLocation find(const std::string& /*name*/, bool /*writable*/) const override { return {}; }
  std::unique_ptr<plait::store::Store> open(const plait::store::Location& /*location*/,
                                            bool /*writable*/) const override {
    return nullptr;
  }
  std::unique_ptr<plait::store::NewFile> create(const std::string& /*name*/,
                                                const plait::store::NewFileOptions& /*options*/) const override {
    return nullptr;
  }
};

TEST_F(ResolvedStores, AddedDriversHaveDefaults) {
  const AddedDriver driver;
  const plait::driver::Driver& any = driver;
  expect_single_file(any.locate("added:" + path("a%20b") + "?c=d"), "added", path("a b"));
  EXPECT_TRUE(any.sibling_files(path("a")).empty());
}

}  // namespace
