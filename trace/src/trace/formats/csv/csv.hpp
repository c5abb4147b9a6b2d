/// Traces as comma-separated values: a header line, one line for each event, and remarks in lines that begin with
/// '#'.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// Format "csv", suffix ".csv".
extern const Format kCsv;

namespace csv {
std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options);
std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options);
bool looks_like(std::string_view head);
/// Tests for this separator; 0: any separator.
bool looks_like(std::string_view head, char separator);
}  // namespace csv

}  // namespace plait::trace
