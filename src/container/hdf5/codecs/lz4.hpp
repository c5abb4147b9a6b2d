/// LZ4 in the format of HDF5's registered filter 32004.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// Decodes blocks of LZ4's block format that follow their sizes. It does not encode. The system library liblz4.so.1 is
/// loaded when it is used first.
std::shared_ptr<const codec::Codec> lz4();

}  // namespace plait::container::hdf5
