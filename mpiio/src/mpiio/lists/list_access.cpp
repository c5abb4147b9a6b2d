// Decides which accesses Plait carries out by lists of runs, and carries them out.
//
// Problem: the views of irregular programs form no array, and ranks may access parts of their filetypes. All ranks must
// still take the same path, Plait or the MPI.
//
// Idea: each rank finds the first and the last byte of the file that it accesses, without visiting its runs. In one
// agreement the ranks learn whether all of them can take part, and the range of the file that they access together.
//
// Example: rank 0 accesses bytes 100 to 5000 and rank 1 bytes 140 to 7000, so the agreed range is 100 to 7000.

#include <limits>
#include <new>
#include <utility>

#include "mpiio/lists/list_transfer.hpp"
#include "mpiio/open_file.hpp"
#include "mpiio/real_calls.hpp"

namespace plait::mpiio {

namespace {

constexpr std::int64_t kNoByte = std::numeric_limits<std::int64_t>::max();

}  // namespace

/// The range of the file is that of this rank, and then of all ranks.
struct OpenFile::ListProposal {
  std::int64_t begin = kNoByte;
  std::int64_t minus_end = kNoByte;
  // The others are those of this rank alone.
  std::int64_t bytes = 0;
  std::optional<RunCursor> runs;
  std::optional<HostMemory> memory;
};

bool OpenFile::has_list_gain() const {
  if (is_always()) return common_view_.has_lists();
  // Accesses of small arrays need no second agreement.
  return list_gain_ != 0 && (!common_view_.is_array() || common_view_.list_pieces() >= kMinListPieces);
}

bool OpenFile::has_worthwhile_lists(std::int64_t count) {
  if (is_always()) return true;
  const std::int64_t pieces = common_view_.list_pieces();
  if (pieces < kMinListPieces && pieces * count < kMinListPieces) return false;
  if (descriptor_.is_open()) return true;
  saved_ += static_cast<double>(list_gain_) * static_cast<double>(count);
  return saved_ >= kOpening;
}

Reason OpenFile::access_lists(const plait_mpiio_access& access, int& code) {
  ListProposal proposal;
  const Reason own = propose_lists(access, proposal);
  agreement_.start({-static_cast<std::int64_t>(own), proposal.begin, proposal.minus_end});
  if (own != Reason::kNone) return own;
  const std::optional<Agreement::Numbers> smallest = agreement_.finish();
  if (!smallest) return Reason::kFailed;
  if ((*smallest)[0] != 0) return static_cast<Reason>(-(*smallest)[0]);
  const std::int64_t begin = (*smallest)[1];
  const std::int64_t end = begin == kNoByte ? begin : -(*smallest)[2];
  if (!open_descriptor()) {
    give_up(Reason::kStore);
    return unusable_;
  }
  const ListAccess list{.writes = access.writes != 0,
                        .begin = begin,
                        .end = end,
                        .runs = proposal.runs ? &*proposal.runs : nullptr,
                        .memory = proposal.memory ? &*proposal.memory : nullptr};
  if (const int error = transfer_lists(list, descriptor_.number(), comm_); error != 0) {
    code = fail(error);
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
  if (!has_worthwhile_lists((proposal.bytes + view_->bytes - 1) / view_->bytes)) return Reason::kNoGain;
  try {
    return find_list(access, proposal);
  } catch (const std::bad_alloc&) {
    return Reason::kMemory;
  }
}

Reason OpenFile::find_list(const plait_mpiio_access& access, ListProposal& proposal) {
  MPI_Offset position = access.offset;
  if (access.has_offset == 0 && !find_position(position)) return Reason::kFailed;
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (position < 0 || __builtin_mul_overflow(position, view_->etype_bytes, &first) ||
      __builtin_add_overflow(first, proposal.bytes, &last))
    return Reason::kFailed;
  if (!runs_) runs_ = find_runs(*view_);
  if (!runs_ || runs_->bytes != view_->bytes) return Reason::kView;
  const std::int64_t filetypes = last / view_->bytes + (last % view_->bytes != 0 ? 1 : 0);
  const Runs all = repeat_runs(runs_, filetypes, view_->extent_bytes);
  std::int64_t end = 0;
  if (!all || !all->is_ascending || __builtin_add_overflow(all->end, view_->displacement, &end)) return Reason::kView;
  RunCursor& runs = proposal.runs.emplace(all, view_->displacement);
  runs.seek(last - 1);
  proposal.minus_end = -(runs.offset() + 1);
  runs.seek(first);
  runs.set_end(last);
  proposal.begin = runs.offset();
  if (proposal.begin < 0) return Reason::kView;
  MPI_Offset size = 0;
  if (access.writes == 0 && (PMPI_File_get_size(access.file, &size) != MPI_SUCCESS || size < -proposal.minus_end))
    return Reason::kTooShort;
  proposal.memory = HostMemory::find(access);
  return proposal.memory ? Reason::kNone : Reason::kMemory;
}

bool OpenFile::open_descriptor() {
  if (descriptor_.is_open()) return true;
  if (!make_communicator()) return false;
  // Another program may have replaced the file since check_file(), on some hosts before others.
  const bool is_open = descriptor_.open(path_.text(), (access_mode_ & MPI_MODE_RDONLY) != 0) && path_.is_current();
  const std::int64_t own = is_open ? 1 : 0;
  std::int64_t smallest = 0;
  return PMPI_Allreduce(&own, &smallest, 1, MPI_INT64_T, MPI_MIN, comm_) == MPI_SUCCESS && smallest != 0;
}

}  // namespace plait::mpiio
