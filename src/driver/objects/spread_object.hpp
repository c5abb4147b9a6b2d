/// New files that are one object of an object store, for ranks on several hosts.
#pragma once

#include <memory>
#include <string>

#include "core/file/source.hpp"
#include "driver/driver.hpp"

namespace plait::driver::objects {

/// Begins a new object, whose content is in unnamed files in the TMPDIR (/tmp) of rank 0, one of each rank, until it is
/// complete. Collective.
/// errors  The same on every rank. kArgument: the options. kSystem: no access to the bucket; a host has no such folder.
std::unique_ptr<core::Source> open_spread_object(Opening& opening, const std::string& url);

}  // namespace plait::driver::objects
