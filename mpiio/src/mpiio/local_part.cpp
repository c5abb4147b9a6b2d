#include "mpiio/local_part.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "mpiio/datatype.hpp"

namespace plait::mpiio {

namespace {

/// False for memory that the host cannot read, such as that of a GPU. The kernel reads one byte and reports EFAULT if a
/// read by this process would end it. Other errors mean that the call is not permitted, so the memory is accepted.
bool is_host_memory(const std::byte* data) {
  std::byte byte{};
  const iovec local{&byte, 1};
  const iovec remote{const_cast<std::byte*>(data), 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) >= 0 || errno != EFAULT;
}

bool find_strides(const plait_mpiio_access& access, const SharedArray& array, int rank, ConstPart& part) {
  part.data = static_cast<const std::byte*>(access.data);
  const ArrayDatatype type = decode(access.type);
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

bool find_part(const plait_mpiio_access& access, const SharedArray& array, int rank, ConstPart& part) {
  return access.data != nullptr && find_strides(access, array, rank, part) && is_host_memory(part.data);
}

}  // namespace plait::mpiio
