/// Puts that are in flight after their caller has gone on.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "store/http/client.hpp"

namespace plait::store::s3 {

/// A put with its own copy of the bytes.
struct PendingPut : http::Call {
  std::string object{};
  std::vector<std::byte> bytes{};
};

/// Puts of objects that no other program sees yet. Their errors appear at the next put, or at finish().
/// threads  Any number at once.
class PendingPuts {
 public:
  /// Throws if a put has failed.
  using Check = base::FunctionRef<void(const PendingPut&)>;

  PendingPuts() = default;
  /// Waits for all puts.
  ~PendingPuts();
  PendingPuts(const PendingPuts&) = delete;
  PendingPuts& operator=(const PendingPuts&) = delete;

  /// Submits a put, and waits for earlier ones if there are too many.
  void submit(PendingPut put, Check check);
  /// Waits for all puts.
  void finish(Check check);

 private:
  void wait_for_one(Check check);

  std::mutex mutex_;
  http::Completions completions_;
  std::list<PendingPut> puts_;
  std::size_t bytes_ = 0;
};

}  // namespace plait::store::s3
