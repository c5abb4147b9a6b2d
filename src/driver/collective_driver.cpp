// Opens a store that every rank opens itself: rank 0 alone reads or describes the array in it, and the other ranks take
// over its encoded result, so that all ranks have the same description.

#include "driver/collective_driver.hpp"

#include "collective/broadcast.hpp"

namespace plait::driver {

std::unique_ptr<core::Source> CollectiveDriver::open(Opening& opening) const {
  collective::Collective& call = opening.call();
  const bool is_first = call.transport().rank() == 0;
  const bool is_new = opening.mode() == Mode::kWrite;
  store::NewFileOptions new_file;
  call.run_phase([&] {
    if (is_new) new_file = opening.make();
  });
  std::unique_ptr<core::Source> source = open_together(opening, new_file.bytes);
  std::string encoded;
  call.run_phase([&] {
    if (!is_first) return;
    if (!is_new) opening.inspect(source->store());
    encoded = opening.encode();
    if (new_file.head.empty()) return;
    source->store()->write({{0, new_file.head.data(), static_cast<std::int64_t>(new_file.head.size())}});
  });
  encoded = collective::broadcast_text(call.transport(), encoded);
  call.run_phase([&] { opening.adopt(encoded, *source); });
  return source;
}

}  // namespace plait::driver
