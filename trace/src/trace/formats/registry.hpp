/// The trace formats that Plait supports.
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
  std::string_view suffix;  ///< suffix of written files, such as ".csv"; empty if the format is not written
  /// Returns true if `head`, the first bytes of a trace (64 KiB or the whole), looks like this format. Null: the user
  /// must state the format.
  bool (*recognise)(std::string_view head) = nullptr;
  /// Null: cannot be read.
  std::unique_ptr<Reader> (*open)(std::unique_ptr<Source> source, const ReadOptions& options) = nullptr;
  /// Null: cannot be written.
  std::unique_ptr<Writer> (*create)(std::unique_ptr<Sink> sink, const WriteOptions& options) = nullptr;
};

/// All formats in the order in which they are tried.
std::span<const Format> formats();
/// Sets the names of further formats, which the caller reads itself and error texts mention. Replaces earlier ones.
/// threads  while no thread opens a trace.
void set_extra_format_names(std::vector<std::string> names);
/// Returns the names of all readable formats for error texts, including those of set_extra_format_names().
std::string readable_formats();
/// Finds a format.
/// errors  kArgument: an unknown format; the text names all formats.
const Format& find_format(std::string_view name);

}  // namespace plait::trace
