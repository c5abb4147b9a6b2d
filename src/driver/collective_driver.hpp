/// Drivers whose stores all ranks open together, such as memory that the ranks share.
#pragma once

#include <cstdint>
#include <memory>

#include "driver/driver.hpp"

namespace plait::driver {

/// A driver whose stores every rank opens itself. (With a FileDriver, rank 0 opens first and broadcasts the location.)
class CollectiveDriver : public Driver {
 public:
  std::unique_ptr<core::Source> open(Opening& opening) const final;

 protected:
  /// Opens an existing store, or creates one of `bytes` bytes, which read as zero. Collective.
  /// errors  The same on every rank.
  virtual std::unique_ptr<core::Source> open_together(const Opening& opening, std::int64_t bytes) const = 0;
};

}  // namespace plait::driver
