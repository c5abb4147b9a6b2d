/// libdeflate, which packs and unpacks whole buffers faster than zlib, where it is installed
/// (docs/decisions/0028-zlib.md).
#pragma once

#include <cstddef>

namespace plait::codec {

/// The functions that are used, as libdeflate.h declares them.  What they make and free is used by one thread at a time.
struct LibDeflate {
  void* (*make_packer)(int level);  ///< 0 to 12; null: no memory
  void (*free_packer)(void*);
  /// Bytes made; 0: there is too little space.
  std::size_t (*zlib_pack)(void*, const void*, std::size_t, void*, std::size_t);
  std::size_t (*gzip_pack)(void*, const void*, std::size_t, void*, std::size_t);
  void* (*make_unpacker)();
  void (*free_unpacker)(void*);
  /// 0: done, with the bytes taken and made; else it is damaged, or more than the output.
  int (*zlib_unpack)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*, std::size_t*);
  int (*gzip_unpack)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*, std::size_t*);
};

/// Null where it is not installed.
/// threads  Any number at once.
const LibDeflate* libdeflate();

}  // namespace plait::codec
