#include "base/encoding/decoder.hpp"

#include <cerrno>

#include "base/errors.hpp"

namespace plait::base {

const EncodingSource kAnotherRank{"a message from another rank", "run the same build of Plait on all ranks", EIO};

void Decoder::fail(std::string_view reason) const {
  base::throw_system_error(source_->code, source_->content, " is damaged at byte ", length_ - rest_.size(), " of ",
                           length_, ": ", reason, "; ", source_->advice);
}

std::uint64_t Decoder::get_compact() {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(take(1)[0]);
    // The tenth byte has one bit left. A last byte of 0 is rejected, because the same number has a shorter encoding.
    if (shift == 63 && byte > 1) fail("a number is out of range");
    if (byte == 0 && shift > 0) fail("a number has needless digits");
    value |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
}

std::size_t Decoder::get_length(std::size_t min_bytes) {
  const std::uint64_t length = get_compact();
  if (length > rest_.size() / min_bytes) fail("a length exceeds its bytes");
  return static_cast<std::size_t>(length);
}

}  // namespace plait::base
