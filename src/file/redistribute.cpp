#include "plait/redistribute.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "engine/redistribute.hpp"
#include "file/impl.hpp"
#include "plait/conversion.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace {

void in_one_process(const Layout& source, std::span<const engine::LocalArray> from, const Layout& target,
                    std::span<const engine::LocalArray> to, std::int64_t element_bytes) {
  constexpr std::int64_t kBytesAThread = std::int64_t{1} << 20;
  const std::int64_t worth = source.elements() / std::max<std::int64_t>(kBytesAThread / element_bytes, 1);
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(std::min({worth, cores, target.size()}), 1, 64));
  transport::thread::run_team(threads, [&](transport::Transport& transport) {
    for (std::size_t rank = static_cast<std::size_t>(transport.rank()); rank < to.size();
         rank += static_cast<std::size_t>(threads))
      engine::gather_rank(source, from, target, to[rank], element_bytes);
  });
}

}  // namespace

void redistribute(const Layout& source, std::span<const ConstPart> source_parts, const Layout& target,
                  std::span<const MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm,
                  std::int64_t memory_bytes, const std::string& element_name) {
  std::vector<engine::LocalArray> from;
  std::vector<engine::LocalArray> to;
  std::unique_ptr<engine::Move> move;
  const auto checked = engine::caught([&] {
    if (element_bytes < 1)
      throw Error(ErrorKind::kArgument, base::text("elements of ", element_bytes, " bytes cannot be"));
    if (memory_bytes < 0) throw Error(ErrorKind::kArgument, base::text("memory=", memory_bytes, " is negative"));
    const Conversion same_shape(source, target);
    from = file::local_arrays(source, file::as_mutable(source_parts), element_bytes, comm);
    to = file::local_arrays(target, {target_parts.begin(), target_parts.end()}, element_bytes, comm);
    if (!comm.alone())
      move = engine::make_redistribution(source, from[0], target, to[0], element_bytes,
                                         memory_bytes == 0 ? plan::kDefaultMemory : memory_bytes, *comm.transport());
  });
  if (comm.alone()) {
    if (checked) std::rethrow_exception(checked);
    in_one_process(source, from, target, to, element_bytes);
    return;
  }
  comm.worker()->run([&] {
    transport::Transport& transport = *comm.transport();
    engine::prepare(transport);
    engine::agree(transport,
                  base::text("redistribute(", to_string(source), " -> ", to_string(target), ", ", element_bytes,
                             "-byte elements ", element_name, ", memory ", memory_bytes, ')'),
                  checked);
    engine::agree(transport, engine::caught([&] {
                    if (source.elements() == 0) return;
                    move->run();
                  }));
  });
}

}  // namespace plait
