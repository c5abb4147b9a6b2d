/// What connections tell the end that they belong to.
#pragma once

#include <memory>

namespace plait::transport::native {

class Callee;

/// On the server's thread, but for heard_of_loss().  They take no locks that connections hold while they call.
class PeerEvents {
 public:
  virtual ~PeerEvents() = default;
  /// Calls of a rank are to be served.  Returns whether this is its only connection for them.
  virtual bool introduced(const std::shared_ptr<Callee>& callee, int rank) = 0;
  /// A connection with a rank has ended; none: it had not said of which.
  virtual void ended(const Callee* callee, int rank, bool took_leave) = 0;
  /// A peer says so.  threads  Any.
  virtual void heard_of_loss(int lost, int from) noexcept = 0;
};

}  // namespace plait::transport::native
