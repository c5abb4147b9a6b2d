/// The codecs that HDF5 brings itself, and that of h5py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// All first bytes of elements of `bytes` bytes, then all second ones, and so on; what is no whole element stays behind
/// them (HDF5 reference manual, H5Pset_shuffle).
std::shared_ptr<const codec::Codec> shuffle(std::size_t bytes);
/// Four bytes behind the others, least first: their Fletcher sum (J. G. Fletcher, "An Arithmetic Checksum for Serial
/// Transmissions", IEEE Transactions on Communications 30(1), 1982) over words of 16 bits, the greater byte first.
std::shared_ptr<const codec::Codec> fletcher32();
/// LibLZF's format, which h5py writes as "lzf"; only unpacked.
std::shared_ptr<const codec::Codec> lzf();

/// The sum alone.
std::uint32_t fletcher32_of(std::span<const std::byte> bytes);

}  // namespace plait::container::hdf5
