#include "core/comm/local_arrays.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::core {

std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts) {
  std::vector<MutablePart> result;
  for (const ConstPart& part : parts) result.push_back({const_cast<std::byte*>(part.data), part.strides});
  return result;
}

void check_ranks(const Layout& layout, const Comm& comm) {
  if (comm.alone() || layout.ranks_end() <= comm.size()) return;
  base::throw_argument_error("the layout ", to_string(layout), " has ", layout.size(), " ranks, up to rank ",
                             layout.ranks_end() - 1, ", but the communicator has the ranks 0 to ", comm.size() - 1,
                             "; use a grid of at most ", comm.size(), " ranks");
}

std::vector<std::int64_t> ranks_held(const Layout& layout, const Comm& comm) {
  if (comm.alone()) return layout.rank_numbers();
  if (layout.has_rank(comm.rank())) return {comm.rank()};
  return {};
}

int useful_threads(std::int64_t elements, std::int64_t element_bytes) {
  constexpr std::int64_t kMinBytesPerThread = std::int64_t{1} << 20;  // starting a thread takes as long as moving these
  constexpr std::int64_t kMaxThreads = 64;
  const std::int64_t max_useful = elements / std::max<std::int64_t>(kMinBytesPerThread / element_bytes, 1);
  if (max_useful <= 1) return 1;  // asking for the number of cores reads files, which takes longer than a small access
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(max_useful, cores), 1, kMaxThreads));
}

std::vector<copy::LocalArray> local_arrays(const Layout& layout, std::span<const MutablePart> parts,
                                           std::int64_t element_bytes, const Comm& comm) {
  check_ranks(layout, comm);
  const std::vector<std::int64_t> ranks = ranks_held(layout, comm);
  if (parts.size() != ranks.size())
    base::throw_argument_error(parts.size(), " local arrays were given for ", ranks.size(),
                               comm.alone() ? " ranks of " : " ranks of this process in ", to_string(layout));
  std::vector<copy::LocalArray> arrays;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Extents shape = layout.padded_shape(ranks[i]);
    Extents strides = parts[i].strides;
    if (strides.empty()) strides = plan::in_bytes(plan::dense_strides(shape, layout.order()), element_bytes);
    if (static_cast<int>(strides.size()) != layout.dimensions())
      base::throw_argument_error("the local array of rank ", ranks[i], " has ", strides.size(),
                                 " dimensions, but the layout has ", layout.dimensions());
    if (parts[i].data == nullptr && base::checked_product(shape, "number of local elements") > 0)
      base::throw_argument_error("the local array of rank ", ranks[i], " is missing");
    arrays.push_back({ranks[i], parts[i].data, std::move(strides)});
  }
  return arrays;
}

}  // namespace plait::core
