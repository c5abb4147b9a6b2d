/// A collective fails together.
#pragma once

#include <exception>
#include <string>

#include "transport/transport.hpp"

namespace plait::engine {

/// Returns once all workers have called it with the same text and none of them brings an error; otherwise every worker
/// throws the same Error.  `call` says what the worker is about to do, in words for people: ranks that differ are shown
/// their two texts.  Collective.
/// cost    One reduction where all is well.
void agree(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine);

/// The same for results: no text to compare.
void agree(transport::Transport& transport, const std::exception_ptr& mine);

/// Brings the error `mine` of a worker that gives up what has the number `number`, and records that on every worker.
void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& mine);

/// Runs `body` and turns what it throws into a value to agree on.
template <typename Body>
std::exception_ptr caught(Body&& body) {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace plait::engine
