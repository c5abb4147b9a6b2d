/// Szip in the format of HDF5's filter 4.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// Decodes the lossless coding of CCSDS 121.0-B, preceded by the size of the plain data as 4 little-endian bytes.
/// Encoding is not supported. The system library libsz.so.2 (of libaec) is loaded on first use.
/// values: the values of the filter: the options, pixels of a block, bits of a pixel and pixels of a scan line (HDF5
/// reference manual, H5Pset_szip).
/// errors  kSystem, when it decodes: the values are none that a library writes.
std::shared_ptr<const codec::Codec> szip(std::span<const std::uint32_t> values);

}  // namespace plait::container::hdf5
