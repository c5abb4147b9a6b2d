#include "driver/collective_driver.hpp"

#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "engine/broadcast.hpp"

namespace plait::driver {

std::unique_ptr<file::Source> CollectiveDriver::open(Opening& opening) const {
  transport::Transport& transport = opening.transport();
  const bool is_new = opening.mode() == Mode::kWrite;
  store::NewFileOptions made;
  engine::agree(transport, engine::caught([&] {
                  if (is_new) made = opening.make();
                }));
  std::unique_ptr<file::Source> source = open_together(opening, made.bytes);
  std::string told;
  engine::prepare(transport);
  engine::agree(transport, engine::caught([&] {
                  if (transport.rank() != 0) return;
                  if (!is_new) opening.inspect(source->store());
                  told = opening.told();
                  if (made.head.empty()) return;
                  const auto bytes = static_cast<std::int64_t>(made.head.size());
                  source->store()->write({{0, made.head.data(), bytes}});
                }));
  told = engine::broadcast_text(transport, told);
  engine::agree(transport, engine::caught([&] { opening.adopt(told, *source); }));
  return source;
}

}  // namespace plait::driver
