/// The codecs of HDF5 itself, and h5py's lzf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// Groups the bytes of elements by their position: all first bytes, then all second ones, and so on (HDF5 reference
/// manual, H5Pset_shuffle). Trailing bytes that are not a whole element stay at the end.
/// Example: with elements of 2 bytes, 01 02 03 04 05 becomes 01 03 02 04 05.
std::shared_ptr<const codec::Codec> shuffle(std::size_t element_bytes);
/// Appends a little-endian checksum of 4 bytes: the Fletcher sum (J. G. Fletcher, "An Arithmetic Checksum for Serial
/// Transmissions", IEEE Transactions on Communications 30(1), 1982) of big-endian words of 16 bits.
std::shared_ptr<const codec::Codec> fletcher32();
/// Decodes LibLZF's format, which h5py writes as "lzf". It does not encode.
std::shared_ptr<const codec::Codec> lzf();

/// Returns the checksum that fletcher32() appends.
std::uint32_t compute_fletcher32(std::span<const std::byte> bytes);

}  // namespace plait::container::hdf5
