/// New files that are one object of an object store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "store/location.hpp"
#include "store/new_file.hpp"
#include "store/store.hpp"

namespace plait::driver::objects {

/// Begins a new object. Its content is in an unnamed file in TMPDIR (/tmp) until it is complete. Ranks on other hosts
/// than rank 0 cannot write it.
/// errors  kSystem: no space, or no access to the bucket.
std::unique_ptr<store::NewFile> make_new_object(const std::string& url, const store::NewFileOptions& options);

/// An upload that this process has begun or joined, and neither completed nor aborted.
struct ActiveUpload {
  std::string url;  ///< of the object
  std::string id;
  bool operator==(const ActiveUpload&) const = default;
};
/// Returns the uploads whose parts would be left if this process were killed now, except those of files that keep them.
/// threads  Any.
std::vector<ActiveUpload> active_uploads();

bool is_spool(const store::Location& location);
/// Opens the content of a new object on another rank of the host.
/// errors  kSystem, ENOTSUP: this rank is on another host.
std::unique_ptr<store::Store> open_spool(const store::Location& location);

/// Sends the content of a new object, each rank its parts, unless one put suffices. made: on rank 0; else nullptr.
/// Collective; does nothing for other stores.
/// memory  ObjectUpload::kMaxPartsInFlight + 1 parts of each rank: 40 MiB for objects of up to 72 GB.
void send_spool(collective::Collective& call, const std::string& url, store::Store& store, store::NewFile* made);

}  // namespace plait::driver::objects
