/// Bytes with random access: a file, or the content of a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "trace/source.hpp"

namespace plait::trace::binary {

class Blob {
 public:
  virtual ~Blob() = default;
  /// Reads up to `bytes` at `offset`; fewer only at the end.
  /// errors  kSystem.
  virtual std::size_t read(std::uint64_t offset, void* output, std::size_t bytes) const = 0;
  virtual std::uint64_t size() const = 0;
};

/// Opens a file.
/// errors  kSystem.
std::unique_ptr<Blob> open_blob(const std::string& path);
/// Opens the file that a source reads, even if its name refers to another file by now.
/// errors  kSystem.
std::unique_ptr<Blob> open_blob(const Source& source);
/// Reads everything from a source: up to a limit into memory, more into an unnamed temporary file.
/// errors  kSystem.
std::unique_ptr<Blob> spool(Source& source);

}  // namespace plait::trace::binary
