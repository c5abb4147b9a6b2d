// Decides which views Plait holds, and passes them to the MPI before calls that depend on them.
//
// Problem: MPIs expand a view into its pieces, which takes as long as many an access. If Plait carries out all accesses
// of the view, that is in vain. But any call may follow, and a view is set by all ranks together: one rank alone cannot
// do so late.
//
// Idea: Plait holds a view if all ranks vote for that: each expects that Plait carries out the accesses. Before a
// collective call of the MPI, which all ranks reach, the view is passed to it. Calls of one rank alone go to a second
// handle that this rank opens for itself, by MPI_COMM_SELF, and which gets the same view: it is the MPI that carries
// them out, so that memory types, errors and requests are those of the MPI. A second handle has no part in the shared
// file pointer, but MPI allows that only if all ranks have the same view, which Plait does not hold.
//
// Example: after MPI_File_set_view with a cyclic darray come MPI_File_write_all, by Plait; MPI_File_read on rank 0, on
// the second handle of rank 0, at the pointer that Plait has counted; and MPI_File_read_all of three elements on each
// rank, before which all ranks set the view and the pointer of the MPI.

#include <cstdio>
#include <utility>

#include "mpiio/open_file.hpp"
#include "mpiio/real_calls.hpp"

namespace plait::mpiio {

namespace {

/// The number of views that are held, which calls on other files compare with 0.
int held_views = 0;

void count_held(int change) { __atomic_add_fetch(&held_views, change, __ATOMIC_ACQ_REL); }

}  // namespace

const int* held_view_count() { return &held_views; }

bool OpenFile::start_view(const plait_mpiio_view& view) {
  common_view_ = {};
  array_.reset();
  drop_view();
  if (unusable_ != Reason::kNone) return false;
  view_reason_ = Reason::kView;
  if (agreement_.ranks() == 1 && !is_always() && is_contiguous(view, ranks_->comm)) {
    view_reason_ = Reason::kNoGain;
    return false;
  }
  view_ = decode(view, ranks_->comm);
  ViewSummary own(view_, agreement_.rank(), agreement_.ranks());
  const bool can_hold = this->can_hold(own);
  if (can_hold) own.vote_for_holding();
  agreement_.start(own.numbers());
  is_comparing_views_ = true;
  // A rank that does not hold the view goes on to the MPI, where it waits for the others.
  if (!can_hold) return false;
  compare_views();
  if (!common_view_.is_held() || !common_view_.is_array() || !has_gain() || (!array_ && !gather_array()) ||
      array_->has_replicas())
    return false;
  held_.emplace(view, access_mode_);
  count_held(1);
  return true;
}

void OpenFile::finish_view(bool has_succeeded) {
  compare_views();
  if (!has_succeeded) view_.reset();
}

void OpenFile::compare_views() {
  if (!std::exchange(is_comparing_views_, false)) return;
  if (const std::optional<Agreement::Numbers> smallest = agreement_.finish()) common_view_ = ViewSummary(*smallest);
  gain_ = common_view_.gain(agreement_.ranks());
}

bool OpenFile::can_hold(const ViewSummary& own) {
  if (!view_ || view_->bytes % view_->etype_bytes != 0 || needs_views_) return false;
  const bool is_idle = std::holds_alternative<Dense>(view_->filetype);
  const double gain = static_cast<double>(own.gain(agreement_.ranks()));
  if (!is_idle && !plait_ && !is_always() && saved_ + gain < kOpening) return false;
  if ((!plait_ && !path_.is_usable()) || is_atomic(file_)) return false;
  if (std::holds_alternative<Darray>(view_->filetype)) array_ = make_array(*view_);
  return array_ || !std::holds_alternative<Darray>(view_->filetype);
}

bool OpenFile::gather_array() {
  if (make_communicator()) array_ = gather_boxes(common_view_.to_box(*view_), common_view_.dimensions(), comm_);
  if (!array_) common_view_ = {};
  return array_.has_value();
}

void OpenFile::drop_view() {
  if (!held_) return;
  held_.reset();
  count_held(-1);
}

int OpenFile::pass_view() {
  if (!held_) return MPI_SUCCESS;
  const int code = held_->set(file_);
  drop_view();
  return code;
}

int OpenFile::route(plait_mpiio_use use, MPI_File& target) {
  target = file_;
  if (!held_) return MPI_SUCCESS;
  if (use == PLAIT_MPIIO_ALL || agreement_.ranks() == 1) return pass_view();
  int code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (use == PLAIT_MPIIO_SHARED) {
    std::fprintf(stderr,
                 "plait mpiio: %s: a call uses the shared file pointer, but the views of the ranks differ, which MPI "
                 "does not allow\n",
                 path_.text().c_str());
  } else {
    needs_views_ = true;
    code = held_->begin_call(path_, use == PLAIT_MPIIO_POINTER, target);
  }
  if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file_, code);
  return code;
}

int OpenFile::routed(plait_mpiio_use use, int code) {
  if (!held_) return code;
  held_->end_call(use == PLAIT_MPIIO_POINTER);
  if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file_, code);
  return code;
}

}  // namespace plait::mpiio
