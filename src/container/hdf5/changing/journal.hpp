/// The journal of changes in the metadata of an HDF5 file.
///
/// A journal holds all bytes that change, with their old and new values, and a checksum. It is synced before the first
/// byte of the file changes, and removed after the last one is synced. A kill before the journal is complete leaves the
/// old file. After a later kill, recover_from_journal() writes the new bytes again when a program next opens the file
/// with Plait.
#pragma once

#include <string>

#include "container/hdf5/changing/file_patch.hpp"

namespace plait::container::hdf5 {

/// Returns the name of the journal of a file: `.data.h5.plait-journal` next to it.
std::string journal_name(const std::string& path);

/// Applies changes to a file that the caller has locked. file: a descriptor of the file at `path`. Returns false, and
/// changes nothing, if no journal can be made next to the file.
/// errors  kSystem.
bool write_through_journal(int file, const std::string& path, const FilePatch& changes);

/// Completes the changes of a killed program, if it has left a journal. Waits while another program applies a journal.
/// errors  kSystem: the file has a part of the changes, and this process may not write to it.
void recover_from_journal(const std::string& path);

}  // namespace plait::container::hdf5
