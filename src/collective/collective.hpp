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

/// Makes this worker's window slots ready for the next access.  Call it before a collective agreement, then run.
void prepare(transport::Transport& transport);

/// A call that all workers of a transport make together, in steps.
///
/// Making one is the first step: nobody gets beyond it unless all workers make the same call and none brings an error.
/// After each step all know whether all have done it.  Where one failed, every worker throws the same Error.  Windows
/// and gates of the transport are ready for what follows; nobody touches them between the last step of a call and the
/// next call.
class Collective {
 public:
  /// make_text: what the worker is about to do, in words for people; ranks that differ are shown their two texts.
  /// check: what may be wrong on this worker.
  template <typename MakeText, typename Check>
    requires std::is_invocable_r_v<std::string, MakeText> && std::is_invocable_v<Check>
  Collective(transport::Transport& transport, MakeText&& make_text, Check&& check) : transport_(transport) {
    prepare(transport);
    agree(transport, std::forward<MakeText>(make_text), caught(check));
  }
  /// The same with a text that is there, and the error that was found, if any.
  Collective(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine)
      : transport_(transport) {
    prepare(transport);
    agree(transport, call, mine);
  }

  /// The same for a call whose number becomes the smallest of all workers.
  Collective(transport::Transport& transport, const std::string& call, std::int64_t& number) : transport_(transport) {
    prepare(transport);
    agree_smallest(transport, call, nullptr, number);
  }

  transport::Transport& transport() const { return transport_; }

  /// A step of this worker.
  template <typename Body>
  void step(Body&& body) {
    agree(transport_, caught(body));
  }
  /// A step whose body sets a number, which becomes the smallest of all workers.
  template <typename Body>
  void step(Body&& body, std::int64_t& number) {
    const std::exception_ptr mine = caught(body);
    agree_smallest(transport_, std::string(), mine, number);
  }
  /// A step that this worker has done, or failed to do.
  void step_done(const std::exception_ptr& mine) { agree(transport_, mine); }

  /// Brings the error of a worker that gives up what has the number `number`, and records that on every worker.
  static void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& error) {
    prepare(transport);
    collective::give_up(transport, number, error);
  }
  /// Brings an error of this worker to the call that the others make, whichever it is.
  static void fail(transport::Transport& transport, const std::exception_ptr& error) {
    prepare(transport);
    agree(transport, error);
  }

 private:
  transport::Transport& transport_;
};

}  // namespace plait::collective
