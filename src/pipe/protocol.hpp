/// The protocol of a pipe, by which a program (the writer) passes arrays, step by step, to other programs (readers):
/// the kinds of frames, and limits.
///
/// Process 0 of a reader has a control connection to process 0 of the writer.  Each process of a reader has a data
/// connection to each process of the writer that has elements for it.
///
/// Example: a reader attaches and reads two steps from process 3 of a writer on another host.
///
///     control connection          kAttach -> kWelcome, kNext -> kStep
///     to find process 3           kFindEndpoints -> kEndpoints, on a connection to process 0
///     data connection             kGet -> kData, kData, ...
///     control connection          kDone, kNext -> kStep, ..., kDone, kNext -> kEnd
#pragma once

#include <cstdint>

namespace plait::pipe {

/// The kind of a frame.
enum class Frame : std::uint32_t {
  // To process 0 of the writer.
  kAttach = 1,  ///< registers a reader: the expected type, and a description of the program
  kNext,        ///< requests the next step
  kDone,        ///< reports that the step was read
  kLeave,       ///< the reader leaves, without an error
  kAbort,       ///< the reader has failed, with the reason
  kStatus,      ///< requests a description of writer and readers
  // To the first process of a group (see kGroupProcesses), which knows the network addresses of the group's processes.
  kFindEndpoints,  ///< requests endpoints (network addresses): kLeaders or kOwnGroup
  // To any process of the writer.
  kMap,   ///< requests the memory of a slot, which holds one step
  kGet,   ///< requests elements of a step
  kPart,  ///< a part of a kGet that is longer than a frame
  // Answers.
  kWelcome = 100,
  kRefused,  ///< code and text of an error
  kStep,
  kEnd,
  kAborted,  ///< the writer has failed, with the reason
  kStatusText,
  kEndpoints,  ///< the requested endpoints
  kSlot,       ///< a slot, with the descriptor of its memory
  kData,
};

/// Number of processes in a group of the writer's processes.  The first process of a group knows the endpoints of all
/// of them, so that no process has to know those of all groups.
inline constexpr int kGroupProcesses = 64;

/// Maximum number of unanswered requests from one process of a reader to one process of the writer.  The writer's send
/// queue for that connection has twice as many entries.
inline constexpr std::size_t kMaxPendingRequests = 32;

/// Maximum bytes of a request.  Requests longer than a frame are sent in parts.
inline constexpr std::uint64_t kMaxRequest = std::uint64_t{64} << 20;

/// The argument of kFindEndpoints.  kLeaders, sent to process 0, requests the endpoints of the first process of each
/// group; kOwnGroup, sent to the first process of a group, those of all processes of this group.
inline constexpr std::int64_t kLeaders = 0;
inline constexpr std::int64_t kOwnGroup = 1;

}  // namespace plait::pipe
