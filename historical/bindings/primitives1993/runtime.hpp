/// The state of the primitives: MPI, the ranks of the program, and errors that all ranks get.
///
/// Not safe for several threads at once.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "primitives1993/array.hpp"
#include "primitives1993/grid.hpp"

namespace plait::primitives {

/// An open file: a row of the thesis's File Descriptor Array (FDA, table 12).
struct Unit {
  std::int64_t number = 0;
  std::string path;
  std::int64_t access = 0;  ///< 0 SEQUENTIAL, 1 DIRECT
  std::int64_t form = 0;
  std::int64_t status = 0;  ///< 1 NEW, 0 OLD
  std::int64_t disks = 1;
  std::int64_t processors = 1;
  File file;
  std::int64_t position = 0;  ///< SEQUENTIAL: offset in bytes at which the next access begins

  /// True if the unit is a pipe to another program. Each access then transfers one time step.
  bool is_pipe() const { return names_pipe(path); }
  static bool names_pipe(std::string_view path) { return path.starts_with("pipe:"); }
  /// Describes what happens to a NEW file that is not closed.
  const char* loss() const { return is_pipe() ? "its readers get an error" : "the new file is discarded"; }
};

/// The state of the program. It is the same on every rank, because only calls that succeeded on all of them change
/// it.
struct Runtime {
  const base::Owner owner;
  Comm comm;
  std::optional<Grid> grid;
  std::int64_t grids = 0;  ///< number of calls of proc_map
  std::map<std::int64_t, Unit> units;
  std::vector<MappedArray> arrays;  ///< descriptor n is arrays[n - 1]
};

/// Returns the runtime, with MPI and the ranks of MPI_COMM_WORLD. The first call is collective. It initialises MPI
/// for several threads, unless the program has done so, and then finalises it at the end of the program. Without MPI
/// it uses the ranks that `plait run` has started, if the program has not initialised MPI either.
/// errors  kSystem: MPI is finalised already.
Runtime& runtime();

/// Returns the runtime that an earlier call has started. Not collective.
/// errors  kArgument: no call has started it.
Runtime& existing_runtime();

/// Checks that all ranks have made the same call without an error: throws the same error on every rank if the calls
/// differ or if `error` is not null on some rank.
void agree(Runtime& state, const std::string& call, const std::exception_ptr& error);
/// Reports an error of this rank to the other ranks in their current call, and throws it.
[[noreturn]] void fail_together(Runtime& state, const std::exception_ptr& error);

/// Returns the `own_text` of rank 0. Collective.
std::string broadcast_from_rank_0(Runtime& state, const std::string& own_text);

/// Runs a check on this rank alone. If it throws, the other ranks get its error in their current collective call.
template <typename Check>
void run_check_together(Check&& check) {
  Runtime& state = runtime();
  try {
    check();
  } catch (...) {
    fail_together(state, std::current_exception());
  }
}

/// Prints a table on rank 0.
void print(const Runtime& state, const std::string& text);

/// Stores an error that the program has not queried. Rank 0 prints it on the standard error with the next call of a
/// primitive, or at the end, unless discard_unreported() discards it first.
void report_later(const std::string& text);
void discard_unreported();
void report_now() noexcept;

}  // namespace plait::primitives
