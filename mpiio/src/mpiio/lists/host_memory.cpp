#include "mpiio/lists/host_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mpiio/decoded_type.hpp"

namespace plait::mpiio {

// The kernel reads one byte and reports EFAULT if a read by this process would end it. Other errors mean that the call
// is not permitted, so the memory is accepted.
bool is_host_memory(const std::byte* data) {
  std::byte byte{};
  const iovec local{&byte, 1};
  const iovec remote{const_cast<std::byte*>(data), 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) >= 0 || errno != EFAULT;
}

HostMemory::HostMemory(Runs runs, std::byte* data) : runs_(std::move(runs)), data_(data) {
  if (runs_->bytes == 0)
    dense_ = data_;
  else if (runs_->kind == RunNode::Kind::kList && runs_->runs == 1)
    dense_ = reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(data_) + runs_->begin);
}

std::optional<HostMemory> HostMemory::find(const plait_mpiio_access& access, MPI_Comm comm) {
  const std::shared_ptr<DecodedType> type = find_decoded(access.type, comm);
  if (!type) return std::nullopt;
  const Runs runs = repeat_runs(type->runs(access.type), access.count, type->extent_bytes());
  std::int64_t bytes = 0;
  if (!runs || __builtin_mul_overflow(type->bytes(), access.count, &bytes) || runs->bytes != bytes) return std::nullopt;
  HostMemory memory(runs, static_cast<std::byte*>(access.data));
  // With MPI_BOTTOM the offsets are addresses.
  const auto first = reinterpret_cast<std::intptr_t>(access.data) + runs->begin;
  if (runs->bytes > 0 && !is_host_memory(reinterpret_cast<const std::byte*>(first))) return std::nullopt;
  return memory;
}

RunCursor HostMemory::cursor() const { return {runs_, reinterpret_cast<std::intptr_t>(data_)}; }

void copy_piece(std::byte* target, const std::byte* source, std::int64_t bytes) {
  switch (bytes) {
    case 4: std::memcpy(target, source, 4); break;
    case 8: std::memcpy(target, source, 8); break;
    case 16: std::memcpy(target, source, 16); break;
    default: std::memcpy(target, source, static_cast<std::size_t>(bytes));
  }
}

void pack(RunCursor& memory, std::byte* target, std::int64_t bytes) {
  while (bytes > 0) {
    const std::int64_t piece = std::min(bytes, memory.left());
    copy_piece(target, reinterpret_cast<const std::byte*>(memory.offset()), piece);
    memory.skip(piece);
    target += piece;
    bytes -= piece;
  }
}

void unpack(RunCursor& memory, const std::byte* source, std::int64_t bytes) {
  while (bytes > 0) {
    const std::int64_t piece = std::min(bytes, memory.left());
    copy_piece(reinterpret_cast<std::byte*>(memory.offset()), source, piece);
    memory.skip(piece);
    source += piece;
    bytes -= piece;
  }
}

}  // namespace plait::mpiio
