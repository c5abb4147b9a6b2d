/// What is to be done before MPI ends, while all of it still works: on each process in MPI_Finalize, in any language.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace plait::transport {

/// Callbacks run in this order; those of one stage the last one first.
enum class EndingStage : std::uint8_t {
  kFiles,    ///< what is open is told, finished or given up
  kStarted,  ///< what was started ends
  kLeave,    ///< the other processes are told that this one takes part in nothing any more
  kThreads,  ///< threads that call MPI end
  kMemory,   ///< what all processes free together
};

inline constexpr std::array kEndingStages{EndingStage::kFiles, EndingStage::kStarted, EndingStage::kLeave,
                                          EndingStage::kThreads, EndingStage::kMemory};

/// Adds a callback, which stays.  Where MPI is in use, libplait_mpi has run_endings() called in MPI_Finalize from the
/// first communicator on (transport/mpi/finalize.hpp); elsewhere nobody calls it.
/// threads  Any.
void at_ending(EndingStage stage, std::function<void()> call);

/// Runs all callbacks once; what they throw is dropped.  Those added meanwhile or later are for the next time.
void run_endings() noexcept;

}  // namespace plait::transport
