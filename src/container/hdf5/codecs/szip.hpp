/// Szip as HDF5's filter 4 has it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// The number of bytes, least first, and then what the library makes of them: the lossless coding of CCSDS 121.0-B.  Only
/// unpacked, by the library libsz.so.2 of the system (of libaec), which is loaded when it is used first.
/// values: of the filter: the options, pixels of a block, bits of a pixel and pixels of a scan line (HDF5 reference
/// manual, H5Pset_szip).
/// errors  kSystem, when it unpacks: values that no library writes.
std::shared_ptr<const codec::Codec> szip(std::span<const std::uint32_t> values);

}  // namespace plait::container::hdf5
