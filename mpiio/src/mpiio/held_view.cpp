#include "mpiio/held_view.hpp"

#include <cstring>
#include <utility>

#include "mpiio/datatype.hpp"
#include "mpiio/real_calls.hpp"

namespace plait::mpiio {

namespace {

/// The number of objects, also of those that have been passed to the MPI. Calls on any file compare it with 0.
int held_views = 0;

/// Returns the type itself if the MPI defines it, as such a type must not be freed.
int copy_type(MPI_Datatype type, MPI_Datatype* copy) {
  *copy = type;
  return is_predefined(type) ? MPI_SUCCESS : PMPI_Type_dup(type, copy);
}

void free_type(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL && !is_predefined(type)) PMPI_Type_free(&type);
}

}  // namespace

HeldView::HeldView(const plait_mpiio_view& view, int access_mode)
    : original_(view.file), displacement_(view.displacement), access_mode_(access_mode) {
  __atomic_add_fetch(&held_views, 1, __ATOMIC_ACQ_REL);
  copy_type(view.etype, &etype_);
  copy_type(view.filetype, &filetype_);
  if (view.info != MPI_INFO_NULL) PMPI_Info_dup(view.info, &info_);
}

HeldView::~HeldView() {
  __atomic_sub_fetch(&held_views, 1, __ATOMIC_ACQ_REL);
  if (file_ != MPI_FILE_NULL) real_calls().close(&file_);
  free_type(etype_);
  free_type(filetype_);
  if (info_ != MPI_INFO_NULL) PMPI_Info_free(&info_);
}

bool HeldView::position(MPI_Offset& position) {
  const std::scoped_lock lock(pointer_);
  position = position_;
  return !has_passed_;
}

bool HeldView::advance(MPI_Offset etypes) {
  const std::scoped_lock lock(pointer_);
  if (!has_passed_) position_ += etypes;
  return !has_passed_;
}

bool HeldView::seek(MPI_Offset offset, int whence) {
  const std::scoped_lock lock(pointer_);
  if (has_passed_) return false;
  MPI_Offset target = offset;
  if (whence != MPI_SEEK_SET && (whence != MPI_SEEK_CUR || __builtin_add_overflow(position_, offset, &target)))
    return false;
  // Some MPIs do not move the pointer in views without data.
  if (target < 0 || data_bytes(filetype_) == 0) return false;
  position_ = target;
  return true;
}

int HeldView::set() const {
  return real_calls().set_view(original_, displacement_, etype_, filetype_, "native", info_);
}

int HeldView::pass_pointer(const std::function<void()>& on_passed) {
  const std::scoped_lock lock(pointer_);
  const int code = real_calls().seek(original_, position_, MPI_SEEK_SET);
  has_passed_ = true;
  on_passed();
  return code;
}

int HeldView::get(const plait_mpiio_stored_view& stored) const {
  *stored.displacement = displacement_;
  std::strcpy(stored.representation, "native");
  const int code = copy_type(etype_, stored.etype);
  return code == MPI_SUCCESS ? copy_type(filetype_, stored.filetype) : code;
}

int HeldView::open(const std::string& path) {
  const int mode = access_mode_ & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  MPI_File file = MPI_FILE_NULL;
  MPI_Info hints = MPI_INFO_NULL;
  int code = PMPI_File_get_info(original_, &hints);
  if (code != MPI_SUCCESS) return code;
  code = real_calls().open(MPI_COMM_SELF, path.c_str(), mode, hints, &file);
  if (hints != MPI_INFO_NULL) PMPI_Info_free(&hints);
  if (code != MPI_SUCCESS) return code;
  PMPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  code = real_calls().set_view(file, displacement_, etype_, filetype_, "native", info_);
  if (code == MPI_SUCCESS)
    file_ = file;
  else
    real_calls().close(&file);
  return code;
}

int HeldView::begin_call(OpenedPath& path, bool uses_pointer, MPI_File& file) {
  {
    const std::scoped_lock lock(opening_);
    if (file_ == MPI_FILE_NULL)
      if (const int code = open(path.find_current()); code != MPI_SUCCESS) return code;
  }
  file = file_;
  if (!uses_pointer) return MPI_SUCCESS;
  std::unique_lock lock(pointer_);
  if (has_passed_) {
    file = original_;
    return MPI_SUCCESS;
  }
  const int code = real_calls().seek(file_, position_, MPI_SEEK_SET);
  if (code == MPI_SUCCESS) lock.release();  // end_call() unlocks it
  return code;
}

void HeldView::end_call(bool uses_pointer) {
  if (!uses_pointer) return;
  real_calls().get_position(file_, &position_);
  pointer_.unlock();
}

const int* held_view_count() { return &held_views; }

std::shared_ptr<HeldView> ViewHolder::get() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

std::shared_ptr<HeldView> ViewHolder::exchange(std::shared_ptr<HeldView> view) {
  const std::scoped_lock lock(mutex_);
  return std::exchange(view_, std::move(view));
}

}  // namespace plait::mpiio
