#include "trace/binary/format.hpp"

#include "trace/binary/part.hpp"
#include "trace/binary/reader.hpp"
#include "trace/binary/writer.hpp"

namespace plait::trace::binary {

Format format() {
  Format format;
  format.name = "plait";
  format.suffix = ".plait";
  format.recognise = is_header;
  format.open = open_source;
  format.create = create;
  return format;
}

}  // namespace plait::trace::binary
