// Agreement: all workers compare a call and their errors in one reduction.
//
// Problem: if one rank's arguments are wrong, or the ranks make different calls, every rank must throw the same Error,
// and none may wait forever.  An agreement without errors must be cheap.
//
// Idea: each worker contributes eight numbers, of which all get the minimum.  A hash h of the call is contributed as h
// and -h, so that the minima are h and -h only if all are equal.  A worker with an error contributes its rank, others
// the largest number.  Only after a failure the text of the first failing rank, or of two different calls, is
// broadcast.  All agreements have this form, so a worker that fails between two of them joins the next one, whichever
// it is.
//
// Example: three ranks have the hashes 5, 7 and 5, and rank 2 has an error.  The minima are 5 and -7, so the calls
// differ; the failing rank is 2; and the flag that is 1 for a worker with an error has the minimum 0, so not all have
// failed.  All ranks throw the error of rank 2 with "(on rank 2)" appended.  If ranks give up the numbers 4 and 9, the
// minima of x and -x are 4 and -9, so one agreement reports two numbers.

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

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// An error, or a text, as bytes that fit into one broadcast.
struct Wire {
  std::int32_t kind = 0;
  std::int32_t code = 0;
  std::int32_t length = 0;
  std::array<char, 4000> text{};

  std::string_view view() const {
    return {text.data(), std::min<std::size_t>(text.size(), static_cast<std::uint32_t>(length))};
  }
  std::string get() const { return std::string(view()); }
};
static_assert(sizeof(Wire) <= transport::Transport::kMaxBroadcast);

/// Stores as much of the text as fits.
void put(Wire& wire, std::string_view text) {
  wire.length = static_cast<std::int32_t>(std::min(text.size(), wire.text.size()));
  std::copy_n(text.begin(), wire.length, wire.text.begin());
}

Wire broadcast(transport::Transport& transport, Wire wire, int root) {
  std::array<std::byte, sizeof(Wire)> bytes;
  std::memcpy(bytes.data(), &wire, sizeof wire);
  transport.broadcast(bytes, root);
  std::memcpy(&wire, bytes.data(), sizeof wire);
  return wire;
}

Wire describe(const std::exception_ptr& error) {
  Wire wire;
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    wire.kind = static_cast<std::int32_t>(known.kind());
    wire.code = known.system_code();
    put(wire, known.what());
  } catch (const std::bad_alloc&) {
    wire.kind = static_cast<std::int32_t>(ErrorKind::kSystem);
    wire.code = ENOMEM;
    put(wire, "out of memory");
  } catch (const std::exception& other) {
    wire.kind = static_cast<std::int32_t>(ErrorKind::kSystem);
    put(wire, other.what());
  }
  return wire;
}

/// Returns the FNV-1a hash, reduced to 62 bits so that its negative exists.
std::int64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return static_cast<std::int64_t>(hash >> 2U);
}

/// Runs `body`, and once more if it lacked memory: memory that the first attempt allocated is free again.
template <typename Body>
void with_memory(Body&& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    body();
  }
}

/// Thrown by a worker that lacks memory for the text of an error that all workers throw.  Created when the library is
/// loaded, because such a worker could not create it either.
const std::exception_ptr kWithoutWords = std::make_exception_ptr(
    Error(ErrorKind::kSystem, "out of memory, also for the text of the error that all ranks raise", ENOMEM));

/// Throws the Error that `make` returns, after all workers have received its parts.  Throws an Error in any case: after
/// any other exception the worker would join another agreement.
template <typename Make>
[[noreturn]] void throw_made(Make&& make) {
  try {
    with_memory([&] { throw make(); });
  } catch (const std::bad_alloc&) {
    std::rethrow_exception(kWithoutWords);
  }
  std::abort();  // not reached
}

[[noreturn]] void throw_failure(transport::Transport& transport, const std::exception_ptr& mine, int rank,
                                bool everyone) {
  const Wire wire = broadcast(transport, mine ? describe(mine) : Wire{}, rank);
  throw_made([&] {
    std::string message = wire.get();
    if (!everyone) message += base::text(" (on rank ", rank, ")");
    return Error(static_cast<ErrorKind>(wire.kind), message, wire.code);
  });
}

[[noreturn]] void throw_difference(transport::Transport& transport, const std::string& call) {
  Wire wire;
  put(wire, call);
  const Wire first = broadcast(transport, wire, 0);
  std::array<std::int64_t, 1> different{first.view() == wire.view() ? kNone : transport.rank()};
  transport.reduce_min(different);
  const auto other = static_cast<int>(different[0] == kNone ? 0 : different[0]);
  const Wire second = broadcast(transport, wire, other);
  throw_made([&] {
    if (first.view() == second.view())
      return Error(ErrorKind::kArgument,
                   base::text("the ranks of a collective call differ after the first ", first.length, " characters of ",
                              first.view(), "; make the same call on every rank"));
    return Error(ErrorKind::kArgument,
                 base::text("the ranks of a collective call differ: rank 0 calls ", first.view(), ", rank ", other,
                            " calls ", second.view(), "; make the same call on every rank"));
  });
}

/// The contribution of a worker to an agreement.
struct Contribution {
  const std::string& call;
  std::exception_ptr error;
  std::int64_t given_up = kNone;                   // number of what it gives up
  std::array<std::int64_t, 2>* numbers = nullptr;  // becomes that of worker 0
  std::int64_t* smallest = nullptr;                // becomes the smallest of all
};

/// Makes one reduction of the same form for all agreements, so that a worker that fails between two of them joins the
/// next.
void agree_on(transport::Transport& transport, const Contribution& brought) {
  std::exception_ptr mine = brought.error;
  // Memory that must be available after the others know of this worker is allocated first.
  const std::exception_ptr unready = caught([&] {
    if (transport.size() > 1) transport.given_up().prepare();
  });
  if (!mine) mine = unready;
  if (transport.size() == 1) {
    if (mine) throw_failure(transport, mine, 0, true);
    return;
  }
  const std::int64_t hash = hash_text(brought.call);
  const std::int64_t number = brought.given_up;
  std::array<std::int64_t, 8> values{hash,         -hash,  mine ? transport.rank() : kNone,
                                     mine ? 1 : 0, number, number == kNone ? kNone : -number,
                                     kNone,        kNone};
  static_assert(values.size() <= transport::Transport::kMaxValues);
  const std::span<std::int64_t, 2> numbers = std::span(values).last<2>();
  if (brought.numbers != nullptr && transport.rank() == 0) std::ranges::copy(*brought.numbers, numbers.begin());
  if (brought.smallest != nullptr) numbers[0] = *brought.smallest;
  transport.reduce_min(values);
  if (values[2] != kNone || values[0] != -values[1]) transport.count_failure();
  if (values[4] != kNone)
    for (const std::int64_t given_up : {values[4], -values[5]}) transport.given_up().insert(given_up);
  // An error has priority over a difference of calls: a rank that failed before it could describe its call contributes
  // an empty text, which differs from the others'.
  if (values[2] != kNone) throw_failure(transport, mine, static_cast<int>(values[2]), values[3] == 1);
  if (values[0] != -values[1]) throw_difference(transport, brought.call);
  if (brought.numbers != nullptr) std::ranges::copy(numbers, brought.numbers->begin());
  if (brought.smallest != nullptr) *brought.smallest = numbers[0];
}

}  // namespace

void agree(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine) {
  agree_on(transport, {call, mine});
}

void agree(transport::Transport& transport, const std::exception_ptr& mine) { agree(transport, std::string(), mine); }

void broadcast_numbers(transport::Transport& transport, const std::exception_ptr& mine,
                       std::array<std::int64_t, 2>& numbers) {
  agree_on(transport, {std::string(), mine, kNone, &numbers});
}

void agree_smallest(transport::Transport& transport, const std::string& call, const std::exception_ptr& mine,
                    std::int64_t& number) {
  agree_on(transport, {call, mine, kNone, nullptr, &number});
}

void give_up(transport::Transport& transport, std::int64_t number, const std::exception_ptr& mine) {
  agree_on(transport, {"give up", mine, number});
}

}  // namespace plait::collective
