/// A POSIX descriptor of the file that the MPI has opened.
#pragma once

#include <mpi.h>

#include "mpiio/file_identity.hpp"

namespace plait::mpiio {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  /// Opens the file that the MPI has opened. Returns false if that fails on any rank. Collective.
  bool open(OpenedPath& path, bool is_read_only, MPI_Comm comm);
  void close();
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace plait::mpiio
