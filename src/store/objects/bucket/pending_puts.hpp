/// Puts that are in flight after their caller has gone on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "store/http/client.hpp"

namespace plait::store::bucket {

/// A put with its own copy of the bytes.
struct PendingPut : http::Call {
  std::string object{};
  std::vector<std::byte> bytes{};
  std::int64_t number = 0;  ///< of a part of an object
};

/// Puts of objects, or of parts, that no other program sees yet. Their errors appear at the next put, or at finish().
/// threads  Any number at once.
class PendingPuts {
 public:
  /// Throws if a put has failed.
  using Check = base::FunctionRef<void(const PendingPut&)>;

  /// max_puts: maximum number in flight; 0: that of all requests (http::max_in_flight()).
  explicit PendingPuts(std::size_t max_puts = 0) : max_puts_(max_puts) {}
  /// Waits for all puts.
  ~PendingPuts();
  PendingPuts(const PendingPuts&) = delete;
  PendingPuts& operator=(const PendingPuts&) = delete;

  /// Submits a put, and waits for earlier ones if there are too many.
  void submit(PendingPut put, Check check);
  /// Waits for all puts.
  void finish(Check check);
  /// True if a put of this object is not complete.
  bool has(const std::string& object);
  /// Returns memory of an earlier put for this many bytes, whose pages the system need not clear again. The result may
  /// have no capacity.
  std::vector<std::byte> take_memory(std::size_t bytes);

 private:
  void wait_for_one(Check check);

  std::size_t max_puts_;
  std::mutex mutex_;
  http::Completions completions_;
  std::list<PendingPut> puts_;
  std::size_t bytes_ = 0;
  std::vector<std::vector<std::byte>> spares_;  ///< memory of complete puts
  std::size_t spare_bytes_ = 0;
};

}  // namespace plait::store::bucket
