/// The checksum CRC-32C (Castagnoli's polynomial; RFC 3720, appendix B.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::codec {

/// Computes the checksum.
/// cost  A few bytes a cycle if the processor has an instruction for it.
std::uint32_t compute_crc32c(std::span<const std::byte> bytes);

}  // namespace plait::codec
