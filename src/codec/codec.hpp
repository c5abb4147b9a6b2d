/// Steps by which the bytes of a chunk are packed, such as zstd, and chains of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace plait::codec {

/// One step.  Without state: any number of threads may use it.
class Codec {
 public:
  virtual ~Codec() = default;
  /// What it is, for people: `zstd`.
  virtual std::string words() const = 0;
  /// Names the library that the codec needs if it is not installed, with advice.
  virtual base::Rejection missing_library() const { return {}; }
  /// The most bytes that encode() makes of so many.
  virtual std::size_t most_encoded(std::size_t bytes) const = 0;
  /// How many it makes of so many, where that depends on nothing else.
  virtual std::optional<std::size_t> always_encoded(std::size_t /*bytes*/) const { return std::nullopt; }
  /// Packs `plain` into `output`, which has most_encoded() bytes.  Returns how many it made.
  /// errors  kArgument: it only unpacks.  kSystem: what it needs is not there; std::bad_alloc.
  virtual std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const = 0;
  /// Unpacks into `output` and returns how many bytes it made, never more than fit.  what: is unpacked, for errors:
  /// `the chunk a.zarr/c/0`.
  /// errors  kSystem: damaged, or more than fits; what it needs is not there.
  virtual std::size_t decode(std::span<const std::byte> packed, std::span<std::byte> output,
                             const std::string& what) const = 0;
};

/// Codecs one after the other: the first one packs what is given, the next one what that made.  Unpacking goes the
/// other way.  Empty: bytes stay as they are.
/// threads  Any number at once.  Each keeps buffers of the size of its largest chunk until it ends.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::shared_ptr<const Codec>> codecs) : codecs_(std::move(codecs)) {}

  bool empty() const { return codecs_.empty(); }
  const std::vector<std::shared_ptr<const Codec>>& codecs() const { return codecs_; }
  /// `not packed`, `zstd`, `shuffle, gzip`.
  std::string words() const;
  /// Returns missing_library() of the first codec that cannot be used.
  base::Rejection missing_library() const;
  /// The most bytes that so many become; of the whole chain, or of its first `steps` codecs.
  std::size_t most_encoded(std::size_t bytes) const { return most_encoded(bytes, codecs_.size()); }
  std::size_t most_encoded(std::size_t bytes, std::size_t steps) const;
  /// How many they become where that depends on nothing else.
  std::optional<std::size_t> always_encoded(std::size_t bytes) const;

  /// What `plain` becomes; it lies in the calling thread's buffers until that thread's next encode() or decode(), or is
  /// `plain` itself.
  std::span<const std::byte> encode(std::span<const std::byte> plain) const;
  /// Fills `chunk` with what `packed` holds.  what: see Codec::decode().
  /// errors  kSystem: damaged, or of another size.
  void decode(std::span<const std::byte> packed, std::span<std::byte> chunk, const std::string& what) const;

 private:
  std::vector<std::shared_ptr<const Codec>> codecs_;
};

}  // namespace plait::codec
