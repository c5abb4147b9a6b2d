/// LZ4 as HDF5's registered filter 32004 has it.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace plait::container::hdf5 {

/// Blocks of LZ4's block format behind their sizes; only unpacked, by the library liblz4.so.1 of the system, which is
/// loaded when it is used first.
std::shared_ptr<const codec::Codec> lz4();

}  // namespace plait::container::hdf5
