/// Stores that all ranks open together: of the layers behind this one, which may not be included here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::file {

/// One rank's end of such a store.  Letting it go without finish() drops a new one; it waits for nobody.
class JointStore : public store::Store {
 public:
  /// Bytes of the stripes that its bytes are dealt in, and to how many disks; 0 where it is one file.
  virtual std::int64_t stripe_unit() const = 0;
  virtual std::int64_t stripe_disks() const = 0;
  /// Makes what was written durable, lets a new one appear under its name, and ends the store.  Collective, once no
  /// rank has anything under way.  errors  kSystem, the same on every rank.
  virtual void finish() = 0;
};

struct JointOptions {
  std::string name;  ///< the whole of it, the same on every rank
  Mode mode = Mode::kRead;
  std::int64_t bytes = 0;  ///< of a new one, which read as zero
};

/// Opens one.  Collective.  errors  The same on every rank.
using JointOpener = std::shared_ptr<JointStore> (*)(const JointOptions& options, const Comm& comm);

/// What names of such stores begin with.
struct JointScheme {
  std::string_view prefix;
  JointOpener open;
};

/// All there are.  A later layer defines it: a reference that the linker must resolve, so that no kind is lost where
/// the library is linked statically.
std::span<const JointScheme> joint_schemes();

/// The scheme that a name begins with; nullptr where it is another kind of store.
const JointScheme* joint_scheme_of(std::string_view name);

}  // namespace plait::file
