/// The tags of all messages on Plait's communicators.
#pragma once

namespace plait::transport::mpi {

/// Tags for data between two processes, agreements between nodes, and notices of departures.
inline constexpr int kDataTag = 7;
inline constexpr int kAgreeTag = 8;
inline constexpr int kNoticeTag = 9;
/// Tag for broadcasts between nodes.
inline constexpr int kBroadcastTag = 10;

}  // namespace plait::transport::mpi
