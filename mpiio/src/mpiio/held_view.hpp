/// A view that the program has set but that the MPI has not received.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "mpiio/entry.h"
#include "mpiio/file_identity.hpp"

namespace plait::mpiio {

/// The MPI's MPI_File_set_view is collective and expands datatypes into their pieces, so Plait calls it only before a
/// collective access that the MPI carries out. Independent calls use a second handle, which the first of them opens on
/// MPI_COMM_SELF. Requests on that handle may be pending until the object is destroyed.
/// threads  Several threads may call the functions at once.
class HeldView {
 public:
  HeldView(const plait_mpiio_view& view, int access_mode);
  ~HeldView();
  HeldView(const HeldView&) = delete;
  HeldView& operator=(const HeldView&) = delete;

  /// Reads or advances the individual file pointer, in etypes. Both return false if the MPI has the pointer, because
  /// pass_pointer() was called.
  bool position(MPI_Offset& position);
  bool advance(MPI_Offset etypes);
  /// Moves the individual file pointer. Returns false if only the MPI knows where to, or whether that is an error.
  bool seek(MPI_Offset offset, int whence);
  /// Passes the view to the MPI. Collective.
  int set() const;
  /// Passes the pointer to the MPI, which must have the view, and calls `on_passed` before another thread moves the
  /// pointer.
  int pass_pointer(const std::function<void()>& on_passed);
  /// Returns the results of MPI_File_get_view. The caller frees the types that are not predefined.
  int get(const plait_mpiio_stored_view& stored) const;

  /// Stores the second handle in `file`, with this view, and with the pointer if the call uses it. If the pointer has
  /// been passed to the MPI meanwhile, stores the original handle instead. Other threads that use the pointer wait for
  /// end_call(). Returns an error code of the MPI; call end_call() only after a success that stored the second handle.
  /// path  of the file
  int begin_call(OpenedPath& path, bool uses_pointer, MPI_File& file);
  void end_call(bool uses_pointer);

 private:
  int open(const std::string& path);

  MPI_File original_;
  MPI_Offset displacement_;
  MPI_Datatype etype_ = MPI_DATATYPE_NULL;
  MPI_Datatype filetype_ = MPI_DATATYPE_NULL;
  MPI_Info info_ = MPI_INFO_NULL;
  int access_mode_;
  std::mutex opening_;  ///< guards the opening of file_
  std::mutex pointer_;  ///< guards the two members below
  MPI_Offset position_ = 0;
  bool has_passed_ = false;        ///< the MPI has the pointer
  MPI_File file_ = MPI_FILE_NULL;  ///< the second handle, once a call has needed it
};

/// Returns the address of the number of HeldView objects of all files, also of those passed to the MPI that stay
/// because of pending requests.
const int* held_view_count();

/// The view of a file that Plait holds, if any.
/// threads  Several threads may call the functions at once.
class ViewHolder {
 public:
  ViewHolder() = default;
  ~ViewHolder() { exchange(nullptr); }
  ViewHolder(const ViewHolder&) = delete;
  ViewHolder& operator=(const ViewHolder&) = delete;

  /// Returns nullptr if there is none.
  std::shared_ptr<HeldView> get() const;
  /// Returns the previous view.
  std::shared_ptr<HeldView> exchange(std::shared_ptr<HeldView> view);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<HeldView> view_;
};

}  // namespace plait::mpiio
