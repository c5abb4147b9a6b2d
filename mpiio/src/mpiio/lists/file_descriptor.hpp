/// A file that is open for calls of the system.
#pragma once

#include <string>

namespace plait::mpiio {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  /// Opens an existing file. Returns false if that fails.
  bool open(const std::string& path, bool is_read_only);
  void close();
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace plait::mpiio
