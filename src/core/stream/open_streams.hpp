/// The streams that are open on a File.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/stream.hpp"

namespace plait::core {

/// The streams that the program has opened on a File and not destroyed yet.  threads  As the File.
class OpenStreams {
 public:
  /// Returns a number for the next stream, the same on every rank.
  std::int64_t next_number() { return ++opened_; }
  void add(const std::shared_ptr<Stream::Impl>& stream);
  /// Waits for all requests of the streams.
  void wait_for_requests();
  /// Makes the streams release the store, because the File is closed.
  void release();
  /// Detaches the streams from the File, which is destroyed: no call on them can reach it any more.
  void detach();

 private:
  std::vector<std::weak_ptr<Stream::Impl>> streams_;
  std::int64_t opened_ = 0;
};

}  // namespace plait::core
