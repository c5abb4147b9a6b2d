/// Striped files: arrays distributed round-robin over several disks, one component file on each.
///
/// `stripe:NAME?disks=d1,d2&unit=64K` is a name for File::open in all modes.  NAME is a small text that tells where the
/// component files are; the disks are folders.  Stripe k of the array's bytes (`unit` bytes each) lies in component
/// file k mod D at position (k div D) * unit.  (DeBenedictis & del Rosario, figures 2 and 7.)
#pragma once

#include <string>
#include <vector>

namespace plait {

/// The folders that new striped files go to where their name lists none: the setting PLAIT_DISKS of this process,
/// separated by ':'.  Empty where it is not set.
/// threads  Any, as long as none changes the environment.
std::vector<std::string> disks();

/// The number of component files of an existing striped file, named `NAME` or `stripe:NAME`; 1 for an ordinary file.
/// Not collective.
/// errors  kSystem: there is no such file, or its description is damaged or of a newer version.
int stripe_count(const std::string& path);

/// The name for File::open of the striped file at `path` on the folders `disks`: left out, those of PLAIT_DISKS or of
/// the existing file.  Also for paths with `?`, `,`, `&` and `%` in them, which have a meaning in names and stand there
/// as
/// `%3F`, `%2C`, `%26` and `%25`.
std::string stripe_url(const std::string& path, const std::vector<std::string>& disks = {});

}  // namespace plait
