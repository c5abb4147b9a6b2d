/// The frames of a pipe.
///
/// Process 0 of a reader has a control connection to process 0 of the writer.  Each process of a reader has a data
/// connection to each process of the writer that holds elements for it.
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

enum class Frame : std::uint32_t {
  // To process 0 of the writer.
  kAttach = 1,  ///< registers a reader: the expected type, and a description of the program
  kNext,        ///< requests the next step
  kDone,        ///< reports that the step was read
  kLeave,       ///< the reader leaves, without an error
  kAbort,       ///< the reader has failed, with the reason
  kStatus,      ///< requests a description of writer and readers
  // To the first process of a group, which has the endpoints of the group.
  kFindEndpoints,  ///< requests endpoints: kLeaders or kOwnGroup
  // To any process of the writer.
  kMap,   ///< requests the memory of a slot
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

/// Number of processes of a group.  The first process of a group has the endpoints of all of them.
inline constexpr int kGroup = 64;

/// Maximum number of unanswered requests from one process of a reader to one process of the writer.  The writer's send
/// queue for that connection has twice as many entries.
inline constexpr std::size_t kAskedAhead = 32;

/// Maximum bytes of a request.  Requests longer than a frame are sent in parts.
inline constexpr std::uint64_t kMaxRequest = std::uint64_t{64} << 20;

/// The argument of kFindEndpoints: the first process of each group (asked of process 0), or all processes of one group
/// (asked of its first process).
inline constexpr std::int64_t kLeaders = 0;
inline constexpr std::int64_t kOwnGroup = 1;

}  // namespace plait::pipe
