/// A collective fails together.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "plait/error.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// Returns once all workers have called it with the same text and none of them brings an error; otherwise every worker
/// throws the same Error.  `call` says what the worker is about to do, in words for people: ranks that differ are shown
/// their two texts.  Collective.
/// cost    One reduction where all is well.
void agree(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine);

/// The same with a text that is made here, where there are others: a worker that has no memory for it brings that error.
template <typename MakeText>
  requires std::is_invocable_r_v<std::string, MakeText>
void agree(transport::Transport& transport, MakeText&& make_text, std::exception_ptr mine);

/// The same for results: no text to compare.
void agree(transport::Transport& transport, const std::exception_ptr& mine);

/// The same, where each worker gives a number: it becomes the smallest one.
/// errors  As agree(); the number is undefined then.
void agree_smallest(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine,
                    std::int64_t& number);

/// Two numbers of worker 0, below the largest one, for all; what the others pass does not matter.  Collective.
/// errors  As agree(); the numbers are undefined then.
/// cost    One reduction.
void tell_numbers(transport::Transport& transport, const std::exception_ptr& mine,
                  std::array<std::int64_t, 2>& numbers);

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

template <typename MakeText>
  requires std::is_invocable_r_v<std::string, MakeText>
void agree(transport::Transport& transport, MakeText&& make_text, std::exception_ptr mine) {
  if (transport.size() == 1) return agree(transport, mine);
  std::string call;
  const std::exception_ptr unspoken = caught([&] { call = make_text(); });
  agree(transport, call, mine ? mine : unspoken);
}

/// Runs a collective call of this worker, which agrees on its errors.  What it throws besides, as where memory fails it
/// between two agreements, goes to the one that the others come to next.
/// errors  Error, the same on every worker.
template <typename Body>
auto together(transport::Transport& transport, Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (...) {
    agree(transport, std::current_exception());
    throw;  // not reached: an error of this worker's own is thrown by agree()
  }
}

}  // namespace plait::collective
