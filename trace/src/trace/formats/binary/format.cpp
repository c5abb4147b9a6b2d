#include "trace/formats/binary/format.hpp"

#include "trace/formats/binary/part.hpp"
#include "trace/formats/binary/reader.hpp"
#include "trace/formats/binary/writer.hpp"

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
