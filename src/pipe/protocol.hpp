/// The frames of a pipe.
///
/// Process 0 of a reader has a control connection to process 0 of the writer.  Each process of a reader has a data
/// connection to each process of the writer that holds elements for it.
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
  // To a process that has the endpoints of its group.
  kWhere,  ///< requests endpoints: kLeaders or kOwnGroup
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
  kThere,  ///< the requested endpoints
  kSlot,   ///< a slot, with the descriptor of its memory
  kData,
};

/// Number of processes of a group; one of them has the endpoints of all.
inline constexpr int kGroup = 64;

/// Maximum of unanswered requests of one process of a reader at one process of the writer, whose send queue for it has
/// twice as many entries.
inline constexpr std::size_t kAskedAhead = 32;

/// Maximum length of a request.  Requests longer than a frame are sent in parts.
inline constexpr std::uint64_t kMaxRequest = std::uint64_t{64} << 20;

/// The argument of kWhere: the first process of each group (asked of process 0), or all processes of one group (asked
/// of its first process).
inline constexpr std::int64_t kLeaders = 0;
inline constexpr std::int64_t kOwnGroup = 1;

}  // namespace plait::pipe
