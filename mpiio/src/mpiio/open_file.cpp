// Decides which accesses Plait carries out, and carries them out.
//
// Problem: all ranks of a collective access must take the same path, Plait or the MPI, but each knows only its own
// arguments and its own view.
//
// Order of an access:
//
//   1. View      In MPI_File_set_view the ranks compare their views. If these form no array, or each rank has one piece
//                of the file, all accesses of the view belong to the MPI, without messages.
//   2. Propose   Each rank checks its arguments. The access must cover whole filetypes, because the first filetypes of
//                all ranks form one array, their second filetypes the next one, and so on: the position, in filetypes,
//                is the number of the first array. An access that the MPI carries out as fast belongs to it: opening
//                the file for Plait takes time, too.
//   3. Agree     The ranks agree on the most serious reason of any rank why the access belongs to the MPI, and whether
//                all ranks access the same arrays. A rank with a reason does not wait for the others.
//   4. Move      Plait reads or writes. Its calls are collective, and an error of one rank is the error of all.
//   5. Complete  The individual file pointer of the MPI moves, and the status states the bytes.
//
// Nothing is cached between accesses: Plait and the MPI write the same file, and each sees what the other has written.

#include "mpiio/open_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiio/local_part.hpp"
#include "mpiio/real_calls.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"

namespace plait::mpiio {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

int error_class(int system_code) {
  switch (system_code) {
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case ENOSPC:
    case EFBIG: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case EROFS: return MPI_ERR_READ_ONLY;
    case ENAMETOOLONG: return MPI_ERR_BAD_FILE;
    default: return MPI_ERR_IO;
  }
}

std::string plural(std::int64_t number, std::string_view singular, std::string_view ending) {
  return std::to_string(number) + ' ' + std::string(singular) + std::string(number == 1 ? "" : ending);
}

void set_status(MPI_Status* status, std::int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
  PMPI_Status_set_cancelled(status, 0);
}

/// True for an error of the file or of another rank, which the MPI would report as well. After any other error, such as
/// a lack of shared memory, the MPI could still carry out the access. All ranks have the same error.
bool is_of_file(const Error& error, const std::string& path) {
  if (error.kind() == ErrorKind::kArgument) return false;
  return error.system_code() == EOWNERDEAD || std::string_view(error.what()).find(path) != std::string_view::npos;
}

/// Returns the board of the latest files of a communicator; nullptr if there is none.
std::shared_ptr<AgreementBoard> find_board(const plait_mpiio_ranks& ranks) {
  const auto* board = static_cast<const std::shared_ptr<AgreementBoard>*>(ranks.board);
  return board == nullptr ? nullptr : *board;
}

/// True if the file does not end before the array does.
bool has_end(MPI_File file, const SharedArray& array) {
  MPI_Offset bytes = 0;
  return PMPI_File_get_size(file, &bytes) == MPI_SUCCESS && bytes >= end_of_access(array);
}

}  // namespace

bool find_position(const plait_mpiio_access& access, HeldView* held, MPI_Offset& position) {
  position = access.offset;
  if (access.has_offset != 0 || (held != nullptr && held->position(position))) return true;
  return real_calls().get_position(access.file, &position) == MPI_SUCCESS;
}

int call_error_handler(MPI_File file, int system_code) {
  const int code = error_class(system_code);
  PMPI_File_call_errhandler(file, code);
  return code;
}

bool is_atomic(MPI_File file) {
  int atomic = 1;
  return PMPI_File_get_atomicity(file, &atomic) != MPI_SUCCESS || atomic != 0;
}

/// The numbers that ranks compare. They agree on the smallest value of each. The smallest negated value is minus the
/// largest value, so both show whether all are equal. A rank without elements proposes kAny, which is never smaller.
struct OpenFile::Proposal {
  std::int64_t minus_reason = 0;
  std::int64_t first = kAny;
  std::int64_t minus_first = kAny;
  std::int64_t count = kAny;
  std::int64_t minus_count = kAny;
  // The members below are not compared.
  LocalPart part;
  std::int64_t bytes = 0;

  bool is_same() const { return first != kAny && first == -minus_first && count == -minus_count; }
};

OpenFile::OpenFile(const plait_mpiio_opened& opened)
    : file_(opened.file),
      ranks_(opened.ranks, opened.release),
      agreement_(ranks_->comm, opened.tag, find_board(*ranks_)),
      tag_(opened.tag),
      mode_(opened.mode),
      is_always_((opened.mode & PLAIT_MPIIO_ALWAYS) != 0),
      is_strict_((opened.mode & PLAIT_MPIIO_STRICT) != 0),
      access_mode_(opened.access_mode),
      path_(opened.path, opened.descriptor) {
  if (agreement_.ranks() == ranks_->all) return;
  unusable_ = Reason::kMissing;
  if (is_strict_ && agreement_.rank() == 0)
    std::fprintf(stderr,
                 "plait mpiio: %s: all accesses belong to the MPI, because %s; PLAIT_MPIIO=strict has no effect\n",
                 path_.text().c_str(), std::string(describe(unusable_)).c_str());
}

OpenFile::~OpenFile() {
  held_.exchange(nullptr);
  give_up(unusable_);
}

void OpenFile::give_up(Reason reason) {
  unusable_ = reason;
  plait_.reset();
  descriptor_.close();
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

bool OpenFile::make_communicator() {
  if (comm_ != MPI_COMM_NULL) return true;
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(ranks_->comm, &group) != MPI_SUCCESS) return false;
  // Collective only among opens with this tag, so that other threads may open files meanwhile.
  const bool is_made = PMPI_Comm_create_group(ranks_->comm, group, tag_, &comm_) == MPI_SUCCESS;
  PMPI_Group_free(&group);
  if (is_made) PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  return is_made;
}

bool OpenFile::access(const plait_mpiio_access& access, int& code) {
  if (begun_) {  // MPI allows one split access at a time, and no other collective access meanwhile
    code = MPI_ERR_IO;
    PMPI_File_call_errhandler(file_, code);
    return true;
  }
  if (mpi_is_between_) return false;
  agree_on_views();
  if (unusable_ != Reason::kNone) return leave_to_mpi(access, unusable_, code);
  Reason reason = common_view_.has_lists() ? Reason::kNoGain : view_reason_;
  if (common_view_.is_array()) reason = access_array(access, code);
  const bool may_pause = !is_always_ && !common_view_.has_many_pieces(1);
  if (reason != Reason::kNone && unusable_ == Reason::kNone &&
      common_view_.has_list_gain(agreement_.ranks(), is_always_) && (!may_pause || few_pieces_.starts())) {
    reason = access_lists(access, code);
    if (may_pause) few_pieces_.note(reason == Reason::kNone);
  }
  return reason == Reason::kNone || leave_to_mpi(access, reason, code);
}

Reason OpenFile::access_array(const plait_mpiio_access& access, int& code) {
  const auto attempt = [&] {
    Proposal proposal;
    Reason reason = agree(access, proposal);
    if (reason == Reason::kNone && !array_) {
      reason = gather_array() ? agree(access, proposal) : Reason::kView;
    }
    if (reason == Reason::kNone && !array_->can_join(proposal.first, proposal.count)) reason = Reason::kPartial;
    if (reason == Reason::kNone) reason = move(access, array_->tiles(proposal.first, proposal.count), proposal, code);
    return reason;
  };
  if (is_always_) return attempt();
  if (gain_ == 0) return Reason::kNoGain;
  const bool may_pause = common_view_.has_one_piece() || static_cast<double>(gain_) * Backoff::kMaxPause < kOpening;
  if (may_pause && !held() && !array_attempts_.starts()) {
    // Each rank counts one filetype, since most accesses have one.
    if (!common_view_.has_one_piece()) saved_ += static_cast<double>(gain_);
    return Reason::kNoGain;
  }
  const Reason reason = attempt();
  if (may_pause) array_attempts_.note(reason == Reason::kNone);
  return reason;
}

Reason OpenFile::agree(const plait_mpiio_access& access, Proposal& proposal) {
  proposal = {};
  const Reason own = propose(access, proposal);
  agreement_.start(
      {-static_cast<std::int64_t>(own), proposal.first, proposal.minus_first, proposal.count, proposal.minus_count});
  if (own != Reason::kNone) return own;
  const std::optional<Agreement::Numbers> smallest = agreement_.finish();
  if (!smallest) return Reason::kFailed;
  const Agreement::Numbers& numbers = *smallest;
  proposal.first = numbers[1];
  proposal.minus_first = numbers[2];
  proposal.count = numbers[3];
  proposal.minus_count = numbers[4];
  if (numbers[0] != 0) return static_cast<Reason>(-numbers[0]);
  return proposal.is_same() ? Reason::kNone : Reason::kPartial;
}

Reason OpenFile::propose(const plait_mpiio_access& access, Proposal& proposal) {
  if (!view_) return Reason::kView;
  const std::int64_t size = access.type == MPI_DATATYPE_NULL ? -1 : data_bytes(access.type);
  const bool is_valid = access.count >= 0 && size >= 0;
  if (!is_valid || __builtin_mul_overflow(size, access.count, &proposal.bytes)) return Reason::kFailed;
  // A rank is idle if its view has no elements of the array.
  const bool is_idle = std::holds_alternative<Dense>(view_->filetype) || view_->bytes == 0;
  if (is_idle && proposal.bytes != 0) return Reason::kPartial;
  if (!is_idle) {
    if (proposal.bytes == 0 || proposal.bytes % view_->bytes != 0) return Reason::kPartial;
    proposal.count = proposal.bytes / view_->bytes;
    proposal.minus_count = -proposal.count;
    const bool has_one_piece = proposal.count == 1 && common_view_.has_one_piece() && !is_always_;
    const double gain = static_cast<double>(gain_) * static_cast<double>(proposal.count);
    if (has_one_piece || !is_worthwhile(plait_.has_value(), gain)) return Reason::kNoGain;
  }
  if (const Reason reason = check_file(access); reason != Reason::kNone) return reason;
  // Also on ranks without elements: all ranks must have the array, or none, since ranks without it gather it.
  if (!array_ && common_view_.is_one_darray()) array_ = make_array(*view_);
  if (!array_ && common_view_.is_one_darray()) return Reason::kView;
  return is_idle ? Reason::kNone : check_position(access, proposal);
}

Reason OpenFile::check_file(const plait_mpiio_access& access) {
  if (!plait_ && !descriptor_.is_open() && !path_.is_usable()) return Reason::kStore;
  const int forbidden = access.writes != 0 ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
  return (access_mode_ & forbidden) != 0 || is_atomic(file_) ? Reason::kMode : Reason::kNone;
}

Reason OpenFile::check_position(const plait_mpiio_access& access, Proposal& proposal) {
  MPI_Offset position = 0;
  if (!find_position(access, held().get(), position)) return Reason::kFailed;
  std::int64_t begin = 0;
  if (position < 0 || __builtin_mul_overflow(position, view_->etype_bytes, &begin)) return Reason::kFailed;
  if (begin % view_->bytes != 0) return Reason::kPartial;
  proposal.first = begin / view_->bytes;
  proposal.minus_first = -proposal.first;
  return array_ ? check_array(access, proposal) : Reason::kNone;
}

Reason OpenFile::check_array(const plait_mpiio_access& access, Proposal& proposal) const {
  if (access.writes != 0 && array_->has_replicas()) return Reason::kReplicas;
  if (!array_->can_join(proposal.first, proposal.count)) return Reason::kPartial;
  try {
    const SharedArray tiles = array_->tiles(proposal.first, proposal.count);
    if (access.writes == 0 && !has_end(access.file, tiles)) return Reason::kTooShort;
    return proposal.part.find(access, tiles, agreement_.rank(), ranks_->comm) ? Reason::kNone : Reason::kMemory;
  } catch (const Error&) {
    return Reason::kFailed;
  } catch (const std::bad_alloc&) {
    return Reason::kMemory;
  }
}

bool OpenFile::is_worthwhile(bool is_open, double gain) {
  if (is_open || is_always_) return true;
  saved_ += gain;
  return saved_ >= kOpening;
}

bool OpenFile::open() {
  if (!make_communicator()) return false;
  FileOptions options;
  options.shape = Extents{0};
  options.element_bytes = 1;
  options.several = true;
  options.durable = false;
  const Mode mode = (access_mode_ & MPI_MODE_RDONLY) != 0 ? Mode::kRead : Mode::kReadWrite;
  try {
    plait_ = File::open("raw:" + path_.text(), mode, options, make_comm(comm_));
  } catch (const Error&) {
    return false;
  }
  // Another program may have replaced the file since check_file(), on some hosts before others.
  const std::int64_t is_same = path_.is_current() ? 1 : 0;
  std::int64_t is_same_everywhere = 0;
  return PMPI_Allreduce(&is_same, &is_same_everywhere, 1, MPI_INT64_T, MPI_MIN, comm_) == MPI_SUCCESS &&
         is_same_everywhere != 0;
}

Reason OpenFile::move(const plait_mpiio_access& access, const SharedArray& array, Proposal& proposal, int& code) {
  if (!plait_ && !open()) {
    give_up(Reason::kStore);
    return unusable_;
  }
  const bool has_part = array.layout.has_rank(agreement_.rank());
  try {
    plait_->select(array.type, array.offset);
    if (access.writes != 0) {
      proposal.part.pack();
      std::vector<ConstPart> parts;
      if (has_part) parts.push_back(proposal.part.source());
      plait_->write(array.layout, parts, array.region);
    } else {
      std::vector<MutablePart> parts;
      if (has_part) parts.push_back(proposal.part.target());
      plait_->read(array.layout, parts, array.region);
      proposal.part.unpack();
    }
  } catch (const Error& error) {
    if (!is_of_file(error, path_.text())) {
      unusable_ = Reason::kFailed;
      return unusable_;
    }
    code = call_error_handler(file_, error.system_code());
    return Reason::kNone;
  }
  Totals& totals = access.writes != 0 ? writes_ : reads_;
  ++totals.accesses;
  totals.bytes += array.layout.elements() * array.type.element_bytes;
  if ((mode_ & PLAIT_MPIIO_EXPLAIN) != 0 && array_) last_array_ = array_->describe();
  code = complete(access, proposal.bytes);
  return Reason::kNone;
}

int OpenFile::complete(const plait_mpiio_access& access, std::int64_t bytes) {
  if (access.begins != 0) begun_ = Begun{bytes, access.writes != 0};
  set_status(access.status, bytes);
  if (access.has_offset != 0 || bytes == 0) return MPI_SUCCESS;
  const MPI_Offset etypes = bytes / view_->etype_bytes;
  const std::shared_ptr<HeldView> held = this->held();
  return held && held->advance(etypes) ? MPI_SUCCESS : real_calls().seek(file_, etypes, MPI_SEEK_CUR);
}

bool OpenFile::end(bool writes, MPI_Status* status) {
  mpi_is_between_ = false;
  if (!begun_ || begun_->writes != writes) return false;
  set_status(status, begun_->bytes);
  begun_.reset();
  return true;
}

bool OpenFile::leave_to_mpi(const plait_mpiio_access& access, Reason reason, int& code) {
  ++left_[reason];
  // Ranks without Plait or with another mode call the MPI, and would wait there for ranks that return an error.
  if (!is_strict_ || reason == Reason::kMissing) {
    code = pass_view();
    if (code == MPI_SUCCESS) mpi_is_between_ = access.begins != 0;
    return code != MPI_SUCCESS;
  }
  if (agreement_.rank() == 0)
    std::fprintf(
        stderr,
        "plait mpiio: %s: a collective %s belongs to the MPI, because %s; PLAIT_MPIIO=strict makes it an error\n",
        path_.text().c_str(), access.writes != 0 ? "write" : "read", std::string(describe(reason)).c_str());
  code = MPI_ERR_UNSUPPORTED_OPERATION;
  PMPI_File_call_errhandler(file_, code);
  return true;
}

void OpenFile::report() const {
  if (agreement_.rank() != 0 || (mode_ & PLAIT_MPIIO_EXPLAIN) == 0) return;
  std::string text = "plait mpiio: " + path_.text() + ": Plait has carried out " +
                     plural(writes_.accesses, "write", "s") + " of " + plural(writes_.bytes, "byte", "s") + " and " +
                     plural(reads_.accesses, "read", "s") + " of " + plural(reads_.bytes, "byte", "s");
  if (!last_array_.empty()) text += ", the last one of " + last_array_;
  for (const auto& [reason, number] : left_)
    text += "; the MPI has carried out " + plural(number, "collective access", "es") + ", because " +
            std::string(describe(reason));
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace plait::mpiio
