/// The records in the tables of a written trace: type, length, fields.
#pragma once

#include <cstdint>

namespace plait::trace::binary {

constexpr std::uint64_t kProcessRecord = 1;  ///< number, parent, signed rank, signed CPU time, host, command
constexpr std::uint64_t kFileRecord = 2;     ///< process, number, name
constexpr std::uint64_t kMissedRecord = 3;   ///< signed events, signed bytes read, signed bytes written, reason
constexpr std::uint64_t kNoteRecord = 4;     ///< text
constexpr std::uint64_t kEndRecord = 5;      ///< signed zero, signed tick, 1 if complete
/// Process, file, interface, flags, number of values; for each value its name and its signed number.
constexpr std::uint64_t kCountersRecord = 6;

}  // namespace plait::trace::binary
