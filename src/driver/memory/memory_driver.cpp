// Arrays in memory, which all ranks of a node share. A new array gets its name when the File is closed.

#include "driver/memory/memory_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "collective/broadcast.hpp"
#include "driver/memory/bytes.hpp"
#include "driver/memory/bytes_store.hpp"

namespace plait::driver::memory {

namespace {

/// One rank's view of an array in memory.
class MemorySource : public core::Source {
 public:
  /// is_new: the bytes get the name when the File is closed.
  MemorySource(std::shared_ptr<SharedBytes> bytes, std::string name, bool is_new)
      : name_(std::move(name)), is_new_(is_new) {
    set_bytes(std::move(bytes));
  }

  std::shared_ptr<store::Store> store() const override { return store_; }

  void resize(collective::Collective& call, std::int64_t bytes) override {
    std::shared_ptr<SharedBytes> larger = make_bytes(call, bytes, name_);
    call.run_phase([&] {
      if (call.transport().rank() == 0)
        std::memcpy(larger->data, bytes_->data, static_cast<std::size_t>(std::min(bytes, bytes_->bytes)));
      set_bytes(std::move(larger));
    });
  }

  void finish(collective::Collective& call, bool /*syncs*/) override {
    call.run_phase([&] {
      // If ranks are threads of one process, one of them sets the name for all.
      if (is_new_ && (call.transport().rank() == 0 || !call.transport().one_process())) name_bytes(name_, bytes_);
    });
  }

 private:
  void set_bytes(std::shared_ptr<SharedBytes> bytes) {
    store_ = std::make_shared<BytesStore>(bytes, name_);
    bytes_ = std::move(bytes);
  }

  std::string name_;
  bool is_new_;
  std::shared_ptr<SharedBytes> bytes_;
  std::shared_ptr<BytesStore> store_;
};

/// The driver of `memory:NAME`.
class MemoryDriver : public CollectiveDriver {
 public:
  std::string_view prefix() const override { return "memory:"; }
  Contents contents() const override { return Contents::kHeader; }
  ResolvedName locate(const std::string& name) const override {
    ResolvedName resolved;
    resolved.kind = "an array in memory";
    resolved.name = resolved.id = name;
    resolved.only_in = "the memory of the process that made it";
    return resolved;
  }

 protected:
  std::unique_ptr<core::Source> open_together(const Opening& opening, std::int64_t bytes) const override;
};

std::unique_ptr<core::Source> MemoryDriver::open_together(const Opening& opening, std::int64_t bytes) const {
  collective::Collective& call = opening.call();
  const std::string& name = opening.name();
  const bool is_new = opening.mode() == Mode::kWrite;
  call.run_phase([&] {
    if (name.size() == prefix().size())
      base::throw_argument_error("there is no name after memory:; give one, as in memory:field");
  });
  std::shared_ptr<SharedBytes> shared_bytes;
  if (is_new) {
    shared_bytes = make_bytes(call, bytes, name);
  } else {
    std::string id;
    call.run_phase([&] {
      shared_bytes = find_bytes(name);
      if (!shared_bytes)
        base::throw_system_error(ENOENT, "cannot open ", name,
                                 ": this process has not made an array of that name, or has not closed "
                                 "it yet; make it with mode \"w\", and close it");
      id = std::to_string(shared_bytes->id);
    });
    const std::string id_on_rank_0 = collective::broadcast_text(call.transport(), id);
    call.run_phase([&] {
      if (id != id_on_rank_0)
        base::throw_system_error(ESTALE, "cannot open ", name,
                                 ": the ranks hold different arrays of that name; open it with the "
                                 "communicator with which it was made");
    });
  }
  std::unique_ptr<core::Source> source;
  call.run_phase([&] { source = std::make_unique<MemorySource>(std::move(shared_bytes), name, is_new); });
  return source;
}

}  // namespace

const CollectiveDriver& driver() {
  static const MemoryDriver kDriver;
  return kDriver;
}

}  // namespace plait::driver::memory
