// Opening: rank 0 looks at the file, everyone hears what it found and opens it.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "engine/first_error.hpp"
#include "file/content.hpp"
#include "file/foreign.hpp"
#include "file/impl.hpp"
#include "file/joint.hpp"
#include "file/name.hpp"
#include "store/place.hpp"
#include "store/stripe/description.hpp"

namespace plait::file {

namespace {

using base::text;

/// What rank 0 tells the others.
struct Findings {
  Content content;
  plan::AccessOptions access;
  store::Place place;

  std::string pack() const {
    std::ostringstream out;
    const ArrayType& type = content.type;
    out << type.element_bytes << ' ' << static_cast<int>(type.order) << ' ' << content.data_offset << ' '
        << access.memory_bytes << ' ' << static_cast<int>(access.strategy) << ' ' << access.readers << ' '
        << type.shape.size();
    for (const std::int64_t extent : type.shape) out << ' ' << extent;
    out << ' ' << type.dtype.size() << '\n' << type.dtype << place.packed();
    return out.str();
  }

  static Findings unpack(const std::string& packed) {
    Findings result;
    ArrayType& type = result.content.type;
    std::istringstream in(packed);
    int order = 0;
    int strategy = 0;
    std::size_t dimensions = 0;
    std::size_t dtype_length = 0;
    in >> type.element_bytes >> order >> result.content.data_offset >> result.access.memory_bytes >> strategy >>
        result.access.readers >> dimensions;
    type.shape.resize(dimensions);
    for (std::int64_t& extent : type.shape) in >> extent;
    in >> dtype_length;
    const std::size_t begin = packed.find('\n') + 1;
    type.order = static_cast<Order>(order);
    result.access.strategy = static_cast<plan::Strategy>(strategy);
    type.dtype = packed.substr(begin, dtype_length);
    result.place = store::Place::unpacked(packed.substr(begin + dtype_length));
    return result;
  }
};

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
  if (const char* memory = std::getenv("PLAIT_MEMORY"); memory != nullptr && *memory != '\0' && options.memory == 0) {
    char* end = nullptr;
    result.memory_bytes = std::strtoll(memory, &end, 10);
    if (*end != '\0' || result.memory_bytes < 1)
      refuse(text("PLAIT_MEMORY=", memory, " is not a number of bytes; use one such as 33554432, or unset it"));
  }
  if (result.memory_bytes < 0) refuse(text("memory=", result.memory_bytes, " is negative; give a number of bytes"));
  if (options.readers < 0) refuse(text("readers=", options.readers, " is negative; give a number of ranks, or 0"));
  result.readers = options.readers;
  return result;
}

store::FoundPlace find_place(const std::string& path, bool writable) {
  try {
    return store::find_place(path, writable);
  } catch (const Error& error) {
    const std::string_view format = error.system_code() == EISDIR ? foreign_folder(path) : std::string_view();
    if (format.empty()) throw;
    throw Error(
        error.kind(),
        text(error.what(), ". What it holds is of ", format, ", which Plait does not read; use a library for that"),
        error.system_code());
  }
}

void look_at_existing(File::Impl& file, const FileOptions& options, Findings& found) {
  store::FoundPlace there = find_place(file.path, file.mode == Mode::kReadWrite);
  found.place = std::move(there.place);
  file.store = std::move(there.store);
  found.content = read_content(*file.store, file.path, options, !found.place.description.empty());
}

void make_new(File::Impl& file, const FileOptions& options, Findings& found) {
  const NewContent made = new_content(file.path, options);
  found.content = made;
  file.replacement = store::make_new_file(file.path, made.bytes(), made.head, file.comm.alone());
  found.place = file.replacement->place();
}

std::string call_text(const File::Impl& file, const FileOptions& options) {
  std::ostringstream out;
  out << "open(" << file.path << ", mode " << (file.mode == Mode::kRead ? "r" : file.mode == Mode::kWrite ? "w" : "r+");
  if (options.shape) out << ", shape " << shape_to_string(*options.shape);
  if (options.dtype) out << ", dtype " << *options.dtype;
  if (options.element_bytes != 0) out << ", elements of " << options.element_bytes << " bytes";
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
  std::string result;
  engine::FirstError lacking;  // of memory: the others go on
  std::array<char, transport::Transport::kMostBroadcast> words{};
  for (std::size_t done = 0; done < static_cast<std::size_t>(length); done += words.size()) {
    const std::span part(words.data(), std::min(words.size(), static_cast<std::size_t>(length) - done));
    if (transport.rank() == 0) std::copy_n(mine.data() + done, part.size(), part.data());
    transport.broadcast(std::as_writable_bytes(part), 0);
    lacking.keep([&] { result.append(part.data(), part.size()); });
  }
  lacking.rethrow();
  return result;
}

namespace {

/// Rank 0 looks at the file, or makes it, and everyone hears what it found.  Collective.
Findings look(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  Findings found;
  std::string packed;
  engine::agree(transport, engine::caught([&] {
                  if (transport.rank() != 0) return;
                  found.access = access_options(options);
                  if (file.mode == Mode::kWrite) {
                    make_new(file, options, found);
                  } else {
                    look_at_existing(file, options, found);
                  }
                  if (transport.size() > 1) packed = found.pack();
                }));
  return transport.size() > 1 ? Findings::unpack(broadcast_text(transport, packed)) : found;
}

/// What every rank's File keeps of it.
void adopt(File::Impl& file, const Findings& found, const FileOptions& options) {
  file.type = found.content.type;
  file.data_offset = found.content.data_offset;
  file.access_options = found.access;
  file.opening_memory = found.access.memory_bytes;
  file.several = options.several;
  file.choose_storage_unit();
}

/// Everyone opens it; rank 0 has an existing one open, so that nothing else can be taken for it.  Collective.
void open_found(File::Impl& file, const Findings& found, const FileOptions& options, transport::Transport& transport) {
  engine::agree(transport, engine::caught([&] {
                  if (!file.store) file.store = store::open_place(found.place, file.mode != Mode::kRead);
                  if (!found.place.description.empty()) {
                    const auto stripes = store::stripe::parse(found.place.description, found.place.url());
                    file.stripe_unit = stripes.unit;
                    file.stripe_disks = static_cast<std::int64_t>(stripes.components.size());
                    file.made_bytes = stripes.bytes;
                  }
                  adopt(file, found, options);
                }));
}

}  // namespace

const JointScheme* joint_scheme_of(std::string_view name) {
  for (const JointScheme& scheme : joint_schemes())
    if (name.starts_with(scheme.prefix)) return &scheme;
  return nullptr;
}

namespace {

/// The same for what all ranks open together.  Collective.
void open_joint(File::Impl& file, const FileOptions& options, transport::Transport& transport,
                const JointScheme& scheme) {
  Findings found;
  NewContent made;
  std::string packed;
  const bool is_new = file.mode == Mode::kWrite;
  engine::agree(transport, engine::caught([&] {
                  if (transport.rank() == 0) found.access = access_options(options);
                  if (!is_new) return;
                  made = new_content(file.path, options);
                  made.bytes();
                }));
  file.joint = scheme.open({file.path, file.mode, is_new ? made.bytes() : 0}, file.comm);
  engine::prepare(transport);
  engine::agree(transport, engine::caught([&] {
                  if (transport.rank() != 0) return;
                  found.content = is_new ? made : read_content(*file.joint, file.path, options, true);
                  packed = found.pack();
                  if (made.head.empty()) return;
                  file.joint->write({{0, made.head.data(), static_cast<std::int64_t>(made.head.size())}});
                }));
  file.store = file.joint;
  file.stripe_unit = file.joint->stripe_unit();
  file.stripe_disks = file.joint->stripe_disks();
  const std::string told = broadcast_text(transport, packed);
  engine::agree(transport, engine::caught([&] { adopt(file, Findings::unpack(told), options); }));
}

/// Rank 0 looks, everyone opens.  Collective.
void open_by_all(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  std::string before;
  int same = 0;  // how often rank 0 has seen the same though others did not
  for (int attempt = 1;; ++attempt) {
    Findings found = look(file, options, transport);
    try {
      return open_found(file, found, options, transport);
    } catch (const Error& error) {
      // A file that was replaced since rank 0 looked: others have met the new one, or nothing where components were.
      constexpr int kMostAttempts = 100;
      constexpr int kMostSame = 20;
      const int code = error.system_code();
      if (file.mode == Mode::kWrite || (code != ESTALE && code != ENOENT) || attempt == kMostAttempts) throw;
      std::string now = found.place.packed();
      same = now == before ? same + 1 : 0;
      if (same == kMostSame || (same > 0 && code == ENOENT)) throw;
      before = std::move(now);
      file.store = nullptr;
    }
  }
}

}  // namespace

void open_store(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  engine::prepare(transport);
  engine::agree(
      transport, [&] { return call_text(file, options); }, engine::caught([&] {
        // The system would take what stands in front of it for the name.
        if (file.path.find('\0') != std::string::npos)
          refuse(text("the name of the file, which begins with \"", file.path.c_str(),
                      "\", has a character of code 0; leave that out"));
        check_name(file.path, file.mode == Mode::kWrite);
      }));
  // Counted where all ranks are known to open: one that refuses its arguments never comes here.
  file.number = transport.next_number();
  const JointScheme* const joint = joint_scheme_of(file.path);
  if (joint != nullptr) {
    open_joint(file, options, transport, *joint);
  } else {
    open_by_all(file, options, transport);
  }
  file.open = true;
}

}  // namespace plait::file
