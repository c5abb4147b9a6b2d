/// Selection of the calls that a report counts: calls on the files that the user requested, except calls that
/// libraries, the interpreter or the system made and not the program itself.
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

/// Returns the class of a file, derived from its name alone; kNone: the file may be data of the program.
/// docs/guides/trace-report.md describes the patterns.
FileClass classify_foreign_file(const std::string& name);
/// Returns the name of a class of files.
std::string_view file_class_name(FileClass what);

class Filter {
 public:
  enum class Verdict { kCounts, kLeftOut, kNotRequested };

  Filter(const Lookup& lookup, const Options& options) : lookup_(lookup), options_(options) {}
  /// Decides whether a call counts. If the user gives a pattern of file names, calls on other files do not count. Calls
  /// that are not on a file do not count then either, unless they describe the process.
  Verdict decide(const Call& call);
  /// Adds a call that is left out to the sums of its class of files.
  void count_left_out(const Call& call);
  void store_results(Report& report) const;

 private:
  struct NameStatus {
    bool is_set = false;    // true if the next two fields are set
    bool requested = true;  // true if the name matches Options::file
    FileClass what = FileClass::kNone;
    bool is_counted = false;  // true if it is counted among the files left out
  };
  NameStatus classify_name(const std::string& name) const;

  const Lookup& lookup_;
  const Options& options_;
  std::vector<NameStatus> name_status_;  // one entry for each name
  std::array<LeftOutRow, kForeign> sums_{};
};

}  // namespace plait::trace::report
