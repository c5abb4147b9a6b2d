/// Datasets as their file describes them, so that their bytes can be found without HDF5's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "container/encoding.hpp"
#include "plait/file_options.hpp"

namespace plait::container::hdf5 {

/// A step by which chunks are packed.
struct Filter {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> values;  ///< its parameters
  std::string name;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Filter>& filter) {
  codec(filter.id, filter.values, filter.name);
}

/// A chunk that lies in the file.
struct Chunk {
  std::int64_t number = 0;  ///< among those of the whole array, the last dimension fastest
  std::int64_t offset = 0;
  std::int64_t bytes = 0;      ///< packed
  std::uint32_t left_out = 0;  ///< bit i: it is not packed by filter i
};

enum class Storage : std::uint8_t {
  kNone,    ///< nowhere, as nothing has been written: each element is the fill value
  kWhole,   ///< in one piece
  kInside,  ///< in the description itself
  kChunks
};

constexpr Storage last_value(Storage /*any*/) { return Storage::kChunks; }

/// Changes that are appended to the file until they are committed: where they begin, and what marks them (ChunkLog).
struct Changes {
  std::int64_t begin = 0;
  std::uint64_t mark = 0;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Changes>& changes) {
  codec(changes.begin, changes.mark);
}

/// Padding of fixed-length strings.
enum class TextPadding : std::uint8_t {
  kNull,        ///< padded with NUL, as elements of dtype `S`
  kTerminated,  ///< terminated by a NUL; the bytes after it have no meaning
  kSpace        ///< padded with blanks, as in Fortran
};

constexpr TextPadding last_value(TextPadding /*any*/) { return TextPadding::kSpace; }

/// A dataset as its file describes it.
struct HdfDataset {
  ArrayType type;
  TextPadding padding = TextPadding::kNull;
  std::string element;        ///< the type's name in h5dump, without `H5T_`
  base::Rejection rejection;  ///< why it cannot be opened
  bool is_null = false;       ///< its dataspace is null: it has no shape and no elements
  std::int64_t stored = 0;
  std::vector<std::byte> fill;  ///< one element
  bool has_own_fill = false;    ///< the file states a fill value; not packed()
  /// The extents in the file if records are missing, because an unlimited dimension of netCDF is as long as the longest
  /// variable that has it.  Only for chunked datasets.
  Extents stored_shape;
  std::vector<std::byte> missing;  ///< the value of elements in missing records, if it is not `fill`
  Storage storage = Storage::kNone;
  std::int64_t offset = 0;        ///< kWhole
  std::vector<std::byte> inside;  ///< kInside
  Extents chunk;                  ///< kChunks
  std::vector<Filter> filters;
  bool edges_packed = true;   ///< also chunks that are partly outside the array
  std::vector<Chunk> chunks;  ///< by ascending number
  /// One for each dimension, empty where it has none; or none at all.  Not packed().
  std::vector<std::string> dimension_names;
  std::vector<std::int64_t> unlimited;  ///< the numbers of dimensions that may grow; not packed()
  ArrayAttributes attributes;           ///< not packed()
  std::string path;                     ///< in the file; not packed()
  std::int64_t header = 0;              ///< where its object header lies in the file; not packed()
  base::Rejection relocation;           ///< why its chunks cannot get other offsets; not packed()
  std::int64_t tree_children = 64;      ///< most of a node of a chunk index; not packed()
  std::optional<Changes> changes;       ///< of one that is being changed so

  /// Whether changed chunks may need other offsets: they are packed, or some have none yet.
  bool needs_offsets() const;
  /// Chunks along each dimension.
  Extents grid() const;
  std::int64_t chunk_bytes() const;
  /// True if all chunks together have less than 2^63 bytes.
  bool chunks_fit() const;
  /// Converts strings, stored as whole elements of the file, to elements of dtype `S`.
  void pad_with_null(std::span<std::byte> texts) const;
  /// True if some elements of a chunk belong to missing records.
  bool has_missing(std::int64_t number) const;
  /// Sets the elements of missing records in a chunk.
  void fill_missing(std::int64_t number, std::span<std::byte> chunk) const;
  /// Bytes of a chunk that lie in the array.
  std::int64_t bytes_inside(std::int64_t number) const;
  /// `chunks 4x3, shuffle, deflate 4`.
  std::string describe_storage() const;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, HdfDataset>& dataset);
/// What other ranks need of a dataset, as bytes: some 5 for each chunk.
std::string packed(const HdfDataset& dataset);
/// errors  kSystem, EIO: they are not what packed() gives.
HdfDataset unpacked(std::string_view bytes);

}  // namespace plait::container::hdf5
