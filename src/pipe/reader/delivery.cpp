// Moves one array of a step from the processes of a writer to the local arrays of one process of a reader.
//
// Problem: the two programs have different layouts and numbers of processes. A process of the reader needs elements of
// several processes of the writer, of which some are on its host and can be read directly, and others cannot.
//
// Idea: the constructor determines for each local array (Target) which ranks of the writer have elements for it
// (Source), and which elements these are. The slots of sources on the same host are mapped, and one gather copies their
// elements to the target. Other sources get a kGet request each, and their packed elements are unpacked as the frames
// arrive. The first kMaxPendingRequests requests to each process are sent before anything is copied, so that the
// network is busy meanwhile.
//
// Example: an 8x8 array is written as (block, *) by 4 ranks, of which ranks 0 and 1 are on the reader's host, and read
// as (*, block) by 2 ranks. Rank 0 of the reader needs columns 0 to 3, which are 2 runs of 4 elements of each rank of
// the writer. It copies 4 runs from the mapped slots of ranks 0 and 1, and gets 8 elements each from ranks 2 and 3 by
// kGet.

#include "pipe/reader/delivery.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "exchange/share.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::pipe {

namespace {

/// Maximum bytes of the elements that are converted at a time, in the larger of both types.
constexpr std::int64_t kConversionBytes = std::int64_t{64} << 10;

void add(Delivery::Traffic& sum, const Delivery::Traffic& other) {
  sum.messages += other.messages;
  sum.elements += other.elements;
  sum.runs += other.runs;
}

}  // namespace

Delivery::Delivery(const Layout& source, std::int64_t element_bytes, const DeliveryRequest& request,
                   DeliveryBuffers& buffers)
    : source_text_(spelling(source)),
      element_bytes_(element_bytes),
      layout_(request.layout),
      region_(request.region),
      fill_halo_(request.fill_halo),
      ranks_(request.ranks),
      cast_(request.cast),
      buffers_(buffers),
      pairs_(source, request.layout, request.region, request.fill_halo) {
  for (const std::int64_t rank : ranks_) {
    Target& target = targets_.emplace_back();
    target.rank = rank;
    for (const std::int64_t sender : pairs_.senders(rank)) {
      std::vector<plan::Product> products = pairs_.products(sender, rank);
      if (!products.empty()) target.sources.push_back({sender, std::move(products), false, nullptr, nullptr});
    }
  }
}

bool Delivery::matches(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const {
  return source == source_text_ && element_bytes == element_bytes_ && request.region == region_ &&
         request.fill_halo == fill_halo_ && request.ranks == ranks_ && request.cast == cast_ &&
         request.layout.spelled_like(layout_);
}

void Delivery::prepare(Target& target, Partners& partners) const {
  const exchange::DimensionOrder order = pairs_.target_order();
  std::vector<exchange::Share> shares;
  for (std::size_t i = 0; i < target.sources.size(); ++i) {
    Source& source = target.sources[i];
    source.is_on_this_host = partners.partner(partners.process_for(source.rank)).is_on_this_host();
    if (cast_) source.cast = std::make_unique<exchange::PackedMessage>(source.products, order, cast_->target_bytes());
    if (!source.is_on_this_host || cast_) {
      source.packed = std::make_unique<exchange::PackedMessage>(source.products, order, element_bytes_);
      continue;
    }
    for (const plan::Product& product : source.products) shares.push_back({target.mapped.size(), product});
    target.mapped.push_back(i);
  }
  if (!shares.empty())
    target.gather.emplace(pairs_.with_dropped(layout_.padded_shape(target.rank), /*dropped=*/1),
                          exchange::dimension_order(pairs_.source()), order, element_bytes_, std::move(shares));
}

copy::LocalArray Delivery::map_array(const Source& source, const StepDescription& step, std::size_t variable,
                                     Partners& partners) {
  const std::int64_t process = partners.process_for(source.rank);
  const auto [entry, is_new] = placements_.try_emplace(process, partners.placement(process));
  Placement& placement = entry->second;
  // The offset of an array in the slot depends on the arrays before it.
  for (std::size_t v = 0; is_new && v <= variable; ++v)
    placement.add(v == variable ? pairs_.source() : Layout::parse(step.variables[v].layout),
                  step.variables[v].type.element_bytes);
  const std::byte* slot = partners.partner(process).map_slot(step.slot, step.number, placement.end());
  // LocalArray has no const variant; the const_cast is safe because the slot is only read.
  return dense_array(pairs_.source(), source.rank,
                     const_cast<std::byte*>(slot) + placement.offset(variable, source.rank), element_bytes_);
}

void Delivery::copy_from_this_host(Target& target, const StepDescription& step, std::size_t variable,
                                   Partners& partners, const copy::LocalArray& array) {
  std::vector<copy::LocalArray> sources;
  for (const std::size_t i : target.mapped) sources.push_back(map_array(target.sources[i], step, variable, partners));
  if (target.gather) {
    target.gather->fit(sources, array);
    auto& stage = buffers_.stage;
    if (!stage || stage->bytes() < target.gather->stage_bytes()) stage.emplace(target.gather->stage_bytes());
    const exchange::Gather* const gathers[] = {&*target.gather};
    exchange::gather(gathers, sources, {&array, 1}, stage->data(), {});
  }
  // Elements that are converted are packed, converted and unpacked in parts.
  for (const Source& source : target.sources) {
    if (!source.is_on_this_host || !source.packed) continue;
    const copy::LocalArray source_array = map_array(source, step, variable, partners);
    const std::int64_t max_elements = max_converted_elements();
    for (std::int64_t begin = 0; begin < source.packed->elements(); begin += max_elements) {
      const std::int64_t end = std::min(begin + max_elements, source.packed->elements());
      buffers_.frame.resize(static_cast<std::size_t>((end - begin) * element_bytes_));
      source.packed->pack(begin, end, source_array, buffers_.frame.data());
      unpack(source, begin, buffers_.frame, array);
    }
  }
  for (const Source& source : target.sources)
    // Check after the copy: a writer that drops readers may have reused the slot meanwhile.
    if (source.is_on_this_host) partners.partner(partners.process_for(source.rank)).check_slot(step.slot, step.number);
}

void Delivery::unpack(const Source& source, std::int64_t begin, std::span<std::byte> bytes,
                      const copy::LocalArray& array) {
  const std::int64_t count = static_cast<std::int64_t>(bytes.size()) / element_bytes_;
  if (!cast_) return source.packed->unpack(begin, begin + count, bytes.data(), array);
  const std::int64_t max_elements = max_converted_elements();
  auto& converted = buffers_.converted;
  converted.resize(static_cast<std::size_t>(std::min(max_elements, count) * cast_->target_bytes()));
  for (std::int64_t converted_elements = 0; converted_elements < count; converted_elements += max_elements) {
    const std::int64_t part_elements = std::min(max_elements, count - converted_elements);
    cast_->run(bytes.data() + converted_elements * element_bytes_, converted.data(), part_elements);
    source.cast->unpack(begin + converted_elements, begin + converted_elements + part_elements, converted.data(),
                        array);
  }
}

std::int64_t Delivery::max_converted_elements() const {
  return std::max<std::int64_t>(kConversionBytes / std::max(element_bytes_, cast_ ? cast_->target_bytes() : 1), 1);
}

void Delivery::receive(const Source& source, Partner& partner, const copy::LocalArray& array) {
  std::vector<std::byte> partial_element;  // the first part of an element that continues in the next frame
  partner.receive_answer(
      source.packed->elements() * element_bytes_, buffers_.frame, [&](std::int64_t offset, std::span<std::byte> bytes) {
        const std::int64_t begin = offset - static_cast<std::int64_t>(partial_element.size());
        if (!partial_element.empty() || bytes.size() % static_cast<std::size_t>(element_bytes_) != 0) {
          partial_element.insert(partial_element.end(), bytes.begin(), bytes.end());
          bytes = partial_element;
        }
        const auto whole_bytes = static_cast<std::int64_t>(bytes.size()) / element_bytes_ * element_bytes_;
        unpack(source, begin / element_bytes_, bytes.first(static_cast<std::size_t>(whole_bytes)), array);
        std::vector<std::byte> remainder(bytes.begin() + whole_bytes, bytes.end());
        partial_element = std::move(remainder);
      });
}

void Delivery::run(const StepDescription& step, std::size_t variable, Partners& partners,
                   std::span<const copy::LocalArray> arrays, collective::Times& spent) {
  try {
    transfer(step, variable, partners, arrays, spent);
  } catch (...) {
    // Close the connections with outstanding answers, which the next read would mistake for its own.
    for (const Target& target : targets_)
      for (const Source& source : target.sources)
        if (!source.is_on_this_host) partners.disconnect(partners.process_for(source.rank));
    throw;
  }
}

void Delivery::transfer(const StepDescription& step, std::size_t variable, Partners& partners,
                        std::span<const copy::LocalArray> local_arrays, collective::Times& spent) {
  if (!is_prepared_) {
    for (Target& target : targets_) prepare(target, partners);
    is_prepared_ = true;
  }
  placements_.clear();
  // A region may drop dimensions (an index instead of a range). Give the arrays' strides the dimensions of the writer's
  // array, with stride 0 for the dropped ones.
  std::vector<copy::LocalArray> arrays;
  for (const copy::LocalArray& array : local_arrays)
    arrays.push_back({array.rank, array.data, pairs_.with_dropped(array.strides, /*dropped=*/0)});
  // Send the first requests to all processes before receiving any answer, so that the processes send at the same time.
  ElementRequest element_request;
  element_request.step = step.number;
  element_request.slot = step.slot;
  element_request.variable = static_cast<std::int64_t>(variable);
  element_request.fill_halo = fill_halo_;
  element_request.region = region_;
  struct Requests {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // (sender, receiver) in the order of the answers
    std::size_t next = 0;
  };
  std::map<std::int64_t, Requests> requests;  // by process of the writer
  for (const Target& target : targets_)
    for (const Source& source : target.sources)
      if (!source.is_on_this_host)
        requests[partners.process_for(source.rank)].pairs.emplace_back(source.rank, target.rank);
  if (!requests.empty()) element_request.layout = spelling(layout_);
  const auto send_next_request = [&](std::int64_t process, Requests& pending) {
    if (pending.next == pending.pairs.size()) return;
    std::tie(element_request.sender, element_request.receiver) = pending.pairs[pending.next++];
    partners.partner(process).request(element_request);
  };
  for (auto& [process, pending] : requests)
    for (std::size_t i = 0; i < kMaxPendingRequests; ++i) send_next_request(process, pending);
  {
    const collective::Stopwatch copying(spent.copy);
    for (std::size_t t = 0; t < targets_.size(); ++t)
      copy_from_this_host(targets_[t], step, variable, partners, arrays[t]);
  }
  const collective::Stopwatch receiving(spent.io);
  for (std::size_t t = 0; t < targets_.size(); ++t)
    for (const Source& source : targets_[t].sources)
      if (!source.is_on_this_host) {
        const std::int64_t process = partners.process_for(source.rank);
        receive(source, partners.partner(process), arrays[t]);
        send_next_request(process, requests.at(process));
      }
}

Delivery::Traffic Delivery::count_traffic(const Target& target, const Source& source) const {
  Traffic total;
  total.messages = 1;
  const Extents source_shape = pairs_.source().padded_shape(source.rank);
  const Extents target_shape = pairs_.with_dropped(layout_.padded_shape(target.rank), /*dropped=*/1);
  std::vector<int> order;
  for (const std::size_t d : pairs_.target_order()) order.push_back(static_cast<int>(d));
  for (const plan::Product& product : source.products) {
    std::vector<plan::Overlap> overlaps;
    for (std::size_t d = 0; d < product.size(); ++d)
      overlaps.push_back(plan::make_overlap(product[d], source_shape[d], target_shape[d]));
    std::vector<const plan::Overlap*> overlap_pointers;
    std::int64_t elements = 1;
    for (const plan::Overlap& overlap : overlaps) {
      overlap_pointers.push_back(&overlap);
      elements *= overlap.elements;
    }
    total.elements += elements;
    total.runs += plan::count_product_runs(overlap_pointers, pairs_.source().order(), order);
  }
  return total;
}

Delivery::Traffic Delivery::traffic() const {
  Traffic total;
  for (const Target& target : targets_)
    for (const Source& source : target.sources) add(total, count_traffic(target, source));
  return total;
}

Delivery::Traffics Delivery::traffics(Partners& partners) const {
  Traffics total;
  for (const Target& target : targets_)
    for (const Source& source : target.sources)
      add(partners.is_on_this_host(partners.process_for(source.rank)) ? total.local : total.remote,
          count_traffic(target, source));
  return total;
}

double Delivery::predicted_seconds(const Traffics& traffics, const plan::CostModel& model) const {
  const auto& [local, remote] = traffics;
  const auto bytes = [this](const Traffic& traffic) { return static_cast<double>(traffic.elements * element_bytes_); };
  // Converted elements pass through memory three times: packed, converted and unpacked.
  const double passes = cast_ ? 3 : 1;
  double seconds = model.wait_seconds + passes * (bytes(local) / model.copy_bytes_per_second +
                                                  plan::runs_seconds(model, local.runs, bytes(local)));
  // The writer packs the runs of messages, and this process unpacks them.
  if (remote.messages > 0)
    seconds += model.message_seconds + bytes(remote) / model.network_bytes_per_second +
               2 * plan::runs_seconds(model, remote.runs, bytes(remote));
  return seconds;
}

}  // namespace plait::pipe
