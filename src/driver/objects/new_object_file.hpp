/// New files that are one object of an object store, for ranks on one host.
#pragma once

#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "store/location.hpp"
#include "store/new_file.hpp"
#include "store/store.hpp"

namespace plait::driver::objects {

/// Begins a new object. Its content is in an unnamed file in TMPDIR (/tmp) until it is complete. Ranks on other hosts
/// than rank 0 cannot write it.
/// errors  kSystem: no space, or no access to the bucket.
std::unique_ptr<store::NewFile> make_new_object(const std::string& url, const store::NewFileOptions& options);

bool is_spool(const store::Location& location);
/// Opens the content of a new object on another rank of the host.
/// errors  kSystem, ENOTSUP: this rank is on another host.
std::unique_ptr<store::Store> open_spool(const store::Location& location);

/// Returns true if a store is the content of a new object, on any rank.
bool is_spool(const store::Store& store);
/// Sends the content of a new object, see send_content(). made: on rank 0; else nullptr. Collective.
void send_spool(collective::Collective& call, store::Store& store, store::NewFile* made);

}  // namespace plait::driver::objects
