/// Callbacks that run on each process at the beginning of MPI_Finalize, while all of MPI still works, in programs of
/// any language.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace plait::transport {

/// The stages of callbacks.  Stages run in this order; the callbacks of one stage run last-in, first-out.
enum class EndingStage : std::uint8_t {
  kFiles,    ///< open files are reported, finished or abandoned
  kStarted,  ///< operations that run in the background end
  kLeave,    ///< the other processes are notified that this one takes part in no further calls
  kThreads,  ///< threads that call MPI end
  kMemory,   ///< memory that all processes free together
};

inline constexpr std::array kEndingStages{EndingStage::kFiles, EndingStage::kStarted, EndingStage::kLeave,
                                          EndingStage::kThreads, EndingStage::kMemory};

/// Adds a callback, which is never removed.  From the first communicator on, libplait_mpi calls run_endings() in
/// MPI_Finalize (transport/mpi/finalize.hpp).  Without MPI, callbacks run only if a transport registers run_endings(),
/// as transport/local does.
/// threads  Any.
void at_ending(EndingStage stage, std::function<void()> call);

/// Runs all callbacks; exceptions are discarded.  A callback that is added meanwhile runs at the next call.
void run_endings() noexcept;

}  // namespace plait::transport
