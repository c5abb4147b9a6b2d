/// Which calls a report is about: what was asked for by name, less what the program itself did not ask for.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/report/analysis.hpp"
#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"

namespace plait::trace::report {

/// Files that are the business of the system, of libraries and of interpreters, and no data of the program.
enum class Foreign : signed char { kNone = -1, kMpi, kKernel, kLibraries, kInterpreter, kSettings, kExcluded };
constexpr std::size_t kForeign = 6;

/// What a file is, by its name alone; docs/guides/trace-report.md lists the patterns in words.
Foreign foreign(const std::string& name);
/// What its files are called.
std::string_view name_of(Foreign what);

class Filter {
 public:
  enum class Verdict { kCounts, kLeftOut, kNotAsked };

  Filter(const Lookup& lookup, const Options& options) : lookup_(lookup), options_(options) {}
  /// Where there is a pattern of names, calls on other files are not asked for, nor calls on no file, unless they tell
  /// of the process.
  Verdict verdict(const Call& call);
  /// Counts a call that was left out.
  void leave(const Call& call);
  void result(Report& report) const;

 private:
  struct NameStatus {
    bool judged = false;
    bool asked = true;
    Foreign what = Foreign::kNone;
    bool counted = false;  // among the files left out
  };
  NameStatus judge(const std::string& name) const;

  const Lookup& lookup_;
  const Options& options_;
  std::vector<NameStatus> known_;  // of names
  std::array<LeftOutRow, kForeign> sums_{};
};

}  // namespace plait::trace::report
