/// Selection of the calls that a report counts: those on the requested names, without those that the program did not
/// make itself.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/report/analysis.hpp"
#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"

namespace plait::trace::report {

/// Classes of files that belong to the system, to libraries and to interpreters, and are not data of the program.
enum class FileClass : signed char { kNone = -1, kMpi, kKernel, kLibraries, kInterpreter, kSettings, kExcluded };
constexpr std::size_t kForeign = 6;

/// Returns the class of a file, derived from its name alone. docs/guides/trace-report.md describes the patterns.
FileClass foreign(const std::string& name);
/// Returns the name of a class of files.
std::string_view foreign_name(FileClass what);

class Filter {
 public:
  enum class Verdict { kCounts, kLeftOut, kNotAsked };

  Filter(const Lookup& lookup, const Options& options) : lookup_(lookup), options_(options) {}
  /// If a pattern of names is set, calls on other files do not count, nor calls on no file, unless they describe the
  /// process.
  Verdict verdict(const Call& call);
  /// Counts a call that is left out.
  void leave(const Call& call);
  void result(Report& report) const;

 private:
  struct NameStatus {
    bool judged = false;    // true if the next two fields are set
    bool requested = true;  // true if the name matches Options::file
    FileClass what = FileClass::kNone;
    bool counted = false;  // true if it is counted among the files left out
  };
  NameStatus judge(const std::string& name) const;

  const Lookup& lookup_;
  const Options& options_;
  std::vector<NameStatus> known_;  // one entry for each name
  std::array<LeftOutRow, kForeign> sums_{};
};

}  // namespace plait::trace::report
