/// What new files are to hold, and where.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/hdf5/writing/new_chunks.hpp"

namespace plait::container::hdf5 {

/// Whether a file of that name is to be one of netCDF-4, by its ending.
bool is_netcdf_name(const std::string& path);

/// What options say of a new file, without head and offsets.
/// errors  kArgument: types, chunks, codecs, values and names that do not fit.
NewContent new_content(const std::string& path, const FileOptions& options);

/// Whether an array has an address in the file only when its chunks are packed: it begins behind `file_bytes`.
bool comes_later(const Member& member);

/// Gives each array its offset: in the file behind `head_bytes`, or behind the end of that.  Sets file_bytes.
void assign_offsets(NewContent& made, std::int64_t head_bytes);

/// Adds the fill values of arrays of one element to the head, up to where they are.
void write_filled_scalars(const NewContent& made, std::vector<std::byte>& head);

/// Sets the offsets that assign_offsets() has found on another rank.
void set_offsets(NewContent& made, const std::vector<std::int64_t>& offsets);

/// Those in chunks, by ascending offset.
std::vector<NewDataset> chunked_in(const NewContent& made);

}  // namespace plait::container::hdf5
