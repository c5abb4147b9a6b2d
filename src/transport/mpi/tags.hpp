/// The tags of the messages on a communicator of ours, of whatever kind.
#pragma once

namespace plait::transport::mpi {

/// Active messages: a call under way has one of at most kMostSlots slots for its answer, payload and failure.
inline constexpr int kMostSlots = 32;
inline constexpr int kHeadTag = 1;
inline constexpr int kAnswerTag = 100;
inline constexpr int kPayloadTag = 200;
inline constexpr int kFailureTag = 300;
/// Data between two processes; agreements of nodes; who has left.
inline constexpr int kDataTag = 7;
inline constexpr int kAgreeTag = 8;
inline constexpr int kNoticeTag = 9;
/// Bytes that pass from node to node.
inline constexpr int kBroadcastTag = 10;

}  // namespace plait::transport::mpi
