#include "transport/node/departure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::node {

void tell(Departed& departed, std::initializer_list<std::string_view> words) noexcept {
  auto& why = departed.why;
  why.fill('\0');
  std::size_t filled = 0;
  for (const std::string_view part : words) {
    std::size_t length = std::min(part.size(), why.size() - 1 - filled);
    // No character is cut in two: further bytes of one begin with the bits 10.
    while (length < part.size() && length > 0 && (static_cast<unsigned char>(part[length]) & 0xc0U) == 0x80U) --length;
    std::copy_n(part.begin(), length, why.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += length;
    if (length < part.size()) return;
  }
}

void Departure::record(const Departed& departed) {
  // Many may find somebody gone at once; one writes.  Were it killed in between, nobody would be known to have left,
  // and its own end would be noticed instead.
  std::uint32_t nobody = kNobody;
  if (!state_.compare_exchange_strong(nobody, kBeingWritten)) return;
  departed_ = departed;
  state_.store(kWritten, std::memory_order_release);
}

bool Departure::known(Departed& departed) const {
  if (state_.load(std::memory_order_acquire) != kWritten) return false;
  departed = departed_;
  return true;
}

void Departure::check(const Progress& progress) const {
  Departed departed;
  if (!known(departed) || departed.calls >= progress.needed()) return;
  throw Error(ErrorKind::kSystem,
              base::text("rank ", departed.worker, ' ', departed.why.data(), "; nothing more can be done together"),
              EOWNERDEAD);
}

}  // namespace plait::transport::node
