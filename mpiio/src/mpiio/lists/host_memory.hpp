/// The memory of a collective access, as a stream of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpiio/entry.h"
#include "mpiio/lists/run_cursor.hpp"
#include "mpiio/lists/runs.hpp"

namespace plait::mpiio {

/// False for memory that the host cannot read, such as that of a GPU.
bool is_host_memory(const std::byte* data);

/// The bytes that a memory type selects, in the order of the data.
class HostMemory {
 public:
  /// Returns nothing if the memory type is unknown, or if the host cannot read the memory.
  /// comm  returns errors
  static std::optional<HostMemory> find(const plait_mpiio_access& access, MPI_Comm comm);

  /// The address of the first byte if all others follow it without holes; nullptr otherwise.
  std::byte* dense() const { return dense_; }
  /// Returns a cursor whose offsets are addresses.
  RunCursor cursor() const;

 private:
  HostMemory(Runs runs, std::byte* data);

  Runs runs_;
  std::byte* data_;
  std::byte* dense_ = nullptr;
};

/// Copies the next bytes from memory, or to it. There must be as many.
void pack(RunCursor& memory, std::byte* target, std::int64_t bytes);
void unpack(RunCursor& memory, const std::byte* source, std::int64_t bytes);

/// Copies bytes that do not overlap. Pieces of usual sizes take less time than with memcpy.
void copy_piece(std::byte* target, const std::byte* source, std::int64_t bytes);

}  // namespace plait::mpiio
