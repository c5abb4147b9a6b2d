/// Agreements: a collective call succeeds on all workers or fails on all with one Error.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "plait/error.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// Returns after all workers (the ranks of the transport: processes or threads) have called this function with the same
/// text and without an error.  Otherwise every worker throws the same Error.  `call` describes what the worker is about
/// to do; if workers differ, the Error shows two of their texts.  error: the error of this worker, or nullptr.
/// Collective.
/// cost    One reduction if there is no error.
void agree(transport::Transport& transport, const std::string& call, const std::exception_ptr& error);

/// Agrees on a text that `make_text` returns, which is called only if there are other workers. A worker that lacks
/// memory for the text contributes that error.
template <typename MakeText>
  requires std::is_invocable_r_v<std::string, MakeText>
void agree(transport::Transport& transport, MakeText&& make_text, std::exception_ptr error);

/// Agrees on errors alone, without a text to compare.
void agree(transport::Transport& transport, const std::exception_ptr& error);

/// Agrees, and sets `number` to the smallest number of all workers.
/// errors  As agree(); the number is undefined then.
void agree_smallest(transport::Transport& transport, const std::string& call, const std::exception_ptr& error,
                    std::int64_t& number);

/// Agrees, and sets `numbers` to those of worker 0, which must be below the largest std::int64_t. The numbers of other
/// workers are ignored. Collective.
/// errors  As agree(); the numbers are undefined then.
/// cost    One reduction.
void broadcast_numbers(transport::Transport& transport, const std::exception_ptr& error,
                       std::array<std::int64_t, 2>& numbers);

/// Agrees on the error of a worker that gives up an object, such as a file that it can no longer use.  All workers
/// record the object's `number` in transport.abandoned_numbers().
void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& error);

/// Runs `body` and returns its exception for an agreement, or nullptr.
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
void agree(transport::Transport& transport, MakeText&& make_text, std::exception_ptr error) {
  if (transport.size() == 1) return agree(transport, error);
  std::string call;
  const std::exception_ptr text_error = caught([&] { call = make_text(); });
  agree(transport, call, error ? error : text_error);
}

/// Runs the body of a collective call, which itself makes all workers throw its Errors.  Any other exception of the
/// body, such as std::bad_alloc between two agreements, is contributed to the agreement that the others join next.
/// errors  Error, the same on every worker.
template <typename Body>
auto together(transport::Transport& transport, Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (...) {
    agree(transport, std::current_exception());
    throw;  // not reached: agree() throws, because this worker contributes an error
  }
}

}  // namespace plait::collective
