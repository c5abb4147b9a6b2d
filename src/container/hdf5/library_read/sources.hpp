/// The files from which the library reads the elements of virtual datasets and of datasets in external storage.
#pragma once

#include <string>

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/library_read/other_files.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

/// The files that a dataset needs, and whether they may be read.
struct SourceFiles {
  std::string description;    ///< as in `virtual dataset of 12 sources, 1 of them missing`
  base::Rejection rejection;  ///< the reason why the library must not, or cannot, read them
  /// The chunk shape of the first source that has chunks, which the library decodes as a whole; empty if none has.
  Extents chunk;
};

/// Opens all sources of a virtual dataset, including those of sources that are virtual themselves, and checks them.
/// Missing sources are counted: the library reads their elements as the fill value.
/// cost  About 0.2 ms for each source.
/// file: the name of the file of the dataset. properties: the creation properties of the dataset.
SourceFiles find_virtual_sources(const Library& hdf5, hid_t dataset, hid_t properties, const std::string& file);

/// Checks the files of a dataset in external storage.
SourceFiles find_storage_files(const Library& hdf5, hid_t properties, const std::string& file);

/// Returns the reason why the library cannot decode chunks with a filter; none if it, or a plug-in, can.
base::Rejection library_filter_rejection(const Library& hdf5, unsigned id, const std::string& description);

}  // namespace plait::container::hdf5
