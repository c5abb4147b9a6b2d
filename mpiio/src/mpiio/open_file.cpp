// Decides which accesses Plait carries out, and carries them out.
//
// Problem: all ranks of a collective access must take the same path, Plait or the MPI, but each knows only its own
// arguments and its own view.
//
// Order of an access:
//
//   1. View      The first collective access after MPI_File_set_view lets the ranks compare their views. If these form
//                no array, this and all later accesses of the view belong to the MPI, without messages.
//   2. Propose   Each rank checks its arguments. The access must cover whole filetypes, because these together are the
//                array: from the position it follows which of the arrays in succession are accessed.
//   3. Agree     One reduction yields the most serious reason of any rank why the access belongs to the MPI, and
//                whether all ranks access the same arrays.
//                An access that the MPI carries out as fast belongs to it: opening the file for Plait takes time, too.
//   4. Move      Plait reads or writes. Its calls are collective, and an error of one rank is the error of all.
//   5. Complete  The individual file pointer of the MPI moves, and the status states the bytes.
//
// Nothing is cached between accesses: Plait and the MPI write the same file, and each sees what the other has written.

#include "mpiio/open_file.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace

/// The numbers that ranks compare. They agree on the smallest value of each; the inverse values show whether all are
/// equal. A rank without elements accepts any.
struct OpenFile::Proposal {
  std::int64_t minus_reason = 0;
  std::int64_t first = kAny;
  std::int64_t minus_first = kAny;
  std::int64_t count = kAny;
  std::int64_t minus_count = kAny;
  // The others are those of this rank alone.
  ConstPart part;
  std::int64_t bytes = 0;

  static constexpr int kCompared = 5;
  bool is_same() const { return first != kAny && first == -minus_first && count == -minus_count; }
};

namespace {

/// False for memory that the host cannot read, such as that of a GPU. The kernel reads one byte and reports EFAULT if a
/// read by this process would end it. Other errors mean that the call is not permitted, so the memory is accepted.
bool is_host_memory(const std::byte* data) {
  std::byte byte{};
  const iovec local{&byte, 1};
  const iovec remote{const_cast<std::byte*>(data), 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) >= 0 || errno != EFAULT;
}

/// Sets the address and strides of a local array; false if the memory type does not describe one.
bool find_part(const plait_mpiio_access& access, const SharedArray& array, int rank, ConstPart& part) {
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

OpenFile::OpenFile(const plait_mpiio_opened& opened)
    : file_(opened.file),
      comm_(opened.comm),
      mode_(opened.mode),
      access_mode_(opened.access_mode),
      path_(find_path(opened.path)) {
  int ranks = 0;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &ranks);
  if (!path_.empty() && !has_weak_coherence(path_)) identity_ = find_identity(path_);
  if (ranks == opened.ranks) return;
  give_up(Reason::kMissing);
  if (is_strict() && rank_ == 0)
    std::fprintf(stderr,
                 "plait mpiio: %s: all accesses belong to the MPI, because %s; PLAIT_MPIIO=strict has no effect\n",
                 path_.c_str(), std::string(describe(unusable_)).c_str());
}

OpenFile::~OpenFile() { give_up(unusable_); }

void OpenFile::give_up(Reason reason) {
  unusable_ = reason;
  plait_.reset();
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

void OpenFile::set_view(const plait_mpiio_view& view) {
  has_new_view_ = true;
  array_.reset();
  view_.reset();
  if (view.is_set == 0 || std::string_view(view.representation) != "native") return;
  FileView found;
  found.filetype = decode(view.filetype);
  found.displacement = view.displacement;
  found.etype_bytes = data_bytes(view.etype);
  found.extent_bytes = extent(view.filetype).bytes;
  if (found.etype_bytes > 0) view_ = std::move(found);
}

const TiledArray* OpenFile::agreed_array() {
  if (std::exchange(has_new_view_, false)) array_ = agree_on_array(view_, comm_);
  return array_ ? &*array_ : nullptr;
}

bool OpenFile::access(const plait_mpiio_access& access, int& code) {
  if (begun_) {  // MPI allows one split access at a time, and no other collective access meanwhile
    code = MPI_ERR_IO;
    PMPI_File_call_errhandler(file_, code);
    return true;
  }
  if (mpi_is_between_) return false;
  if (unusable_ != Reason::kNone) return leave_to_mpi(access, unusable_, code);
  const TiledArray* const array = agreed_array();
  if (array == nullptr) return leave_to_mpi(access, Reason::kView, code);
  if (array->gain() == 0 && !is_always()) return leave_to_mpi(access, Reason::kNoGain, code);
  Proposal proposal = propose(access, *array);
  Reason reason = agree(proposal);
  if (reason == Reason::kNone && !array->can_join(proposal.count)) reason = Reason::kPartial;
  if (reason == Reason::kNone && !is_worthwhile(*array, proposal.count)) reason = Reason::kNoGain;
  if (reason == Reason::kNone) reason = move(access, array->tiles(proposal.first, proposal.count), proposal, code);
  return reason == Reason::kNone || leave_to_mpi(access, reason, code);
}

OpenFile::Proposal OpenFile::propose(const plait_mpiio_access& access, const TiledArray& array) const {
  Proposal proposal;
  Reason reason = check_file(access);
  if (reason == Reason::kNone && access.writes != 0 && array.has_replicas()) reason = Reason::kReplicas;
  if (reason == Reason::kNone) reason = check(access, array, proposal);
  proposal.minus_reason = -static_cast<std::int64_t>(reason);
  return proposal;
}

Reason OpenFile::check_file(const plait_mpiio_access& access) const {
  if (!identity_ || (!plait_ && find_identity(path_) != identity_)) return Reason::kStore;
  const int forbidden = access.writes != 0 ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
  int atomic = 1;
  if ((access_mode_ & forbidden) != 0 || PMPI_File_get_atomicity(file_, &atomic) != MPI_SUCCESS || atomic != 0)
    return Reason::kMode;
  return Reason::kNone;
}

Reason OpenFile::check(const plait_mpiio_access& access, const TiledArray& array, Proposal& proposal) const {
  if (access.count < 0 || access.type == MPI_DATATYPE_NULL) return Reason::kFailed;
  MPI_Offset position = access.offset;
  if (access.has_offset == 0 && PMPI_File_get_position(file_, &position) != MPI_SUCCESS) return Reason::kFailed;
  const std::int64_t size = data_bytes(access.type);
  const std::int64_t own = array.bytes(rank_);
  std::int64_t begin = 0;
  if (size < 0 || position < 0 || __builtin_mul_overflow(size, access.count, &proposal.bytes) ||
      __builtin_mul_overflow(position, view_->etype_bytes, &begin))
    return Reason::kFailed;
  if (own == 0) return proposal.bytes == 0 ? Reason::kNone : Reason::kPartial;
  if (proposal.bytes == 0 || proposal.bytes % own != 0 || begin % own != 0) return Reason::kPartial;
  proposal.first = begin / own;
  proposal.minus_first = -proposal.first;
  proposal.count = proposal.bytes / own;
  proposal.minus_count = -proposal.count;
  if (!array.can_join(proposal.count)) return Reason::kPartial;
  try {
    const SharedArray tiles = array.tiles(proposal.first, proposal.count);
    if (access.writes == 0 && check_size(access, tiles) != Reason::kNone) return Reason::kTooShort;
    const bool is_usable =
        access.data != nullptr && find_part(access, tiles, rank_, proposal.part) && is_host_memory(proposal.part.data);
    return is_usable ? Reason::kNone : Reason::kMemory;
  } catch (const Error&) {
    return Reason::kFailed;
  }
}

Reason OpenFile::check_size(const plait_mpiio_access& access, const SharedArray& array) const {
  MPI_Offset bytes = 0;
  const bool is_known = PMPI_File_get_size(access.file, &bytes) == MPI_SUCCESS;
  return is_known && bytes >= end_of_access(array) ? Reason::kNone : Reason::kTooShort;
}

Reason OpenFile::agree(Proposal& proposal) const {
  std::array<std::int64_t, Proposal::kCompared> own{proposal.minus_reason, proposal.first, proposal.minus_first,
                                                    proposal.count, proposal.minus_count};
  std::array<std::int64_t, Proposal::kCompared> all{};
  if (PMPI_Allreduce(own.data(), all.data(), Proposal::kCompared, MPI_INT64_T, MPI_MIN, comm_) != MPI_SUCCESS)
    return Reason::kFailed;
  proposal.first = all[1];
  proposal.minus_first = all[2];
  proposal.count = all[3];
  proposal.minus_count = all[4];
  if (all[0] != 0) return static_cast<Reason>(-all[0]);
  return proposal.is_same() ? Reason::kNone : Reason::kPartial;
}

bool OpenFile::is_worthwhile(const TiledArray& array, std::int64_t count) {
  constexpr double kOpening = 2e6;  // nanoseconds, and as much as a few ranks on each core may wait for each other
  if (plait_ || is_always()) return true;
  saved_ += static_cast<double>(array.gain()) * static_cast<double>(count);
  return saved_ >= kOpening;
}

bool OpenFile::open() {
  FileOptions options;
  options.shape = Extents{0};
  options.element_bytes = 1;
  options.several = true;
  options.durable = false;
  const Mode mode = (access_mode_ & MPI_MODE_RDONLY) != 0 ? Mode::kRead : Mode::kReadWrite;
  try {
    plait_ = File::open("raw:" + path_, mode, options, make_comm(comm_));
  } catch (const Error&) {
    return false;
  }
  // Another program may have replaced the file since check_file(), on some hosts before others.
  const std::int64_t is_same = find_identity(path_) == identity_ ? 1 : 0;
  std::int64_t is_same_everywhere = 0;
  return PMPI_Allreduce(&is_same, &is_same_everywhere, 1, MPI_INT64_T, MPI_MIN, comm_) == MPI_SUCCESS &&
         is_same_everywhere != 0;
}

bool OpenFile::is_of_file(const Error& error) const {
  if (error.kind() == ErrorKind::kArgument) return false;
  return error.system_code() == EOWNERDEAD || std::string_view(error.what()).find(path_) != std::string_view::npos;
}

Reason OpenFile::move(const plait_mpiio_access& access, const SharedArray& array, const Proposal& proposal, int& code) {
  if (!plait_ && !open()) {
    give_up(Reason::kStore);
    return unusable_;
  }
  const bool has_part = array.layout.has_rank(rank_);
  try {
    plait_->select(array.type, array.offset);
    if (access.writes != 0) {
      std::vector<ConstPart> parts;
      if (has_part) parts.push_back(proposal.part);
      plait_->write(array.layout, parts, array.region);
    } else {
      std::vector<MutablePart> parts;
      if (has_part) parts.push_back({const_cast<std::byte*>(proposal.part.data), proposal.part.strides});
      plait_->read(array.layout, parts, array.region);
    }
  } catch (const Error& error) {
    if (!is_of_file(error)) {
      unusable_ = Reason::kFailed;
      return unusable_;
    }
    code = error_class(error.system_code());
    PMPI_File_call_errhandler(file_, code);
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
  return PMPI_File_seek(file_, bytes / view_->etype_bytes, MPI_SEEK_CUR);
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
  if (!is_strict() || reason == Reason::kMissing) {
    mpi_is_between_ = access.begins != 0;
    return false;
  }
  if (rank_ == 0)
    std::fprintf(
        stderr,
        "plait mpiio: %s: a collective %s belongs to the MPI, because %s; PLAIT_MPIIO=strict makes it an error\n",
        path_.c_str(), access.writes != 0 ? "write" : "read", std::string(describe(reason)).c_str());
  code = MPI_ERR_UNSUPPORTED_OPERATION;
  PMPI_File_call_errhandler(file_, code);
  return true;
}

void OpenFile::report() const {
  if (rank_ != 0 || (mode_ & PLAIT_MPIIO_EXPLAIN) == 0) return;
  std::string text = "plait mpiio: " + path_ + ": Plait has carried out " + plural(writes_.accesses, "write", "s") +
                     " of " + plural(writes_.bytes, "byte", "s") + " and " + plural(reads_.accesses, "read", "s") +
                     " of " + plural(reads_.bytes, "byte", "s");
  if (!last_array_.empty()) text += ", the last one of " + last_array_;
  for (const auto& [reason, number] : left_)
    text += "; the MPI has carried out " + plural(number, "collective access", "es") + ", because " +
            std::string(describe(reason));
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace plait::mpiio
