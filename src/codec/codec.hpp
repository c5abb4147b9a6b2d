/// Codecs that encode the bytes of a chunk, such as zstd, and chains of codecs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace plait::codec {

/// One codec. It has no state: any number of threads may use it.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Returns the name for the user: `zstd`.
  virtual std::string describe() const = 0;
  /// Returns why the codec cannot be used, with advice, if the library that it needs is not installed.
  virtual base::Rejection missing_library() const { return {}; }
  /// Returns the maximum size of the result of encode() for `bytes` bytes.
  virtual std::size_t max_encoded(std::size_t bytes) const = 0;
  /// Returns the size of the result of encode() for any `bytes` bytes; nullopt if it depends on their values.
  virtual std::optional<std::size_t> fixed_encoded_bytes(std::size_t /*bytes*/) const { return std::nullopt; }
  /// Encodes `plain` into `output`, which has max_encoded() bytes. Returns the number of encoded bytes.
  /// errors  kArgument: the codec can only decode. kSystem: its library is not installed; std::bad_alloc.
  virtual std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const = 0;
  /// Decodes into `output` and returns the number of decoded bytes, which is at most the size of `output`.
  /// what    names the encoded data in errors, such as `the chunk a.zarr/c/0`
  /// errors  kSystem: damaged data, or more than `output` can hold; the codec's library is not installed.
  virtual std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                             const std::string& what) const = 0;
};

/// A sequence of codecs: the first one encodes the input, the next one the output of the first. Decoding goes in the
/// other direction. An empty chain does not change the bytes.
/// threads  Any number at once. Each thread holds buffers of the size of its largest chunk until it ends.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::shared_ptr<const Codec>> codecs) : codecs_(std::move(codecs)) {}

  bool empty() const { return codecs_.empty(); }
  const std::vector<std::shared_ptr<const Codec>>& codecs() const { return codecs_; }
  /// Describes the chain, as in `not packed`, `zstd`, `shuffle, gzip`.
  std::string describe() const;
  /// Returns missing_library() of the first codec that cannot be used.
  base::Rejection missing_library() const;
  /// Returns the maximum number of encoded bytes, of the whole chain or of its first `count` codecs.
  std::size_t max_encoded(std::size_t bytes) const { return max_encoded(bytes, codecs_.size()); }
  std::size_t max_encoded(std::size_t bytes, std::size_t count) const;
  /// Returns the number of encoded bytes of any `bytes` bytes; nullopt if it depends on their values.
  std::optional<std::size_t> fixed_encoded_bytes(std::size_t bytes) const;

  /// Returns the encoded bytes. They are in a buffer of the calling thread until its next encode() or decode(), or
  /// are `plain` itself.
  std::span<const std::byte> encode(std::span<const std::byte> plain) const;
  /// Decodes `encoded` into `chunk` and fills it. what: see Codec::decode().
  /// errors  kSystem: damaged data, or data of another size.
  void decode(std::span<const std::byte> encoded, std::span<std::byte> chunk, const std::string& what) const;
  /// Decodes `encoded`, whose decoded size is not known but is at most `max_bytes`.
  /// errors  kSystem: damaged data, or more than max_bytes.
  std::vector<std::byte> decode(std::span<const std::byte> encoded, std::size_t max_bytes,
                                const std::string& what) const;

 private:
  /// Decodes into `output`. Returns the number of decoded bytes.
  std::size_t decode_into(std::span<const std::byte> encoded, std::span<std::byte> output,
                          const std::string& what) const;

  std::vector<std::shared_ptr<const Codec>> codecs_;
};

}  // namespace plait::codec
