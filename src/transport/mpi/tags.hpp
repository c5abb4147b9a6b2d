/// The tags of the messages on a communicator of ours, of whatever kind.
#pragma once

namespace plait::transport::mpi {

/// Data between two processes; agreements of nodes; who has left.
inline constexpr int kDataTag = 7;
inline constexpr int kAgreeTag = 8;
inline constexpr int kNoticeTag = 9;
/// Bytes that pass from node to node.
inline constexpr int kBroadcastTag = 10;

}  // namespace plait::transport::mpi
