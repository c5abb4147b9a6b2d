/// Logs of fio's requests, as written by its option write_iolog.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// "fio": versions 2 and 3, see "Trace file format" in fio's manual.
Format fio_format();

}  // namespace plait::trace
