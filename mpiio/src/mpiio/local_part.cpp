#include "mpiio/local_part.hpp"

#include <cstddef>
#include <utility>

#include "mpiio/datatype.hpp"
#include "mpiio/decoded_type.hpp"

namespace plait::mpiio {

namespace {

/// Larger accesses are carried out in pieces, by lists.
constexpr std::int64_t kMaxCopy = std::int64_t{64} << 20;

bool find_strides(const plait_mpiio_access& access, const ArrayDatatype& type, const SharedArray& array, int rank,
                  ConstPart& part) {
  part.data = static_cast<const std::byte*>(access.data);
  if (std::holds_alternative<Dense>(type)) return true;
  // An array with ghost cells.
  const auto* local = std::get_if<Subarray>(&type);
  if (local == nullptr || access.count != 1 || local->order != array.type.order) return false;
  const bool is_divided = local->element_bytes != array.type.element_bytes;
  const bool is_c = local->order == Order::kC;
  Extents sizes = local->sizes;
  Extents strides(sizes.size());
  std::int64_t stride = local->element_bytes;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = is_c ? sizes.size() - 1 - i : i;
    strides[d] = stride;
    begin += local->starts[d] * stride;
    stride *= local->shape[d];
  }
  // If Plait has divided the elements of the file into smaller units, these are one more dimension.
  if (is_divided) {
    if (local->element_bytes % array.type.element_bytes != 0) return false;
    sizes.insert(is_c ? sizes.end() : sizes.begin(), local->element_bytes / array.type.element_bytes);
    strides.insert(is_c ? strides.end() : strides.begin(), array.type.element_bytes);
  }
  if (array.layout.local_shape(rank) != sizes) return false;
  part.data += begin;
  part.strides = std::move(strides);
  return true;
}

}  // namespace

bool LocalPart::find(const plait_mpiio_access& access, const SharedArray& array, int rank, MPI_Comm comm) {
  const std::shared_ptr<DecodedType> type = find_decoded(access.type, comm);
  if (!type) return false;
  if (find_strides(access, type->array(), array, rank, part_)) return is_host_memory(part_.data);
  bytes_ = type->bytes() * access.count;
  if (bytes_ > kMaxCopy) return false;
  memory_ = HostMemory::find(access, comm);
  if (!memory_) return false;
  copy_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  part_ = {};
  part_.data = copy_.get();
  return true;
}

void LocalPart::pack() {
  if (!memory_) return;
  RunCursor cursor = memory_->cursor();
  mpiio::pack(cursor, copy_.get(), bytes_);
}

void LocalPart::unpack() const {
  if (!memory_) return;
  RunCursor cursor = memory_->cursor();
  mpiio::unpack(cursor, copy_.get(), bytes_);
}

}  // namespace plait::mpiio
