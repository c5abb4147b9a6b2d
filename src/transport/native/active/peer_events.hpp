/// Events that connections report to their ActiveEnd.
#pragma once

#include <memory>

namespace plait::transport::native {

class Callee;

/// Called on the server's thread, except for on_loss().  Implementations must not take a lock that the connection holds
/// when it calls them.
class PeerEvents {
 public:
  virtual ~PeerEvents() = default;
  /// Called when a rank has identified itself on a connection.  Returns false if it already has a connection for its
  /// calls.
  virtual bool on_introduced(const std::shared_ptr<Callee>& callee, int rank) = 0;
  /// Called when a connection to a rank has ended: that of `callee`, or that of the Caller if `callee` is nullptr.
  /// rank: -1 if the peer had not identified itself.  has_taken_leave: the peer had announced by kLeaving that it ends.
  virtual void on_ended(const Callee* callee, int rank, bool has_taken_leave) = 0;
  /// Called when the rank `from` reports that the rank `lost` is lost.  threads  Any.
  virtual void on_loss(int lost, int from) noexcept = 0;
};

}  // namespace plait::transport::native
