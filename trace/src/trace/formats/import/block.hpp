/// Traces of block devices and of object caches, as published by studies of caches.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// "vscsi": binary records of SCSI commands by a virtual machine's monitor, versions 1 and 2.
Format vscsi_format();
/// "oracle-general": records of 24 bytes with the next access of each object, as libCacheSim reads them.
Format oracle_general_format();
/// "blkcsv": texts with one column each for time, operation, address and size, in any order.
Format blkcsv_format();
/// "blktrace": the text output of blkparse; the lines of one request become one request.
Format blktrace_format();
/// True if `head` is the beginning of blkparse's output in its default form.
bool is_blkparse(std::string_view head);

}  // namespace plait::trace
