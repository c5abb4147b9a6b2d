/// LZ4 in the format of HDF5's registered filter 32004.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// Decodes blocks in LZ4's block format, each of which follows its size. Encoding is not supported. The system library
/// liblz4.so.1 is loaded on first use.
std::shared_ptr<const codec::Codec> lz4();

}  // namespace plait::container::hdf5
