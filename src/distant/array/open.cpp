// Arrays on the ranks' own disks are opened as shared files.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/text.hpp"
#include "distant/array/name.hpp"
#include "distant/array/store.hpp"
#include "distant/service.hpp"
#include "engine/agree.hpp"
#include "file/impl.hpp"
#include "file/joint.hpp"
#include "file/unclosed.hpp"
#include "plait/error.hpp"

namespace plait {

namespace {

using distant::array::Name;

/// Stripes of large arrays are as long as windows, each of which is then a message to one disk; those of smaller arrays
/// are so long that each disk gets several.
std::int64_t unit_for(std::int64_t bytes, int ranks) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 10;
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  constexpr std::int64_t kStripesADisk = 4;
  const auto share = static_cast<std::uint64_t>(bytes / ranks / kStripesADisk);
  return std::clamp(static_cast<std::int64_t>(std::bit_floor(share)), kLeast, kMost);
}

SharedFileMode mode_of(Mode mode) {
  return mode == Mode::kRead    ? SharedFileMode::kRead
         : mode == Mode::kWrite ? SharedFileMode::kWrite
                                : SharedFileMode::kReadWrite;
}

std::shared_ptr<file::JointStore> open_array(const file::JointOptions& options, const Comm& comm) {
  transport::Transport& transport = distant::transport_of(comm);
  Name name;
  std::string path;
  engine::agree(transport, engine::caught([&] {
                  name = distant::array::parse_name(options.name);
                  path = distant::array::path_of(name);
                }));
  // Ranks may stand in different folders, and have other settings.
  path = file::broadcast_text(transport, path);
  const bool is_new = options.mode == Mode::kWrite;
  SharedFileOptions wanted;
  wanted.path = path;
  wanted.mode = mode_of(options.mode);
  wanted.place = name.place;
  if (is_new) {
    wanted.persistent = true;
    wanted.atomic = true;
    wanted.unit = name.unit != 0 ? name.unit : unit_for(options.bytes, transport.size());
    wanted.expected = options.bytes;
  }
  const file::Untold by_the_array;  // the array's file is watched for as a whole
  SharedFile file = SharedFile::open(wanted, comm);
  if (is_new) {
    file.resize(options.bytes);
  } else if (name.unit != 0 && !file.one() && file.unit() != name.unit) {
    throw Error(ErrorKind::kArgument, base::text("distant:", path, " has stripes of ", file.unit(), " bytes, but unit=",
                                                 name.unit, " was given; leave it out or correct it"));
  }
  return std::make_shared<distant::array::ArrayStore>(std::move(file), comm, "distant:" + path,
                                                      options.mode != Mode::kRead);
}

}  // namespace

std::span<const file::JointScheme> file::joint_schemes() {
  static constexpr std::array<JointScheme, 1> kSchemes{{{distant::array::kScheme, open_array}}};
  return kSchemes;
}

}  // namespace plait
