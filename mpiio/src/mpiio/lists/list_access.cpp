// Decides which accesses Plait carries out by lists of runs, and carries them out.
//
// Problem: the views of irregular programs form no array, and ranks may access parts of their filetypes. All ranks must
// still take the same path, Plait or the MPI.
//
// Idea: each rank finds the first and the last byte of the file that it accesses, without visiting its runs. In one
// agreement the ranks learn whether all of them can take part, and the range of the file that they access together.
//
// The messages of an agreement take a tenth of the time of a small access. If filetypes have few pieces, accesses to
// one of them are left to the MPI, and only those to hundreds of filetypes are worth it. All ranks know which attempts
// have succeeded, so OpenFile::access() pauses on all ranks alike, for two, six and at last 62 accesses.
//
// Example: rank 0 accesses bytes 100 to 5000 and rank 1 bytes 140 to 7000, so the agreed range is 100 to 7000.

#include <array>
#include <new>
#include <string_view>

#include "mpiio/lists/list_transfer.hpp"
#include "mpiio/open_file.hpp"

namespace plait::mpiio {

namespace {

/// True if the MPI may write the bytes between pieces again: if it has ROMIO, unless a hint forbids it.
bool sieves_writes([[maybe_unused]] MPI_File file) {
#ifdef OPEN_MPI
  return false;
#else
  MPI_Info hints = MPI_INFO_NULL;
  if (PMPI_File_get_info(file, &hints) != MPI_SUCCESS || hints == MPI_INFO_NULL) return false;
  constexpr int kBytes = 64;
  std::array<char, kBytes> value{};
  int has_value = 0;
  PMPI_Info_get(hints, "romio_ds_write", kBytes - 1, value.data(), &has_value);
  PMPI_Info_free(&hints);
  return has_value == 0 || std::string_view(value.data()) != "disable";
#endif
}

}  // namespace

Reason OpenFile::access_lists(const plait_mpiio_access& access, int& code) {
  ListProposal proposal;
  const Reason own = propose_lists(access, proposal);
  agreement_.start({-static_cast<std::int64_t>(own), proposal.begin, proposal.minus_end});
  if (own != Reason::kNone) return own;
  const std::optional<Agreement::Numbers> smallest = agreement_.finish();
  if (!smallest) return Reason::kFailed;
  if ((*smallest)[0] != 0) return static_cast<Reason>(-(*smallest)[0]);
  const std::int64_t begin = (*smallest)[1];
  const std::int64_t end = begin == ListProposal::kNoByte ? begin : -(*smallest)[2];
  const bool is_read_only = (access_mode_ & MPI_MODE_RDONLY) != 0;
  const bool was_open = descriptor_.is_open();
  if (!was_open && (!make_communicator() || !descriptor_.open(path_, is_read_only, comm_))) {
    give_up(Reason::kStore);
    return unusable_;
  }
  if (!was_open) sieves_writes_ = sieves_writes(file_);
  const ListAccess list{.writes = access.writes != 0,
                        .sieves_writes = sieves_writes_,
                        .begin = begin,
                        .end = end,
                        .runs = proposal.runs ? &*proposal.runs : nullptr,
                        .memory = proposal.memory ? &*proposal.memory : nullptr};
  if (const int error = transfer_lists(list, descriptor_.number(), comm_); error != 0) {
    code = call_error_handler(file_, error);
    return Reason::kNone;
  }
  Totals& totals = access.writes != 0 ? writes_ : reads_;
  ++totals.accesses;
  if ((mode_ & PLAIT_MPIIO_EXPLAIN) != 0) {
    std::int64_t bytes = 0;
    PMPI_Allreduce(&proposal.bytes, &bytes, 1, MPI_INT64_T, MPI_SUM, comm_);
    totals.bytes += bytes;
    last_array_ = "irregular lists";
  }
  code = complete(access, proposal.bytes);
  return Reason::kNone;
}

Reason OpenFile::propose_lists(const plait_mpiio_access& access, ListProposal& proposal) {
  if (!view_) return Reason::kView;
  const std::int64_t size = access.type == MPI_DATATYPE_NULL ? -1 : data_bytes(access.type);
  if (access.count < 0 || size < 0 || __builtin_mul_overflow(size, access.count, &proposal.bytes))
    return Reason::kFailed;
  if (const Reason reason = check_file(access); reason != Reason::kNone) return reason;
  if (proposal.bytes == 0) return Reason::kNone;
  if (view_->bytes == 0 || proposal.bytes % view_->etype_bytes != 0) return Reason::kPartial;
  const std::int64_t filetypes = (proposal.bytes + view_->bytes - 1) / view_->bytes;
  const auto gain = static_cast<double>(common_view_.list_gain(agreement_.ranks()));
  if (!is_always_ && !common_view_.has_many_pieces(filetypes)) return Reason::kNoGain;
  if (!is_worthwhile(descriptor_.is_open(), gain * static_cast<double>(filetypes))) return Reason::kNoGain;
  MPI_Offset position = 0;
  if (!find_position(access, held().get(), position)) return Reason::kFailed;
  try {
    if (!runs_) runs_ = find_runs(*view_);
    if (!runs_) return Reason::kView;
    const Reason reason = complete_proposal(proposal, access, *view_, runs_, position);
    if (reason != Reason::kNone) return reason;
    proposal.memory = HostMemory::find(access, ranks_->comm);
    return proposal.memory ? Reason::kNone : Reason::kMemory;
  } catch (const std::bad_alloc&) {
    return Reason::kMemory;
  }
}

}  // namespace plait::mpiio
