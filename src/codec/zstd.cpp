#include <zstd.h>

#include <new>

#include "base/process.hpp"
#include "codec/codecs.hpp"
#include "codec/damaged.hpp"
#include "codec/pool.hpp"

namespace plait::codec {

namespace {

/// The contexts of zstd. Creating one takes as long as compressing 100 KB, and each occupies some MiB.
struct Contexts {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compression{nullptr, &ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompression{nullptr, &ZSTD_freeDCtx};
};

/// Returns contexts of this process that no other thread uses.
Pool<Contexts>::Lease borrow_contexts() {
  static base::PerProcess<Pool<Contexts>> pool;
  return pool.get().borrow();
}

class Zstd : public Codec {
 public:
  Zstd(int level, bool checksum) : level_(level), has_checksum_(checksum) {}
  std::string describe() const override { return "zstd"; }
  std::size_t max_encoded(std::size_t bytes) const override { return ZSTD_compressBound(bytes); }
  std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const override {
    const auto lease = borrow_contexts();
    auto& context = lease->compression;
    if (!context) context.reset(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, has_checksum_ ? 1 : 0);
    const std::size_t result_bytes =
        ZSTD_compress2(context.get(), output.data(), output.size(), plain.data(), plain.size());
    if (ZSTD_isError(result_bytes) != 0) throw std::bad_alloc();  // the buffer is large enough
    return result_bytes;
  }
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    const auto lease = borrow_contexts();
    auto& context = lease->decompression;
    if (!context) context.reset(ZSTD_createDCtx());
    if (!context) throw std::bad_alloc();
    const std::size_t result_bytes =
        ZSTD_decompressDCtx(context.get(), output.data(), output.size(), encoded.data(), encoded.size());
    if (ZSTD_isError(result_bytes) != 0)
      throw_damaged(what, "it is no zstd data of ", output.size(), " bytes (", ZSTD_getErrorName(result_bytes), ')');
    return result_bytes;
  }

 private:
  int level_;
  bool has_checksum_;
};

}  // namespace

std::shared_ptr<const Codec> zstd(int level, bool checksum) { return std::make_shared<Zstd>(level, checksum); }

}  // namespace plait::codec
