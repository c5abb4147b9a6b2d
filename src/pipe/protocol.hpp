/// The frames of a pipe.
///
/// A reader's process of rank 0 has one connection to the writer's process of rank 0, on which they say what is read and
/// what has been; each process of a reader has one to each process of the writer that has something for it.
#pragma once

#include <cstdint>

namespace plait::pipe {

enum class Frame : std::uint32_t {
  // To the writer's process of rank 0.
  kAttach = 1,  ///< a reader comes: what it expects, and who it is
  kNext,        ///< the next step is wanted
  kDone,        ///< the step has been read
  kLeave,       ///< the reader goes, having read what it wanted
  kAbort,       ///< the reader has failed: why
  kStatus,      ///< who is there, for people
  // To a process that knows where its group of processes may be reached.
  kWhere,  ///< which of them: kLeaders or kOwnGroup
  // To any process of the writer.
  kMap,   ///< the memory of a slot is to be mapped
  kGet,   ///< elements of a step are wanted
  kPart,  ///< the front of a kGet that is longer than a frame
  // Answers.
  kWelcome = 100,
  kRefused,  ///< an error's code and text
  kStep,
  kEnd,
  kAborted,  ///< why the writer has failed
  kStatusText,
  kThere,  ///< where they may be reached
  kSlot,   ///< with the descriptor of a slot's memory
  kData,
};

/// A process of each so many knows where the others of them may be reached.
inline constexpr int kGroup = 64;

/// So many requests of a process of a reader are unanswered at most at one of the writer's, which has twice as many
/// in line for it.
inline constexpr std::size_t kAskedAhead = 32;

/// A request that is longer than a frame comes in parts, of so many bytes together at most.
inline constexpr std::uint64_t kMostRequest = std::uint64_t{64} << 20;

/// What kWhere asks for: the first process of each group, of rank 0; or all processes of the group of the one asked, of
/// the first one of a group.
inline constexpr std::int64_t kLeaders = 0;
inline constexpr std::int64_t kOwnGroup = 1;

}  // namespace plait::pipe
