/// libdeflate, which compresses and decompresses whole buffers faster than zlib, if it is installed
/// (docs/decisions/0028-zlib.md).
#pragma once

#include <cstddef>

namespace plait::codec {

/// The functions that Plait uses, as libdeflate.h declares them. Only one thread at a time may use an object that these
/// functions make.
struct LibDeflate {
  void* (*make_compressor)(int level);  ///< 0 to 12; null: no memory
  void (*free_compressor)(void*);
  /// Return the number of compressed bytes; 0: the buffer is too small.
  std::size_t (*zlib_compress)(void*, const void*, std::size_t, void*, std::size_t);
  std::size_t (*gzip_compress)(void*, const void*, std::size_t, void*, std::size_t);
  void* (*make_decompressor)();
  void (*free_decompressor)(void*);
  /// Return 0 and set the numbers of bytes read and written; any other result means that the data is damaged or exceeds
  /// the buffer.
  int (*zlib_decompress)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*, std::size_t*);
  int (*gzip_decompress)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*, std::size_t*);
};

/// Returns nullptr if libdeflate is not installed.
/// threads  Any number at once.
const LibDeflate* libdeflate();

}  // namespace plait::codec
