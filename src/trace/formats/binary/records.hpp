/// The tables of a written trace: a type, the length, the fields.
#pragma once

#include <cstdint>

namespace plait::trace::binary {

constexpr std::uint64_t kProcessRecord = 1;  ///< number, parent, signed rank, signed CPU time, host, command
constexpr std::uint64_t kFileRecord = 2;     ///< process, number, name
constexpr std::uint64_t kMissedRecord = 3;   ///< signed events, signed bytes read, signed bytes written, reason
constexpr std::uint64_t kNoteRecord = 4;     ///< text
constexpr std::uint64_t kEndRecord = 5;      ///< signed zero, signed tick, whether complete
/// process, file, interface, flags, number of values, then of each its name and signed value
constexpr std::uint64_t kCountersRecord = 6;

}  // namespace plait::trace::binary
