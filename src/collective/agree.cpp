// Agreements: all workers compare a call and their errors in one reduction.
//
// Problem: if one rank's arguments are wrong, or the ranks make different calls, every rank must throw the same Error,
// and none may wait forever.  An agreement without errors must be cheap.
//
// Idea: each worker contributes eight numbers, and all workers get the minimum of each.  A hash h of the call is
// contributed as h and -h, so that the minima are h and -h only if all are equal.  A worker with an error contributes
// its rank, the others the largest number.  Only after a failure is the error text of the first failing rank broadcast,
// or the texts of two different calls.  All agreements have this form, so a worker that fails between two of them can
// join the next one, of whatever kind.
//
// Example: three ranks have the hashes 5, 7 and 5, and rank 2 has an error.  The minima are 5 and -7, so the calls
// differ. The failing rank is 2. The flag that is 1 for a worker with an error has the minimum 0, so not all have
// failed.  All ranks throw the error of rank 2 with "(on rank 2)" appended.  A rank that gives up an object, such as a
// file that it can no longer use, contributes the number x of the object and -x. If ranks give up the objects 4 and 9,
// the minima are 4 and -9, so one agreement reports two objects.

#include "collective/agree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::collective {

namespace {

/// The value of a worker that contributes none to a minimum.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// An error or a text as bytes that fit into one broadcast.
struct TextMessage {
  std::int32_t kind = 0;
  std::int32_t code = 0;
  std::int32_t length = 0;
  std::array<char, 4000> text{};

  std::string_view text_view() const {
    return {text.data(), std::min<std::size_t>(text.size(), static_cast<std::uint32_t>(length))};
  }
  std::string to_string() const { return std::string(text_view()); }
};
static_assert(sizeof(TextMessage) <= transport::Transport::kMaxBroadcast);

/// Stores as much of the text as fits.
void set_text(TextMessage& message, std::string_view text) {
  message.length = static_cast<std::int32_t>(std::min(text.size(), message.text.size()));
  std::copy_n(text.begin(), message.length, message.text.begin());
}

/// Returns the message of the worker `root`.
TextMessage broadcast(transport::Transport& transport, TextMessage message, int root) {
  std::array<std::byte, sizeof(TextMessage)> bytes;
  std::memcpy(bytes.data(), &message, sizeof message);
  transport.broadcast(bytes, root);
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

/// Returns an exception as a message.
TextMessage encode_error(const std::exception_ptr& error) {
  TextMessage message;
  try {
    std::rethrow_exception(error);
  } catch (const Error& plait_error) {
    message.kind = static_cast<std::int32_t>(plait_error.kind());
    message.code = plait_error.system_code();
    set_text(message, plait_error.what());
  } catch (const std::bad_alloc&) {
    message.kind = static_cast<std::int32_t>(ErrorKind::kSystem);
    message.code = ENOMEM;
    set_text(message, "out of memory");
  } catch (const std::exception& other) {
    message.kind = static_cast<std::int32_t>(ErrorKind::kSystem);
    set_text(message, other.what());
  }
  return message;
}

/// Returns the FNV-1a hash, reduced to 62 bits so that its negative exists and it differs from kNone.
std::int64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return static_cast<std::int64_t>(hash >> 2U);
}

/// Runs `body`, and once more if the first attempt ran out of memory: its own allocations are free again then.
template <typename Body>
void run_with_retry(Body&& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    body();
  }
}

/// Thrown by a worker that lacks memory for the text of an error that all workers throw.  Created when the library is
/// loaded, because such a worker could not create it either.
const std::exception_ptr kErrorWithoutText = std::make_exception_ptr(
    Error(ErrorKind::kSystem, "out of memory, also for the text of the error that all ranks raise", ENOMEM));

/// Throws the Error that `make` returns. The other workers throw it as well, so an Error is thrown in any case: after
/// any other exception this worker would join another agreement.
template <typename Make>
[[noreturn]] void throw_composed(Make&& make) {
  try {
    run_with_retry([&] { throw make(); });
  } catch (const std::bad_alloc&) {
    std::rethrow_exception(kErrorWithoutText);
  }
  std::abort();  // not reached
}

/// Throws the error of a rank on all workers.  all_failed: true if every worker has an error.
[[noreturn]] void throw_failure(transport::Transport& transport, const std::exception_ptr& error, int rank,
                                bool all_failed) {
  const TextMessage encoded = broadcast(transport, error ? encode_error(error) : TextMessage{}, rank);
  throw_composed([&] {
    std::string message = encoded.to_string();
    if (!all_failed) message += base::text(" (on rank ", rank, ")");
    return Error(static_cast<ErrorKind>(encoded.kind), message, encoded.code);
  });
}

/// Throws an error that shows two different calls.
[[noreturn]] void throw_difference(transport::Transport& transport, const std::string& call) {
  TextMessage message;
  set_text(message, call);
  const TextMessage first = broadcast(transport, message, 0);
  std::array<std::int64_t, 1> different{first.text_view() == message.text_view() ? kNone : transport.rank()};
  transport.reduce_min(different);
  const auto other_rank = static_cast<int>(different[0] == kNone ? 0 : different[0]);
  const TextMessage second = broadcast(transport, message, other_rank);
  throw_composed([&] {
    if (first.text_view() == second.text_view())
      return Error(ErrorKind::kArgument,
                   base::text("the ranks of a collective call differ after the first ", first.length, " characters of ",
                              first.text_view(), "; make the same call on every rank"));
    return Error(ErrorKind::kArgument,
                 base::text("the ranks of a collective call differ: rank 0 calls ", first.text_view(), ", rank ",
                            other_rank, " calls ", second.text_view(), "; make the same call on every rank"));
  });
}

/// The numbers that a worker contributes to an agreement; the reduction yields the minimum of each.
enum Value : std::uint8_t {
  kHash,
  kNegatedHash,
  kFailedRank,  ///< rank of a worker with an error
  kHasError,    ///< 1 for a worker with an error, else 0: the minimum is 1 if all have failed
  kGivenUp,
  kNegatedGivenUp,
  kFirstNumber,  ///< two numbers of the caller
  kValues = kFirstNumber + 2
};

/// The contribution of a worker to an agreement.
struct Contribution {
  const std::string& call;
  std::exception_ptr error;
  std::int64_t given_up = kNone;                   // number of the object that the worker gives up
  std::array<std::int64_t, 2>* numbers = nullptr;  // set to those of worker 0
  std::int64_t* minimum = nullptr;                 // set to the smallest number of all workers
};

/// Makes the reduction, which has one form for all agreements, so that a worker that fails between two of them can join
/// the next one.
void run_agreement(transport::Transport& transport, const Contribution& contribution) {
  std::exception_ptr error = contribution.error;
  // abandoned_numbers() needs memory after the reduction, when this worker can no longer report a lack of it. So it is
  // allocated first.
  const std::exception_ptr allocation_error = caught([&] {
    if (transport.size() > 1) transport.abandoned_numbers().prepare();
  });
  if (!error) error = allocation_error;
  if (transport.size() == 1) {
    if (error) throw_failure(transport, error, 0, /*all_failed=*/true);
    return;
  }
  const std::int64_t hash = hash_text(contribution.call);
  const std::int64_t number = contribution.given_up;
  std::array<std::int64_t, kValues> values{hash,          -hash,  error ? transport.rank() : kNone,
                                           error ? 1 : 0, number, number == kNone ? kNone : -number,
                                           kNone,         kNone};
  static_assert(values.size() <= transport::Transport::kMaxValues);
  const std::span<std::int64_t, 2> numbers = std::span(values).last<2>();
  if (contribution.numbers != nullptr && transport.rank() == 0)
    std::ranges::copy(*contribution.numbers, numbers.begin());
  if (contribution.minimum != nullptr) numbers[0] = *contribution.minimum;
  transport.reduce_min(values);
  const bool calls_differ = values[kHash] != -values[kNegatedHash];
  if (values[kFailedRank] != kNone || calls_differ) transport.count_failure();
  if (values[kGivenUp] != kNone)
    for (const std::int64_t abandoned : {values[kGivenUp], -values[kNegatedGivenUp]})
      transport.abandoned_numbers().insert(abandoned);
  // An error has priority over a difference of calls: a rank that failed before it could describe its call contributes
  // an empty text, which differs from the others'.
  if (values[kFailedRank] != kNone)
    throw_failure(transport, error, static_cast<int>(values[kFailedRank]), values[kHasError] == 1);
  if (calls_differ) throw_difference(transport, contribution.call);
  if (contribution.numbers != nullptr) std::ranges::copy(numbers, contribution.numbers->begin());
  if (contribution.minimum != nullptr) *contribution.minimum = numbers[0];
}

}  // namespace

void agree(transport::Transport& transport, const std::string& call, const std::exception_ptr& error) {
  run_agreement(transport, {call, error});
}

void agree(transport::Transport& transport, const std::exception_ptr& error) { agree(transport, std::string(), error); }

void broadcast_numbers(transport::Transport& transport, const std::exception_ptr& error,
                       std::array<std::int64_t, 2>& numbers) {
  run_agreement(transport, {std::string(), error, kNone, &numbers});
}

void agree_smallest(transport::Transport& transport, const std::string& call, const std::exception_ptr& error,
                    std::int64_t& number) {
  run_agreement(transport, {call, error, kNone, nullptr, &number});
}

void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& error) {
  run_agreement(transport, {"give up", error, number});
}

}  // namespace plait::collective
