// Decides which views Plait holds, and passes them to the MPI before calls that depend on them.
//
// Problem: an MPI library expands a view into its pieces, which can take longer than an access. If Plait carries out
// all accesses of the view, that work is wasted. But any call may follow, and setting a view is collective, so one rank
// cannot set it later on its own.
//
// Idea: Plait holds a view if every rank expects Plait to carry out the accesses. Before a collective call that the MPI
// carries out, all ranks pass it the view. An independent call goes to a second handle, which the calling rank opens on
// MPI_COMM_SELF and gives the same view. The MPI carries the call out, so memory types, errors and requests behave as
// usual. A second handle does not share the shared file pointer; MPI allows that pointer only if all ranks have the
// same view, and Plait does not hold such views.
//
// MPI_File_set_view may fail on one rank alone. That rank must not wait for the others here: in some MPIs they wait in
// MPI_File_set_view until the failed rank ends the program. Therefore the ranks agree only in the next collective call
// whether the previous views stay.
//
// Example: a program sets a cyclic darray as its view. Plait carries out the MPI_File_write_all that follows. Then rank
// 0 calls MPI_File_read: the MPI reads through the second handle, at the file pointer that Plait has counted. Before an
// MPI_File_read_all of three elements, all ranks pass the view and the pointer to the MPI.

#include <cstdio>
#include <utility>

#include "mpiio/open_file.hpp"
#include "mpiio/real_calls.hpp"

namespace plait::mpiio {

namespace {

/// Returns the largest number of all ranks; nothing if the messages fail. Collective.
std::optional<int> find_largest(Agreement& agreement, int number) {
  Agreement::Numbers numbers{};
  numbers[0] = -number;
  agreement.start(numbers);
  const std::optional<Agreement::Numbers> smallest = agreement.finish();
  return smallest ? std::optional(static_cast<int>(-(*smallest)[0])) : std::nullopt;
}

}  // namespace

bool OpenFile::start_view(const plait_mpiio_view& view) {
  agree_on_views();
  // MPI requires that requests have ended when a view is set.
  retired_.reset();
  previous_.reset();
  if (std::shared_ptr<HeldView> held = held_.exchange(nullptr))
    previous_ = Views{common_view_, gain_, view_reason_, std::move(view_), std::move(array_), std::move(held)};
  common_view_ = {};
  view_.reset();
  runs_.reset();
  array_.reset();
  if (unusable_ != Reason::kNone) return false;
  view_reason_ = Reason::kView;
  if (agreement_.ranks() == 1 && !is_always_ && is_contiguous(view, ranks_->comm)) {
    view_reason_ = Reason::kNoGain;
    return false;
  }
  view_ = decode(view, ranks_->comm);
  ViewSummary own(view_, agreement_.rank(), agreement_.ranks());
  const bool is_idle = view_ && std::holds_alternative<Dense>(view_->filetype) && !is_always_;
  const bool can_hold = (!is_idle || idle_votes_.starts()) && this->can_hold(own);
  if (can_hold) own.vote_for_holding();
  agreement_.start(own.numbers());
  is_comparing_views_ = true;
  // A rank that does not hold the view goes on to the MPI, where it waits for the others.
  if (!can_hold) return false;
  compare_views();
  // Decides whether Plait holds the views, after all ranks have voted for it. Collective.
  const auto agree_to_hold = [&] {
    // MPI allows shared file pointers if all views are equal, and Plait does not hold such views.
    const bool has_array =
        common_view_.is_array() && (gain_ != 0 || is_always_) && (array_ || gather_array()) && !array_->has_replicas();
    return has_array || common_view_.has_held_lists(agreement_.ranks(), is_always_);
  };
  const bool is_held = common_view_.is_held() && agree_to_hold();
  if (is_idle) idle_votes_.note(is_held);
  if (!is_held) return false;
  held_.exchange(std::make_shared<HeldView>(view, access_mode_));
  previous_.reset();
  return true;
}

void OpenFile::finish_view(bool has_succeeded) {
  compare_views();
  has_set_view_ = has_succeeded;
  if (has_succeeded) return;
  view_.reset();
  // Calls of this rank alone use the view before.
  if (previous_) held_.exchange(previous_->held);
}

void OpenFile::agree_on_views() {
  if (!previous_) return;
  // The views before stay if the MPI has set the new one on no rank.
  const std::optional<int> largest = find_largest(agreement_, has_set_view_ ? 1 : 0);
  Views views = *std::exchange(previous_, std::nullopt);
  if (largest != 0) {
    // Requests of a rank whose MPI_File_set_view has failed may be pending on the handle of the view before.
    retired_ = held_.exchange(nullptr);
    return;
  }
  common_view_ = views.common;
  gain_ = views.gain;
  view_reason_ = views.reason;
  view_ = std::move(views.own);
  runs_.reset();
  array_ = std::move(views.array);
}

void OpenFile::compare_views() {
  if (!std::exchange(is_comparing_views_, false)) return;
  if (const std::optional<Agreement::Numbers> smallest = agreement_.finish()) common_view_ = ViewSummary(*smallest);
  gain_ = common_view_.gain(agreement_.ranks());
}

bool OpenFile::can_hold(const ViewSummary& own) {
  if (!view_ || view_->bytes % view_->etype_bytes != 0 || needs_views_) return false;
  const bool is_idle = std::holds_alternative<Dense>(view_->filetype);
  const bool is_list = view_->runs != nullptr;
  if (!is_list && std::holds_alternative<std::monostate>(view_->filetype)) return false;
  // The MPI sets a view of one piece fast, and carries out accesses to one filetype of it.
  if (std::holds_alternative<Strided>(view_->filetype) && own.has_one_piece() && !is_always_) return false;
  const int ranks = agreement_.ranks();
  const auto gain = static_cast<double>(is_list ? own.list_gain(ranks) : own.gain(ranks));
  const bool is_open = is_list ? descriptor_.is_open() && gain > 0 : plait_.has_value();
  if (!is_idle && !is_open && !is_always_ && saved_ + gain < kOpening) return false;
  if ((!plait_ && !descriptor_.is_open() && !path_.is_usable()) || is_atomic(file_)) return false;
  if (std::holds_alternative<Darray>(view_->filetype)) array_ = make_array(*view_);
  return array_ || !std::holds_alternative<Darray>(view_->filetype);
}

bool OpenFile::gather_array() {
  if (make_communicator()) array_ = gather_boxes(common_view_.to_box(*view_), common_view_.dimensions(), comm_);
  if (!array_) common_view_.discard_array();
  return array_.has_value();
}

int OpenFile::pass_view() {
  const std::scoped_lock lock(passing_);
  const std::shared_ptr<HeldView> held = this->held();
  if (!held) return MPI_SUCCESS;
  int own = held->set();
  if (own != MPI_SUCCESS) PMPI_Error_class(own, &own);
  // With one rank, another thread may be using the agreement at the same time.
  const int code = agreement_.ranks() == 1 ? own : find_largest(agreement_, own).value_or(MPI_ERR_INTERN);
  if (code != MPI_SUCCESS) {
    // The MPI has called the handler for an error of this rank.
    if (own == MPI_SUCCESS) PMPI_File_call_errhandler(file_, code);
    return code;
  }
  return held->pass_pointer([&] { retired_ = held_.exchange(nullptr); });
}

int OpenFile::route(plait_mpiio_use use, MPI_File& target, std::shared_ptr<HeldView>& view) {
  target = file_;
  if (use == PLAIT_MPIIO_ALL) agree_on_views();
  std::shared_ptr<HeldView> held = this->held();
  if (!held) return MPI_SUCCESS;
  if (use == PLAIT_MPIIO_ALL || agreement_.ranks() == 1) return pass_view();
  int code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (use == PLAIT_MPIIO_SHARED) {
    std::fprintf(stderr,
                 "plait mpiio: %s: a call uses the shared file pointer, but the views of the ranks differ, which MPI "
                 "does not allow\n",
                 path_.text().c_str());
  } else {
    needs_views_ = true;
    code = held->begin_call(path_, use == PLAIT_MPIIO_POINTER, target);
    if (code == MPI_SUCCESS && target != file_) view = std::move(held);
  }
  if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file_, code);
  return code;
}

int OpenFile::routed(plait_mpiio_use use, HeldView& view, int code) {
  view.end_call(use == PLAIT_MPIIO_POINTER);
  if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file_, code);
  return code;
}

}  // namespace plait::mpiio
