/// Bytes that are read at random: a file, or what came through a pipe.
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
  /// Up to `bytes` at `offset`; fewer only at the end.  errors  kSystem.
  virtual std::size_t read(std::uint64_t offset, void* room, std::size_t bytes) const = 0;
  virtual std::uint64_t size() const = 0;
};

/// errors  kSystem.
std::unique_ptr<Blob> open_blob(const std::string& path);
/// The file that a source reads: this very one, whatever its name stands for by now.  errors  kSystem.
std::unique_ptr<Blob> blob_of(const Source& source);
/// All that a source has: a little in memory, more in a temporary file without a name.  errors  kSystem.
std::unique_ptr<Blob> spool(Source& source);

}  // namespace plait::trace::binary
