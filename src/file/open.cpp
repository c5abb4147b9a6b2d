// Opening: rank 0 looks at the file, everyone hears what it found and opens it.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/checked.hpp"
#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "file/impl.hpp"
#include "plait/disks.hpp"
#include "store/npy/header.hpp"
#include "store/place.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"

namespace plait::file {

namespace {

namespace npy = store::npy;
using base::text;

/// What rank 0 tells the others.
struct Findings {
  ArrayType type;
  std::int64_t data_offset = 0;
  plan::AccessOptions access;
  store::Place place;

  std::string pack() const {
    std::ostringstream out;
    out << type.element_bytes << ' ' << static_cast<int>(type.order) << ' ' << data_offset << ' ' << access.memory_bytes
        << ' ' << static_cast<int>(access.strategy) << ' ' << access.readers << ' ' << type.shape.size();
    for (const std::int64_t extent : type.shape) out << ' ' << extent;
    out << ' ' << type.dtype.size() << ' ' << place.path.size() << ' ' << place.description.size() << '\n'
        << type.dtype << place.path << place.description;
    return out.str();
  }

  static Findings unpack(const std::string& packed) {
    Findings result;
    std::istringstream in(packed);
    int order = 0;
    int strategy = 0;
    std::size_t dimensions = 0;
    std::size_t dtype_length = 0;
    std::size_t path_length = 0;
    std::size_t description_length = 0;
    in >> result.type.element_bytes >> order >> result.data_offset >> result.access.memory_bytes >> strategy >>
        result.access.readers >> dimensions;
    result.type.shape.resize(dimensions);
    for (std::int64_t& extent : result.type.shape) in >> extent;
    in >> dtype_length >> path_length >> description_length;
    in.get();
    result.type.order = static_cast<Order>(order);
    result.access.strategy = static_cast<plan::Strategy>(strategy);
    const auto take = [&in](std::string& text, std::size_t length) {
      text.resize(length);
      in.read(text.data(), static_cast<std::streamsize>(length));
    };
    take(result.type.dtype, dtype_length);
    take(result.place.path, path_length);
    take(result.place.description, description_length);
    return result;
  }
};

bool is_npy(const std::string& path) { return path.ends_with(".npy") && !store::stripe::is_name(path); }

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

plan::Strategy strategy_named(const std::string& name) {
  if (name.empty() || name == "automatic") return plan::Strategy::kAutomatic;
  if (name == "direct") return plan::Strategy::kDirect;
  if (name == "two-phase") return plan::Strategy::kTwoPhase;
  refuse(text("strategy \"", name, "\" is not known; use \"direct\", \"two-phase\" or \"automatic\""));
}

plan::AccessOptions access_options(const FileOptions& options) {
  plan::AccessOptions result;
  const char* strategy = std::getenv("PLAIT_STRATEGY");
  result.strategy = strategy_named(options.strategy.empty() && strategy != nullptr ? strategy : options.strategy);
  result.memory_bytes = options.memory;
  if (const char* memory = std::getenv("PLAIT_MEMORY"); memory != nullptr && options.memory == 0) {
    char* end = nullptr;
    result.memory_bytes = std::strtoll(memory, &end, 10);
    if (*end != '\0' || result.memory_bytes < 1) refuse(text("PLAIT_MEMORY=", memory, " is not a number of bytes"));
  }
  if (result.memory_bytes < 0) refuse(text("memory=", result.memory_bytes, " is negative; give a number of bytes"));
  result.readers = options.readers;
  return result;
}

/// What the caller says the array is.
ArrayType wanted_type(const FileOptions& options, const std::string& path) {
  if (!options.shape || (!options.dtype && options.element_bytes == 0))
    refuse(text(path, ": shape and dtype must be given, because the file ",
                is_npy(path) ? "is a new one" : "does not tell them"));
  ArrayType type;
  type.shape = *options.shape;
  type.dtype = options.dtype.value_or("");
  type.element_bytes = options.element_bytes != 0 ? options.element_bytes : npy::element_bytes_of(type.dtype);
  type.order = options.order.value_or(Order::kC);
  if (type.element_bytes < 1) refuse(text(path, ": elements of ", type.element_bytes, " bytes cannot be"));
  for (const std::int64_t extent : type.shape)
    if (extent < 0) refuse(text(path, ": the shape ", shape_to_string(type.shape), " has a negative size"));
  if (type.shape.size() > kMaxDimensions)
    refuse(
        text(path, ": the shape has ", type.shape.size(), " dimensions; at most ", kMaxDimensions, " are supported"));
  return type;
}

std::int64_t array_bytes(const ArrayType& type) {
  return base::checked_multiply(base::checked_product(type.shape, "elements of the array"), type.element_bytes,
                                "bytes of the array");
}

npy::Header read_header(store::Store& store, const std::string& path) {
  const std::int64_t size = store.size();
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::int64_t>(size, npy::kPreambleBytes)));
  store.read({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
  const std::int64_t length = npy::header_bytes(bytes, path);
  if (length > size)
    throw Error(ErrorKind::kSystem, text("cannot open ", path, " as .npy: the header has ", length,
                                         " bytes, but the file only ", size, "; it has been truncated"));
  bytes.resize(static_cast<std::size_t>(length));
  store.read({{0, bytes.data(), length}});
  return npy::parse_header(bytes, path);
}

void refuse_several(const std::string& path, const FileOptions& options) {
  if (options.several)
    refuse(text(path, ": a .npy file holds one array, but several were announced; use a name that does not end so"));
}

void look_at_existing(const std::string& path, const FileOptions& options, bool writable, Findings& found) {
  found.place = store::find_place(path, writable);
  const auto opened = store::open_place(found.place, writable);
  const std::int64_t size = opened->size();
  if (is_npy(path)) {
    refuse_several(path, options);
    const npy::Header header = read_header(*opened, path);
    found.type = {header.shape, header.descr, header.element_bytes, header.order};
    found.data_offset = header.data_offset;
    if (options.shape && *options.shape != header.shape)
      refuse(text(path, " holds an array ", shape_to_string(header.shape), ", but the shape ",
                  shape_to_string(*options.shape), " was given; leave it out or correct it"));
    if (options.order && *options.order != header.order)
      refuse(text(path, " holds its array in order ", header.order == Order::kC ? "C" : "F",
                  ", but order=", *options.order == Order::kC ? "C" : "F", " was given; leave it out or correct it"));
    if (options.offset != 0)
      refuse(text(path, ": offset=", options.offset,
                  " was given, but the header tells where the array begins; leave it out"));
    if (options.dtype && *options.dtype != header.descr)
      refuse(text(path, " holds elements of dtype ", header.descr, ", but ", *options.dtype,
                  " was given; leave it out or correct it"));
  } else {
    found.type = wanted_type(options, path);
    found.data_offset = options.offset;
    if (options.offset < 0) refuse(text(path, ": offset=", options.offset, " is negative"));
  }
  const std::int64_t needed = base::checked_add(found.data_offset, array_bytes(found.type), "bytes of the file");
  if (size != needed && found.place.description.empty() && store::stripe::looks_like_description(path))
    refuse(text(path, " has ", size, " bytes that describe a striped file; open it as ", stripe_url(path)));
  if (size < needed)
    throw Error(ErrorKind::kSystem,
                text(path, " has ", size, " bytes, but an array ", shape_to_string(found.type.shape), " of ",
                     found.type.element_bytes, "-byte elements from offset ", found.data_offset, " on needs ", needed,
                     is_npy(path) ? "; it has been truncated" : "; it is truncated, or shape or dtype are wrong"));
  if (size > needed && !is_npy(path) && !options.several)
    refuse(text(path, " has ", size, " bytes, but an array ", shape_to_string(found.type.shape), " of ",
                found.type.element_bytes, "-byte elements from offset ", found.data_offset, " on has ", needed,
                "; give the shape and dtype that it was written with"));
}

void make_new(File::Impl& file, const FileOptions& options, Findings& found) {
  found.type = wanted_type(options, file.path);
  std::vector<std::byte> head;
  if (is_npy(file.path)) {
    refuse_several(file.path, options);
    if (found.type.dtype.empty()) refuse(text(file.path, ": a .npy file needs a dtype"));
    head = store::npy::make_header(found.type.dtype, found.type.order, found.type.shape);
    found.data_offset = static_cast<std::int64_t>(head.size());
  } else if (options.offset != 0) {
    refuse(text(file.path, ": offset=", options.offset, " in mode w; a new file begins with its array"));
  }
  const std::int64_t bytes = base::checked_add(found.data_offset, array_bytes(found.type), "bytes of the file");
  file.replacement = store::make_new_file(file.path, bytes, head);
  found.place = file.replacement->place();
}

std::string call_text(const File::Impl& file, const FileOptions& options) {
  std::ostringstream out;
  out << "open(" << file.path << ", mode " << (file.mode == Mode::kRead ? "r" : file.mode == Mode::kWrite ? "w" : "r+");
  if (options.shape) out << ", shape " << shape_to_string(*options.shape);
  if (options.dtype) out << ", dtype " << *options.dtype;
  if (options.order) out << ", order " << (*options.order == Order::kC ? "C" : "F");
  if (options.several) out << ", several arrays";
  out << ", offset " << options.offset << ", memory " << options.memory << ", strategy "
      << (options.strategy.empty() ? "automatic" : options.strategy) << ", readers " << options.readers << ')';
  return out.str();
}

}  // namespace

std::string broadcast_text(transport::Transport& transport, const std::string& mine) {
  std::int64_t length = static_cast<std::int64_t>(mine.size());
  std::array<std::byte, sizeof length> bytes{};
  std::memcpy(bytes.data(), &length, sizeof length);
  transport.broadcast(bytes, 0);
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string result = mine;
  result.resize(static_cast<std::size_t>(length));
  for (std::size_t done = 0; done < result.size(); done += transport::Transport::kMostBroadcast)
    transport.broadcast(std::as_writable_bytes(std::span(result).subspan(
                            done, std::min<std::size_t>(transport::Transport::kMostBroadcast, result.size() - done))),
                        0);
  return result;
}

namespace {

/// Rank 0 looks at the file, or makes it, and everyone hears what it found.  Collective.
Findings look(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  Findings found;
  engine::agree(transport, engine::caught([&] {
                  if (transport.rank() != 0) return;
                  found.access = access_options(options);
                  if (file.mode == Mode::kWrite) {
                    make_new(file, options, found);
                  } else {
                    look_at_existing(file.path, options, file.mode == Mode::kReadWrite, found);
                  }
                }));
  return Findings::unpack(broadcast_text(transport, found.pack()));
}

/// Everyone opens it.  Collective.
void open_found(File::Impl& file, const Findings& found, transport::Transport& transport) {
  engine::agree(transport, engine::caught([&] {
                  file.store = store::open_place(found.place, file.mode != Mode::kRead);
                  if (found.place.description.empty()) return;
                  const auto stripes = store::stripe::parse(found.place.description, found.place.url());
                  file.stripe_unit = stripes.unit;
                  file.stripe_disks = static_cast<std::int64_t>(stripes.components.size());
                  file.made_bytes = stripes.bytes;
                }));
}

}  // namespace

void open_store(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  engine::prepare(transport);
  engine::agree(transport, call_text(file, options), nullptr);
  // Counted where all ranks are known to open: one that refuses its arguments never comes here.
  file.number = transport.next_number();
  Findings found;
  for (int attempt = 1;; ++attempt) {
    found = look(file, options, transport);
    try {
      open_found(file, found, transport);
      break;
    } catch (const Error& error) {
      // A striped file that was replaced since rank 0 looked: its components have just gone.
      constexpr int kMostAttempts = 3;
      if (file.mode == Mode::kWrite || found.place.description.empty() || error.system_code() != ENOENT ||
          attempt == kMostAttempts)
        throw;
    }
  }
  file.type = found.type;
  file.data_offset = found.data_offset;
  file.access_options = found.access;
  file.opening_memory = found.access.memory_bytes;
  file.several = options.several;
  file.choose_storage_unit();
  file.open = true;
}

}  // namespace plait::file
