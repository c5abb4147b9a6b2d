#include "codec/libdeflate.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace plait::codec {

const LibDeflate* libdeflate() {
  static const LibDeflate* const loaded = []() -> const LibDeflate* {
    void* const library = ::dlopen("libdeflate.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static LibDeflate functions{};
    bool is_complete = true;
    const auto find_function = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      is_complete = is_complete && function != nullptr;
    };
    find_function(functions.make_compressor, "libdeflate_alloc_compressor");
    find_function(functions.free_compressor, "libdeflate_free_compressor");
    find_function(functions.zlib_compress, "libdeflate_zlib_compress");
    find_function(functions.gzip_compress, "libdeflate_gzip_compress");
    find_function(functions.make_decompressor, "libdeflate_alloc_decompressor");
    find_function(functions.free_decompressor, "libdeflate_free_decompressor");
    find_function(functions.zlib_decompress, "libdeflate_zlib_decompress_ex");
    find_function(functions.gzip_decompress, "libdeflate_gzip_decompress_ex");
    return is_complete ? &functions : nullptr;
  }();
  return loaded;
}

}  // namespace plait::codec
