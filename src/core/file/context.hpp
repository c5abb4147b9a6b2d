/// The identity of a file on its ranks, and their collective calls on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "base/process.hpp"
#include "base/recorder.hpp"
#include "core/comm/worker.hpp"
#include "plait/comm.hpp"
#include "plait/file_options.hpp"
#include "transport/transport.hpp"

namespace plait::core {

/// Returns the name of a mode in open(): `r`, `w`, `r+` or `a`.
std::string_view mode_name(Mode mode);

/// The path, the mode and the ranks of a File, which are constant from before it is opened until after it is closed.
/// threads  One at a time, on the worker; const functions on any thread.
class FileContext {
 public:
  FileContext(const std::string& path, Mode mode, const Comm& comm);

  const std::string& path() const { return path_; }
  Mode mode() const { return mode_; }
  const Comm& comm() const { return comm_; }
  const base::Owner& owner() const { return owner_; }
  /// The number of the path in a trace.
  std::uint32_t trace_number() const { return trace_number_; }
  /// The flag of the events of calls that all ranks make.
  unsigned collective_flag() const { return comm_.alone() ? 0U : unsigned{PLAIT_EVENT_COLLECTIVE}; }
  /// The number of this File on its Comm, the same on every rank: File::open() sets it.
  std::int64_t number() const { return number_; }
  void set_number(std::int64_t number) { number_ = number; }
  /// True if close() makes elements durable.  File::open() sets it.
  bool is_durable() const { return durable_; }
  void set_durable(bool durable) { durable_ = durable; }
  /// The name of this File in descriptions of calls, which the ranks compare.
  std::string name() const;
  /// errors  kArgument: the mode is `r`.
  void check_writable() const;
  /// True if a rank has abandoned the File.
  bool is_abandoned() const;

  Worker& worker() const { return *worker_; }
  /// Returns the worker, which runs one call after another.
  /// errors  kArgument: this process is a child of the one that opened the file.
  Worker& checked_worker() const {
    owner_.check(path_);
    return *worker_;
  }
  /// Runs a call of all ranks after the calls that were started before.  `body` itself makes all ranks throw its
  /// Errors; anything else that it throws, such as std::bad_alloc, becomes the same Error on all ranks here.
  void call(base::FunctionRef<void()> body) const;
  /// Calls `body` with the transport of the ranks, or with one of one rank if this process is alone.
  void with_transport(base::FunctionRef<void(transport::Transport&)> body);
  /// Makes a process that is alone (one rank) use one transport for all calls, because a pipe holds on to its
  /// transport.
  void keep_transport() { keeps_transport_ = true; }

 private:
  const Comm comm_;
  const std::string path_;
  const Mode mode_;
  const std::shared_ptr<Worker> worker_;
  const base::Owner owner_;
  const std::uint32_t trace_number_;
  std::int64_t number_ = 0;
  bool durable_ = true;
  bool keeps_transport_ = false;
  std::unique_ptr<transport::Transport> own_transport_;  // of a process that is alone, after keep_transport()
};

}  // namespace plait::core
