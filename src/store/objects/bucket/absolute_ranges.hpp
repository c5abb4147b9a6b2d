/// Ranges that count from the end of objects, for servers that do not know such ranges.
#pragma once

#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "store/objects/object_store.hpp"

namespace plait::store::bucket {

/// Changes the ranges of reads that count from the end into ranges from the beginning, until it is destroyed.
///
/// The sizes of the objects are read first, all at once. The reads then have the condition that the object is still the
/// one whose size was read. A condition `if_none_match` applies to the reads of sizes only, because servers reject
/// requests with two conditions.
/// Example: of an object of 100 bytes, the range of 16 bytes from -16 on becomes 16 bytes from 84 on.
class AbsoluteRanges {
 public:
  /// get_sizes: performs reads without ranges.
  AbsoluteRanges(std::span<GetRequest> requests, base::FunctionRef<void(std::span<GetRequest>)> get_sizes);
  ~AbsoluteRanges();
  AbsoluteRanges(const AbsoluteRanges&) = delete;
  AbsoluteRanges& operator=(const AbsoluteRanges&) = delete;

  /// Returns true if the object of a read has the identity `if_none_match`, and sets its result: the read is complete.
  bool is_match(GetRequest& request) const;
  /// Returns true if an object has been replaced since its size was read. The result of a read of an object that was
  /// missing becomes that it is missing, also if it has appeared since.
  bool has_changed(GetRequest& request) const;

 private:
  struct Changed {
    GetRequest* request = nullptr;
    std::vector<ReadSegment> ranges{};
    GetRequest size{};
    bool had_condition = false;
    const ObjectIdentity* if_none_match = nullptr;
  };
  std::vector<Changed> changed_;
};

}  // namespace plait::store::bucket
