/// Calls that all workers make together.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "collective/agree.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// Resets the counters by which other workers of the node see the state of this worker's windows (buffers in shared
/// memory).  Called before the last agreement that precedes an exchange through windows.
void prepare(transport::Transport& transport);

/// A call that all workers of a transport make together, in phases.
///
/// Its construction is the first phase, which succeeds only if all workers make the same call and none has an error.
/// After each phase every worker knows whether all workers have completed it.  If one has failed, every worker throws
/// the same Error. The transport's windows, and the gates that guard them, are ready for the next phases; no worker
/// uses them between the last phase of a call and the next call.
class Collective {
 public:
  /// make_text: returns a description of the call for people. If the texts of workers differ, the Error shows two of
  /// them.  check: throws if an argument of this worker is wrong.
  template <typename MakeText, typename Check>
    requires std::is_invocable_r_v<std::string, MakeText> && std::is_invocable_v<Check>
  Collective(transport::Transport& transport, MakeText&& make_text, Check&& check) : transport_(transport) {
    prepare(transport);
    agree(transport, std::forward<MakeText>(make_text), caught(check));
  }
  /// Begins a call with an existing text, and the error of this worker, if any.
  Collective(transport::Transport& transport, const std::string& call, const std::exception_ptr& error)
      : transport_(transport) {
    prepare(transport);
    agree(transport, call, error);
  }

  /// Begins a call and sets `number` to the smallest number of all workers.
  Collective(transport::Transport& transport, const std::string& call, std::int64_t& number) : transport_(transport) {
    prepare(transport);
    agree_smallest(transport, call, nullptr, number);
  }

  transport::Transport& transport() const { return transport_; }

  /// Runs one phase of this worker.
  template <typename Body>
  void run_phase(Body&& body) {
    agree(transport_, caught(body));
  }
  /// Runs a phase whose body sets `number`, and sets it to the smallest number of all workers.
  template <typename Body>
  void run_phase(Body&& body, std::int64_t& number) {
    const std::exception_ptr error = caught(body);
    agree_smallest(transport_, std::string(), error, number);
  }
  /// Ends a phase that this worker has completed (nullptr), or in which it failed with `error`.
  void end_phase(const std::exception_ptr& error) { agree(transport_, error); }

  /// Contributes the error of a worker that gives up the object with the number `number`, and records that on every
  /// worker.
  static void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& error) {
    prepare(transport);
    collective::give_up(transport, number, error);
  }
  /// Contributes an error of this worker to the collective call that the other workers make, so that it fails on all.
  static void fail(transport::Transport& transport, const std::exception_ptr& error) {
    prepare(transport);
    agree(transport, error);
  }

 private:
  transport::Transport& transport_;
};

}  // namespace plait::collective
