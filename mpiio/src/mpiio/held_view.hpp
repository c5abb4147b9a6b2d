/// A view that the program has set, and that the MPI does not have yet.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "mpiio/entry.h"

namespace plait::mpiio {

/// MPI_File_set_view of the MPI expands datatypes into their pieces, and is collective. It is called only before a
/// collective access that the MPI carries out. Calls of one rank alone use a handle of this rank alone, which the MPI
/// opens for the first of them.
class HeldView {
 public:
  /// path  of the file, by which this rank can open it
  HeldView(const plait_mpiio_view& view, std::string path, int access_mode);
  ~HeldView();
  HeldView(const HeldView&) = delete;
  HeldView& operator=(const HeldView&) = delete;

  /// The individual file pointer, in etypes.
  MPI_Offset position() const { return position_; }
  void advance(MPI_Offset etypes) { position_ += etypes; }
  /// Moves the individual file pointer. Returns false if only the MPI knows where to, or whether that is an error.
  bool seek(MPI_Offset offset, int whence);
  /// Passes the view and the pointer to the MPI. Collective.
  int set(MPI_File file) const;
  /// Returns what MPI_File_get_view does; the caller frees types that are not predefined.
  int get(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype, char* representation) const;

  /// Stores a handle of this rank alone, with this view, and with the pointer if the call uses it. Until end_call(),
  /// other threads wait that use the pointer, too. Returns a code of the MPI, and is not to be ended then.
  int begin_call(bool uses_pointer, MPI_File& file);
  void end_call(bool uses_pointer);
  /// True after the first begin_call().
  bool has_calls() const { return file_ != MPI_FILE_NULL; }

 private:
  int open();

  MPI_Offset displacement_;
  MPI_Datatype etype_ = MPI_DATATYPE_NULL;
  MPI_Datatype filetype_ = MPI_DATATYPE_NULL;
  MPI_Info info_ = MPI_INFO_NULL;
  std::string path_;
  int access_mode_;
  MPI_Offset position_ = 0;
  std::mutex opening_;
  std::mutex pointer_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace plait::mpiio
