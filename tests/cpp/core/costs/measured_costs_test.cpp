// Constants of the cost model in files: accepted and rejected files, and choices that follow them on all ranks.
#include "core/costs/measured_costs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/comm/internals.hpp"
#include "folder.hpp"
#include "oracle.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "transport/thread/team.hpp"

namespace {

using oracle::expect_rejected;
using plait::Error;
using plait::File;
using plait::FileOptions;
using plait::Layout;
using plait::Mode;
using plait::core::costs_here;
using plait::core::Machine;
using plait::core::parse_costs;
using plait::plan::CostModel;

const Machine kMachine{"node7", "A Processor", 4};

/// Returns a file with 1.5 times the default constants; `line` replaces the line of the constant `replaced_name`.
std::string make_file(const std::string& replaced_name = "", const std::string& line = "") {
  std::string out = "# words\n\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    out += (name == replaced_name ? line : name + " = " + value) + "\n";
  };
  add("version", "2");
  add("host", "\"node7\"");
  add("processor", "\"A Processor\"  # of 2019");
  add("cores", "4");
  for (const auto& term : plait::plan::kCostTerms) add(term.name, std::to_string(CostModel{}.*term.value * 1.5 + 1e-6));
  return out;
}

TEST(Costs, AreReadFromTheFile) {
  const CostModel costs =
      parse_costs(make_file("request_seconds", "  request_seconds=3.25e-06 # measured"), "f.toml", kMachine,
                  /*check_machine=*/true);
  EXPECT_EQ(costs.request_seconds, 3.25e-6);
  EXPECT_EQ(costs.source, "f.toml");
  for (const auto& term : plait::plan::kCostTerms) {
    EXPECT_NE(costs.*term.value, CostModel{}.*term.value) << term.name;
  }
}

TEST(Costs, DamagedFilesAreErrors) {
  const auto expect_error = [](const std::string& content, const std::string& text) {
    expect_rejected([&] { parse_costs(content, "f.toml", kMachine, true); }, text);
  };
  expect_error("", "f.toml has no version");
  expect_error(make_file("version", "version = 1"),
               "f.toml is of version 1, and this Plait uses version 2; measure again with `plait model calibrate`");
  expect_error(make_file("run_seconds", ""), "f.toml has no run_seconds");
  expect_error(make_file("run_seconds", "run_seconds"), "line 12: \"run_seconds\" is not of the form name = value");
  expect_error(make_file("run_seconds", "run_seconds = "), "not of the form");
  expect_error(make_file("run_seconds", "run_seconds = fast"), "run_seconds is fast, and a number was expected");
  expect_error(make_file("run_seconds", "run_seconds = 1e-9s"), "a number was expected");
  expect_error(make_file("run_seconds", "run_seconds = -1e-9"), "a number from 1e-13 to 10 was expected");
  expect_error(make_file("run_seconds", "run_seconds = nan"), "was expected");
  expect_error(make_file("copy_bytes_per_second", "copy_bytes_per_second = inf"), "was expected");
  expect_error(make_file("processor", "processor = A Processor"), "a text in quotes was expected");
  const std::string whole = make_file();
  for (std::size_t cut = 0; cut + 20 < whole.size(); ++cut)
    EXPECT_THROW(parse_costs(whole.substr(0, cut), "f.toml", kMachine, true), Error) << cut;
}

TEST(Costs, FilesOfAnotherMachineAreErrorsUnlessTheyAreNamed) {
  const auto expect_error = [](const std::string& content, const std::string& text) {
    expect_rejected([&] { parse_costs(content, "f.toml", kMachine, true); }, text);
    EXPECT_NO_THROW(parse_costs(content, "f.toml", kMachine, false));
  };
  expect_error(make_file("processor", "processor = \"Another\""),
               "measured on another processor (Another, and this is A Proc");
  expect_error(make_file("cores", "cores = 8"), "measured with 8 cores, and this host has 4");
}

/// Sets an environment variable during the lifetime of this object.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* previous = std::getenv(name)) previous_ = previous;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() { previous_ ? ::setenv(name_, previous_->c_str(), 1) : ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> previous_;
};

class CostFiles : public plait_test::FolderTest {
 protected:
  /// Writes a file, and returns its path.
  std::string put(const std::string& name, const std::string& content) {
    const std::string file_path = path(name);
    std::filesystem::create_directories(std::filesystem::path(file_path).parent_path());
    std::ofstream(file_path) << content;
    return file_path;
  }
};

/// Returns a file for this machine; `line` replaces the line of the constant `replaced_name`.
std::string make_file_here(const std::string& replaced_name = "", const std::string& line = "") {
  const Machine machine = plait::core::this_machine();
  std::string out = make_file(replaced_name, line);
  const auto replace = [&](const std::string& old_text, const std::string& new_text) {
    if (const std::size_t offset = out.find(old_text); offset != std::string::npos)
      out.replace(offset, old_text.size(), new_text);
  };
  replace("processor = \"A Processor\"", "processor = \"" + machine.processor + '"');
  replace("cores = 4", "cores = " + std::to_string(machine.cores));
  return out;
}

TEST_F(CostFiles, OfThisHostAreReadOnce) {
  const EnvironmentVariable no_model("PLAIT_MODEL", "");
  const EnvironmentVariable cache("XDG_CACHE_HOME", path("a"));
  const std::string suffix = "/plait/model/" + plait::core::this_machine().host + ".toml";
  EXPECT_EQ(plait::core::costs_path(), path("a") + suffix);
  const std::string file_path = put("a" + suffix, make_file_here("wait_seconds", "wait_seconds = 0.125"));
  const auto costs = costs_here();
  ASSERT_NE(costs, nullptr);
  EXPECT_EQ(costs->wait_seconds, 0.125);
  EXPECT_EQ(costs->source, file_path);
  std::filesystem::remove(file_path);
  EXPECT_EQ(costs_here(), costs);
  const EnvironmentVariable none("PLAIT_MODEL", "builtin");
  EXPECT_EQ(costs_here(), nullptr);
}

TEST_F(CostFiles, OfThisHostThatAreDamagedAreReportedOnce) {
  const EnvironmentVariable no_model("PLAIT_MODEL", "");
  const std::string suffix = "/plait/model/" + plait::core::this_machine().host + ".toml";
  for (const auto& [content, text] : {std::pair<std::string, std::string>{"what?", "is not of the form"},
                                      {make_file_here("version", "version = 7"), "is of version 7"},
                                      {make_file_here("cores", "cores = 100000"), "measured with 100000 cores"},
                                      {make_file_here("processor", "processor = \"Z80\""), "another processor (Z80"}}) {
    const std::string folder = text.substr(0, 5);
    const EnvironmentVariable cache("XDG_CACHE_HOME", path(folder));
    put(folder + suffix, content);
    testing::internal::CaptureStderr();
    EXPECT_EQ(costs_here(), nullptr);
    EXPECT_EQ(costs_here(), nullptr);
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
    EXPECT_NE(printed.find(text), std::string::npos) << printed;
    EXPECT_NE(printed.find("built-in"), std::string::npos) << printed;
  }
}

TEST_F(CostFiles, ThatAreNamedMustExist) {
  const auto expect_error = [](const std::string& name, const std::string& text) {
    const EnvironmentVariable named("PLAIT_MODEL", name);
    expect_rejected([] { costs_here(); }, text);
    expect_rejected([&] { costs_here(); }, "PLAIT_MODEL=" + name);
  };
  expect_error(path("none.toml"), "cannot be read");
  expect_error(put("bad.toml", make_file("version", "")), "has no version");
  const EnvironmentVariable named("PLAIT_MODEL", put("other.toml", make_file("cores", "cores = 1000")));
  EXPECT_NE(costs_here(), nullptr);
}

TEST_F(CostFiles, AreNotReadWithoutACacheFolder) {
  const EnvironmentVariable no_model("PLAIT_MODEL", "");
  const EnvironmentVariable relative("HOME", "somewhere");
  const EnvironmentVariable cache("XDG_CACHE_HOME", "else");
  EXPECT_EQ(plait::core::costs_path(), "");
  EXPECT_EQ(costs_here(), nullptr);
  const EnvironmentVariable absolute("HOME", path("me"));
  EXPECT_TRUE(plait::core::costs_path().starts_with(path("me/.cache/plait/model/")));
}

TEST_F(CostFiles, DetermineThePlanOnAllRanks) {
  put("a.bin", std::string(600 * 500 * 8, 'x'));
  const Layout layout({600, 500}, {plait::Distribution::cyclic(), plait::Distribution::collapsed()}, {3});
  FileOptions options;
  options.shape = plait::Extents{600, 500};
  options.element_bytes = 8;
  // Returns the plan of a read, which must be the same on all ranks.
  const auto explain_with = [&](const std::string& model) {
    const EnvironmentVariable setting("PLAIT_MODEL", model);
    std::mutex mutex;
    std::set<std::string> plans;
    plait::transport::thread::run_team(3, [&](plait::transport::Transport& inner) {
      plait::transport::Transport* transport = &inner;
      const plait::Comm comm =
          plait::core::comm_over(std::shared_ptr<plait::transport::Transport>(transport, [](auto*) {}));
      File file = File::open(path("a.bin"), Mode::kRead, options, comm);
      const std::string plan = file.explain(layout);
      file.close();
      const std::lock_guard lock(mutex);
      plans.insert(plan);
    });
    EXPECT_EQ(plans.size(), 1U);
    return *plans.begin();
  };
  const auto expect_part = [](const std::string& plan, const std::string& text) {
    EXPECT_NE(plan.find(text), std::string::npos) << plan;
  };
  const std::string slow_requests = put("slow.toml", make_file("request_seconds", "request_seconds = 1e-3"));
  const std::string slow_waits = put("fast.toml", make_file("wait_seconds", "wait_seconds = 0.5"));
  expect_part(explain_with(slow_requests), "strategy   two-phase, ");
  expect_part(explain_with(slow_requests), "constants  of " + slow_requests + '\n');
  expect_part(explain_with(slow_waits), "strategy   direct, ");
  expect_part(explain_with(slow_waits), "constants  of " + slow_waits + '\n');
  expect_part(explain_with("builtin"), "constants  built in\n");
}

}  // namespace
