/// Callbacks that run before MPI ends, while all of it still works: on each process in MPI_Finalize, in any language.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace plait::transport {

/// The stages of callbacks.  Stages run in this order; the callbacks of one stage run last-in, first-out.
enum class EndingStage : std::uint8_t {
  kFiles,    ///< open files are reported, finished or abandoned
  kStarted,  ///< started work ends
  kLeave,    ///< the other processes are notified that this one takes part in no further calls
  kThreads,  ///< threads that call MPI end
  kMemory,   ///< memory that all processes free together
};

inline constexpr std::array kEndingStages{EndingStage::kFiles, EndingStage::kStarted, EndingStage::kLeave,
                                          EndingStage::kThreads, EndingStage::kMemory};

/// Adds a callback, which is never removed.  If MPI is in use, libplait_mpi calls run_endings() in MPI_Finalize from
/// the first communicator on (transport/mpi/finalize.hpp); otherwise it is not called.
/// threads  Any.
void at_ending(EndingStage stage, std::function<void()> call);

/// Runs all callbacks once; exceptions are discarded.  Callbacks that are added meanwhile or later run the next time.
void run_endings() noexcept;

}  // namespace plait::transport
