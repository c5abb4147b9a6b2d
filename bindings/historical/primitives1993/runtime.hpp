/// What the primitives stand on: MPI, the ranks of the program, and errors that are told to everyone.
///
/// Nothing here is for several threads at once.
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

/// A row of the FDA.
struct Unit {
  std::int64_t number = 0;
  std::string path;
  std::int64_t access = 0;  ///< 0 SEQUENTIAL, 1 DIRECT
  std::int64_t form = 0;
  std::int64_t status = 0;  ///< 1 NEW, 0 OLD
  std::int64_t disks = 1;
  std::int64_t processors = 1;
  File file;
  std::int64_t position = 0;  ///< SEQUENTIAL: where the next access begins, in bytes

  /// Whether it leads to another program: each access is a step then.
  bool is_pipe() const { return names_pipe(path); }
  static bool names_pipe(std::string_view path) { return path.starts_with("pipe:"); }
  /// What becomes of a NEW one that nobody closes.
  const char* loss() const { return is_pipe() ? "its readers get an error" : "the new file is discarded"; }
};

/// The state of the program.  It is the same on every rank: only calls that succeeded on all of them change it.
struct Runtime {
  const base::Owner owner;
  Comm comm;
  std::optional<Grid> grid;
  std::int64_t grids = 0;  ///< so many proc_maps have been made
  std::map<std::int64_t, Unit> units;
  std::vector<MappedArray> arrays;  ///< descriptor n is arrays[n - 1]
};

/// The runtime, with MPI and the ranks of MPI_COMM_WORLD.  Collective the first time: it initialises MPI, for several
/// threads, where the program has not, and then finalises it when the program ends.  Without MPI, with the ranks that
/// `plait run` has started, where the program has not initialised MPI either.
/// errors  kSystem: MPI is finalised already.
Runtime& runtime();

/// The runtime that an earlier call has made.  Not collective.
/// errors  kArgument: there is none.
Runtime& started();

/// Returns where all ranks have made the same call and none of them brings an error; otherwise all throw the same one.
void agree(Runtime& state, const std::string& call, const std::exception_ptr& mine);
/// Takes part in the call that the other ranks are at with an error of this one.
[[noreturn]] void fail_together(Runtime& state, const std::exception_ptr& mine);

/// A text of rank 0.  Collective.
std::string from_rank_0(Runtime& state, const std::string& mine);

/// Runs a check of this rank alone; where it throws, the others get its error in the call that they are at.
template <typename Check>
void together(Check&& check) {
  Runtime& state = runtime();
  try {
    check();
  } catch (...) {
    fail_together(state, std::current_exception());
  }
}

/// Prints a table on rank 0.
void print(const Runtime& state, const std::string& text);

/// Tells the ranks' user on rank 0 what nobody asked for: `text` goes to the standard error with the next call of a
/// primitive, or at the end, unless it is forgotten first.
void tell_later(const std::string& text);
void forget();
void tell_now() noexcept;

}  // namespace plait::primitives
