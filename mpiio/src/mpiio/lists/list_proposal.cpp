#include "mpiio/lists/list_proposal.hpp"

namespace plait::mpiio {

Reason complete_proposal(ListProposal& proposal, const plait_mpiio_access& access, const FileView& view,
                         const Runs& filetype, MPI_Offset position) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (position < 0 || __builtin_mul_overflow(position, view.etype_bytes, &first) ||
      __builtin_add_overflow(first, proposal.bytes, &last))
    return Reason::kFailed;
  if (filetype->bytes != view.bytes) return Reason::kView;
  const std::int64_t filetypes = last / view.bytes + (last % view.bytes != 0 ? 1 : 0);
  const Runs all = repeat_runs(filetype, filetypes, view.extent_bytes);
  std::int64_t end = 0;
  if (!all || !all->is_ascending || __builtin_add_overflow(all->end, view.displacement, &end)) return Reason::kView;
  RunCursor& cursor = proposal.runs.emplace(all, view.displacement);
  cursor.seek(last - 1);
  proposal.minus_end = -(cursor.offset() + 1);
  cursor.seek(first);
  cursor.set_end(last);
  proposal.begin = cursor.offset();
  if (proposal.begin < 0) return Reason::kView;
  MPI_Offset size = 0;
  if (access.writes == 0 && (PMPI_File_get_size(access.file, &size) != MPI_SUCCESS || size < -proposal.minus_end))
    return Reason::kTooShort;
  return Reason::kNone;
}

}  // namespace plait::mpiio
