/// The trace format of Miller (1992): records of up to ten printed numbers, compressed against earlier records.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// Format "1992", suffix ".1992". docs/formats.md documents the choices where the paper leaves something open.
extern const Format kText1992;

namespace text1992 {
std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options);
std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options);
}  // namespace text1992

}  // namespace plait::trace
