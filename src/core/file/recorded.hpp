/// What a File and its streams tell a trace of.
#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/recorder.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/access/section.hpp"

namespace plait::core {

/// The bytes that this process asks for in one access, and where the first of them lies.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
/// rank: -1 for all ranks of the layout.
Extent asked_extent(const plan::Section& section, const Layout& layout, std::int64_t rank, std::int64_t element_bytes,
                    std::int64_t data_offset);

/// The errno that an event has as its result, negative.
inline std::int64_t failure_of(const Error& error) {
  if (error.system_code() != 0) return -error.system_code();
  return error.kind() == ErrorKind::kArgument ? -EINVAL : -EIO;
}

/// What the event of a call says beside where and how much.
struct RecordedAs {
  plait_event_kind kind;
  std::uint32_t file = 0;
  unsigned flags = 0;
};

/// Runs `body`, which returns the bytes that it moved, and ends what was asked with them or with its error.
/// find_extent() gives the Extent, and is asked behind `body`.
template <typename FindExtent, typename Body>
void keep(const base::RecordedCall& asked, const RecordedAs& as, FindExtent&& find_extent, Body&& body) {
  const base::OperationScope during(asked);
  if (!asked.kept()) {
    body();
    return;
  }
  try {
    const std::int64_t moved = body();
    const Extent extent = find_extent();
    asked.end(as.kind, {as.file, extent.offset, extent.bytes, moved}, as.flags);
  } catch (const Error& error) {
    Extent extent{-1, 0};
    try {
      extent = find_extent();
    } catch (const Error&) {  // what was asked for cannot be
    }
    asked.end(as.kind, {as.file, extent.offset, extent.bytes, failure_of(error)}, as.flags);
    throw;
  }
}

}  // namespace plait::core
