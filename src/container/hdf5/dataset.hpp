/// Descriptions of datasets, from which Plait finds the elements in the file without the HDF5 library.
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

/// A stage of the filter pipeline of chunks.
struct Filter {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> values;  ///< the client data values of the filter
  std::string name;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Filter>& filter) {
  codec(filter.id, filter.values, filter.name);
}

/// A chunk that is allocated in the file.
struct Chunk {
  std::int64_t number = 0;  ///< number among the chunks of the whole array, with the last dimension fastest
  std::int64_t offset = 0;
  std::int64_t bytes = 0;         ///< bytes in the file, after the filters
  std::uint32_t filter_mask = 0;  ///< filter mask: bit i is set if filter i was skipped
};

enum class Storage : std::uint8_t {
  kNone,        ///< nothing has been written yet: each element is the fill value
  kContiguous,  ///< one contiguous piece
  kCompact,     ///< the object header holds the elements (compact layout)
  kLibrary,     ///< only the HDF5 library knows where the elements are, and they are not in chunks
  kChunks
};

constexpr Storage last_value(Storage /*any*/) { return Storage::kChunks; }

/// The log of changes that are appended to the file but not committed yet (ChunkLog).
struct UncommittedChanges {
  std::int64_t begin = 0;  ///< offset of the log in the file
  std::uint64_t mark = 0;  ///< first 8 bytes of each header in the log
  bool grows = false;      ///< true if the shape may change as well
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, UncommittedChanges>& changes) {
  codec(changes.begin, changes.mark, changes.grows);
}

/// Padding of fixed-length strings.
enum class TextPadding : std::uint8_t {
  kNull,        ///< the text is padded with NUL, as elements of dtype `S` are
  kTerminated,  ///< the text ends with a NUL; the bytes after it have no meaning
  kSpace        ///< the text is padded with blanks, as in Fortran
};

constexpr TextPadding last_value(TextPadding /*any*/) { return TextPadding::kSpace; }

/// A fixed-length text within each element. Its padding is not NUL.
struct TextField {
  std::int64_t offset = 0;  ///< offset in the element
  std::int64_t bytes = 0;
  TextPadding padding = TextPadding::kNull;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, TextField>& field) {
  codec(field.offset, field.bytes, field.padding);
}

/// A dataset as its file describes it. Members that are "not encoded" exist only on the rank that has read the file:
/// encode_dataset() does not pass them to the other ranks.
struct HdfDataset {
  ArrayType type;
  /// Number of trailing dimensions that the file stores in the element type: each of its elements is an array.
  std::uint32_t element_dimensions = 0;
  std::vector<TextField> padded_texts;  ///< texts in each element whose padding is not NUL
  std::string type_name;                ///< the name of the element type in h5dump, without `H5T_`; not encoded
  base::Rejection rejection;            ///< the reason why the dataset cannot be opened; not encoded
  /// The reason why the HDF5 library reads the elements, as in `filter bitshuffle`; empty if Plait reads them.
  std::string library_reason;
  bool is_null = false;  ///< true if the dataspace is null: no shape and no elements; not encoded
  /// The reason why only the HDF5 library copies the dataset, into another HDF5 file, as in `its elements are
  /// references to other objects`; empty if Plait copies it, or nothing can. Not encoded.
  std::string copy_reason;
  std::int64_t stored_bytes = 0;  ///< see HdfFile::stored_bytes(); not encoded
  std::vector<std::byte> fill;    ///< the fill value: one element of the file, which may be an array
  bool has_own_fill = false;      ///< true if the file states a fill value; not encoded
  /// The extents in the file if records are missing: an unlimited dimension of netCDF is as long as the longest
  /// variable that has it. Set only for chunked datasets.
  Extents stored_shape;
  std::vector<std::byte> missing;  ///< the value of elements in missing records, if it differs from `fill`
  Storage storage = Storage::kNone;
  std::int64_t offset = 0;              ///< offset of the elements (kContiguous)
  std::vector<std::byte> compact_data;  ///< the elements (kCompact)
  std::int64_t heap_base = 0;           ///< the offset in the file of address 0 of the heap: the size of the user block
  std::string missing_text;             ///< the fill value of texts of any length
  Extents chunk;                        ///< shape of a chunk (kChunks)
  std::vector<Filter> filters;
  bool filters_edge_chunks = true;  ///< true if the filters also apply to chunks that are partly outside the array
  std::vector<Chunk> chunks;        ///< all chunks in the file, by ascending number
  /// The name of each dimension, empty for a dimension without one; no entries if no dimension has a name. Not
  /// encoded.
  std::vector<std::string> dimension_names;
  std::vector<std::int64_t> unlimited;        ///< numbers of the dimensions that may grow; not encoded
  Extents max_shape;                          ///< the largest shape; INT64_MAX for unlimited dimensions
  ArrayAttributes attributes;                 ///< the attributes; not encoded
  std::string path;                           ///< the path in the file
  std::int64_t header = 0;                    ///< offset of the object header in the file; not encoded
  base::Rejection relocation;                 ///< the reason why elements cannot get new offsets; not encoded
  std::int64_t tree_children = 64;            ///< maximum children of a node of the chunk index; not encoded
  std::optional<UncommittedChanges> changes;  ///< set while the dataset is being changed

  /// Returns true if a write may store elements at new offsets: if chunks are compressed or not all allocated, or if
  /// elements refer to texts, which are stored anew with each write.
  bool relocates_on_write() const;
  /// Returns the number of dimensions in the file.
  std::size_t stored_dimensions() const { return type.shape.size() - element_dimensions; }
  /// Returns the fill value of an element; empty if the elements of the file are arrays whose fill value is not the
  /// same throughout.
  std::vector<std::byte> element_fill() const;
  /// Returns true if a chunk is decoded as a whole.
  bool decodes_chunks() const { return !filters.empty() || !library_reason.empty(); }
  /// Returns the number of chunks along each dimension.
  Extents grid() const;
  /// Returns the size of a decoded chunk.
  std::int64_t chunk_bytes() const;
  /// Returns true if all chunks together have less than 2^63 bytes.
  bool chunks_fit() const;
  /// Converts the texts in whole elements of the file to those of dtype `S`.
  void pad_with_null(std::span<std::byte> elements) const;
  /// Returns true if some elements of a chunk belong to missing records.
  bool has_missing(std::int64_t number) const;
  /// Sets the elements of missing records in a chunk.
  void fill_missing(std::int64_t number, std::span<std::byte> chunk) const;
  /// Returns the number of bytes of a chunk that are inside the array.
  std::int64_t bytes_inside(std::int64_t number) const;
  /// Describes the storage, as in `chunks 4x3, shuffle, deflate 4`.
  std::string describe_storage() const;
};

/// Adds the dimensions of elements that are arrays, of this shape. A dataset that then has too many is rejected.
void append_dimensions(HdfDataset& dataset, const Extents& shape);
/// Adds a reason why the HDF5 library reads the elements.
void add_library_reason(HdfDataset& dataset, const std::string& reason);

template <class Codec>
void fields(Codec& codec, base::Record<Codec, HdfDataset>& dataset);
/// Encodes the members of a dataset that other ranks need. A chunk takes about 5 bytes.
std::string encode_dataset(const HdfDataset& dataset);
/// Decodes a dataset.
/// errors  kSystem, EIO: encode_dataset() has not written the bytes.
HdfDataset decode_dataset(std::string_view bytes);

}  // namespace plait::container::hdf5
