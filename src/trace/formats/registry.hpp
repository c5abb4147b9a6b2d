/// The formats of traces that Plait knows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"
#include "trace/sink.hpp"
#include "trace/source.hpp"

namespace plait::trace {

/// One format.
struct Format {
  std::string_view name;
  std::string_view suffix;  ///< of names that are written in it, ".csv"; empty where it is not written
  /// Whether `head`, the first bytes of a trace (64 KiB or the whole), look like this format.  Null: never guessed.
  bool (*recognise)(std::string_view head) = nullptr;
  /// Null: not read.
  std::unique_ptr<Reader> (*open)(std::unique_ptr<Source> source, const ReadOptions& options) = nullptr;
  /// Null: not written.
  std::unique_ptr<Writer> (*create)(std::unique_ptr<Sink> sink, const WriteOptions& options) = nullptr;
};

/// All, in the order in which they are tried.
std::span<const Format> formats();
/// Has errors name further formats behind these, which the caller reads itself.  In place of those named before.
/// threads  While none opens a trace.
void name_others(std::vector<std::string> names);
/// The names of all readable formats for error texts, including those of name_others().
std::string readable_formats();
/// errors  kArgument: no such format; names them all.
const Format& find_format(std::string_view name);

}  // namespace plait::trace
