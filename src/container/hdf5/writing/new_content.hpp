/// How the arrays of a new file are stored, and at which offsets.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/hdf5/writing/new_chunks.hpp"

namespace plait::container::hdf5 {

/// Returns true if the suffix of the name is one of netCDF-4.
bool is_netcdf_name(const std::string& path);

/// Checks the options of a new file. Returns its content without the head (its metadata) and without offsets.
/// errors  kArgument: types, chunks, codecs, values or names do not fit.
NewContent make_new_content(const std::string& path, const FileOptions& options);

/// Removes the leading slash of a name, which is optional.
std::string without_leading_slash(const std::string& name);

/// Checks the options of a new array in an existing file. Returns the array without its offset. An array with unlimited
/// dimensions has chunks, even if it has no elements yet.
/// errors  Those of make_new_content().
Member make_added_member(const std::string& path, const FileOptions& options, bool is_netcdf);

/// Returns true if the chunks of an array get their offsets in the file only when they are written (NewChunks). Its
/// address in the store is then virtual: NewContent::file_bytes or greater.
bool has_virtual_address(const Member& member);

/// Returns true if writing an array appends to the log of the file (ChunkLog): if it has a virtual address, or texts.
bool needs_log(const Member& member);

/// Assigns to each array an offset in the file, after its head of `head_bytes` bytes, or a virtual address. Sets
/// NewContent::file_bytes.
void assign_offsets(NewContent& content, std::int64_t head_bytes);

/// Appends the fill values of arrays of one element to the head, at their offsets.
void write_filled_scalars(const NewContent& content, std::vector<std::byte>& head);

/// Sets the offsets that assign_offsets() has computed on another rank.
void set_offsets(NewContent& content, const std::vector<std::int64_t>& offsets);

/// Returns the datasets in chunks, by ascending offset.
std::vector<NewDataset> make_chunked_datasets(const NewContent& content);

}  // namespace plait::container::hdf5
