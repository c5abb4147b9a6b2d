/// Striped files: arrays distributed round-robin over several disks, one component file on each.
///
/// `stripe:NAME?disks=d1,d2&unit=64K` is a name for File::open in all modes.  NAME is a small text file that lists the
/// component files; the disks are folders.  Stripe k of the array's bytes (`unit` bytes each) is in component file k
/// mod D at position (k div D) * unit.  (DeBenedictis & del Rosario, figures 2 and 7.)
#pragma once

#include <string>
#include <vector>

namespace plait {

/// Returns the folders for new striped files whose name lists no disks: the environment variable PLAIT_DISKS, split at
/// ':'. Empty if it is not set.
/// threads  Any, unless a thread changes the environment.
std::vector<std::string> disks();

/// Returns the number of component files of an existing striped file, named `NAME` or `stripe:NAME`; 1 for an ordinary
/// file.
/// Not collective.
/// errors  kSystem: there is no such file, or its description is damaged or of a newer version.
int stripe_count(const std::string& path);

/// Returns the name for File::open of the striped file at `path` on the folders `disks`.  Without `disks`, those of
/// PLAIT_DISKS or of the existing file are used.  The characters `?`, `,`, `&` and `%`, which have a meaning in such
/// names, are written as `%3F`, `%2C`, `%26` and `%25`.
std::string stripe_url(const std::string& path, const std::vector<std::string>& disks = {});

}  // namespace plait
