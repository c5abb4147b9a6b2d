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

/// Bytes of elements that are converted at a time, before or after the conversion.
constexpr std::int64_t kConverted = std::int64_t{64} << 10;

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

bool Delivery::serves(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const {
  return source == source_text_ && element_bytes == element_bytes_ && request.region == region_ &&
         request.fill_halo == fill_halo_ && request.ranks == ranks_ && request.cast == cast_ &&
         request.layout.spelled_like(layout_);
}

void Delivery::look_around(Target& target, Partners& partners) const {
  const exchange::DimensionOrder order = pairs_.target_order();
  std::vector<exchange::Share> shares;
  for (std::size_t i = 0; i < target.sources.size(); ++i) {
    Source& source = target.sources[i];
    source.near = partners.partner(partners.process_for(source.rank)).near();
    if (cast_) source.cast = std::make_unique<exchange::PackedMessage>(source.products, order, cast_->target_bytes());
    if (!source.near || cast_) {
      source.packed = std::make_unique<exchange::PackedMessage>(source.products, order, element_bytes_);
      continue;
    }
    for (const plan::Product& product : source.products) shares.push_back({target.mapped.size(), product});
    target.mapped.push_back(i);
  }
  if (!shares.empty())
    target.gather.emplace(pairs_.with_dropped(layout_.padded_shape(target.rank), 1),
                          exchange::dimension_order(pairs_.source()), order, element_bytes_, std::move(shares));
}

copy::LocalArray Delivery::mapped(const Source& source, const StepDescription& step, std::size_t variable,
                                  Partners& partners) {
  const std::int64_t process = partners.process_for(source.rank);
  const auto [found, is_new] = placements_.try_emplace(process, partners.placement(process));
  Placement& placement = found->second;
  for (std::size_t v = 0; is_new && v <= variable; ++v)
    placement.add(v == variable ? pairs_.source() : Layout::parse(step.variables[v].layout),
                  step.variables[v].type.element_bytes);
  const std::byte* slot = partners.partner(process).slot(step.slot, step.number, placement.end());
  // The array is only read.
  return dense_array(pairs_.source(), source.rank,
                     const_cast<std::byte*>(slot) + placement.offset(variable, source.rank), element_bytes_);
}

void Delivery::fill(Target& target, const StepDescription& step, std::size_t variable, Partners& partners,
                    const copy::LocalArray& array) {
  std::vector<copy::LocalArray> sources;
  for (const std::size_t i : target.mapped) sources.push_back(mapped(target.sources[i], step, variable, partners));
  if (target.gather) {
    target.gather->fit(sources, array);
    auto& stage = buffers_.stage;
    if (!stage || stage->bytes() < target.gather->stage_bytes()) stage.emplace(target.gather->stage_bytes());
    const exchange::Gather* const gathers[] = {&*target.gather};
    exchange::gather(gathers, sources, {&array, 1}, stage->data(), {});
  }
  for (const Source& source : target.sources) {
    if (!source.near || !source.packed) continue;
    const copy::LocalArray from = mapped(source, step, variable, partners);
    const std::int64_t most = max_converted();
    for (std::int64_t begin = 0; begin < source.packed->elements(); begin += most) {
      const std::int64_t end = std::min(begin + most, source.packed->elements());
      buffers_.frame.resize(static_cast<std::size_t>((end - begin) * element_bytes_));
      source.packed->pack(begin, end, from, buffers_.frame.data());
      unpack(source, begin, buffers_.frame, array);
    }
  }
  for (const Source& source : target.sources)
    // The check comes after the copy, because a writer that drops readers may have reused the slot meanwhile.
    if (source.near) partners.partner(partners.process_for(source.rank)).check(step.slot, step.number);
}

void Delivery::unpack(const Source& source, std::int64_t begin, std::span<std::byte> bytes,
                      const copy::LocalArray& array) {
  const std::int64_t count = static_cast<std::int64_t>(bytes.size()) / element_bytes_;
  if (!cast_) return source.packed->unpack(begin, begin + count, bytes.data(), array);
  const std::int64_t most = max_converted();
  auto& converted = buffers_.converted;
  converted.resize(static_cast<std::size_t>(std::min(most, count) * cast_->target_bytes()));
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t some = std::min(most, count - done);
    cast_->run(bytes.data() + done * element_bytes_, converted.data(), some);
    source.cast->unpack(begin + done, begin + done + some, converted.data(), array);
  }
}

std::int64_t Delivery::max_converted() const {
  return std::max<std::int64_t>(kConverted / std::max(element_bytes_, cast_ ? cast_->target_bytes() : 1), 1);
}

void Delivery::receive(const Source& source, Partner& partner, const copy::LocalArray& array) {
  std::vector<std::byte> cut;  // the first part of an element that continues in the next frame
  partner.take(source.packed->elements() * element_bytes_, buffers_.frame,
               [&](std::int64_t offset, std::span<std::byte> bytes) {
                 const auto first = static_cast<std::int64_t>(offset - static_cast<std::int64_t>(cut.size()));
                 if (!cut.empty() || bytes.size() % static_cast<std::size_t>(element_bytes_) != 0) {
                   cut.insert(cut.end(), bytes.begin(), bytes.end());
                   bytes = cut;
                 }
                 const auto whole = static_cast<std::int64_t>(bytes.size()) / element_bytes_ * element_bytes_;
                 unpack(source, first / element_bytes_, bytes.first(static_cast<std::size_t>(whole)), array);
                 std::vector<std::byte> rest(bytes.begin() + whole, bytes.end());
                 cut = std::move(rest);
               });
}

void Delivery::run(const StepDescription& step, std::size_t variable, Partners& partners,
                   std::span<const copy::LocalArray> arrays, collective::Times& spent) {
  try {
    take(step, variable, partners, arrays, spent);
  } catch (...) {
    // Outstanding answers must not be mistaken for those of the next read.
    for (const Target& target : targets_)
      for (const Source& source : target.sources)
        if (!source.near) partners.leave(partners.process_for(source.rank));
    throw;
  }
}

void Delivery::take(const StepDescription& step, std::size_t variable, Partners& partners,
                    std::span<const copy::LocalArray> given, collective::Times& spent) {
  if (!looked_) {
    for (Target& target : targets_) look_around(target, partners);
    looked_ = true;
  }
  placements_.clear();
  // The layout gets the dimensions of the writer's array.
  std::vector<copy::LocalArray> arrays;
  for (const copy::LocalArray& one : given) arrays.push_back({one.rank, one.data, pairs_.with_dropped(one.strides, 0)});
  // All requests are sent before the first answer is received, so that the processes send at the same time.
  ElementRequest wanted;
  wanted.step = step.number;
  wanted.slot = step.slot;
  wanted.variable = static_cast<std::int64_t>(variable);
  wanted.fill_halo = fill_halo_;
  wanted.region = region_;
  struct Requests {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // (sender, receiver) in the order of the answers
    std::size_t next = 0;
  };
  std::map<std::int64_t, Requests> requests;  // by process of the writer
  for (const Target& target : targets_)
    for (const Source& source : target.sources)
      if (!source.near) requests[partners.process_for(source.rank)].pairs.emplace_back(source.rank, target.rank);
  if (!requests.empty()) wanted.layout = spelling(layout_);
  const auto ask_next = [&](std::int64_t process, Requests& of) {
    if (of.next == of.pairs.size()) return;
    std::tie(wanted.sender, wanted.receiver) = of.pairs[of.next++];
    partners.partner(process).ask(wanted);
  };
  for (auto& [process, of] : requests)
    for (std::size_t i = 0; i < kAskedAhead; ++i) ask_next(process, of);
  {
    const collective::Stopwatch copying(spent.copy);
    for (std::size_t t = 0; t < targets_.size(); ++t) fill(targets_[t], step, variable, partners, arrays[t]);
  }
  const collective::Stopwatch receiving(spent.io);
  for (std::size_t t = 0; t < targets_.size(); ++t)
    for (const Source& source : targets_[t].sources)
      if (!source.near) {
        const std::int64_t process = partners.process_for(source.rank);
        receive(source, partners.partner(process), arrays[t]);
        ask_next(process, requests.at(process));
      }
}

Delivery::Traffic Delivery::count_traffic(const Target& target, const Source& source) const {
  Traffic all{1, 0, 0};
  const Extents from = pairs_.source().padded_shape(source.rank);
  const Extents to = pairs_.with_dropped(layout_.padded_shape(target.rank), 1);
  std::vector<int> order;
  for (const std::size_t d : pairs_.target_order()) order.push_back(static_cast<int>(d));
  for (const plan::Product& product : source.products) {
    std::vector<plan::Overlap> overlaps;
    for (std::size_t d = 0; d < product.size(); ++d) overlaps.push_back(plan::make_overlap(product[d], from[d], to[d]));
    std::vector<const plan::Overlap*> each;
    std::int64_t elements = 1;
    for (const plan::Overlap& one : overlaps) {
      each.push_back(&one);
      elements *= one.elements;
    }
    all.elements += elements;
    all.runs += plan::count_product_runs(each, pairs_.source().order(), order);
  }
  return all;
}

Delivery::Traffic Delivery::traffic() const {
  Traffic all;
  for (const Target& target : targets_)
    for (const Source& source : target.sources) add(all, count_traffic(target, source));
  return all;
}

Delivery::Traffics Delivery::traffics(Partners& partners) const {
  Traffics all;
  for (const Target& target : targets_)
    for (const Source& source : target.sources)
      add(partners.near(partners.process_for(source.rank)) ? all.near : all.far, count_traffic(target, source));
  return all;
}

double Delivery::predicted_seconds(const Traffics& traffics, const plan::CostModel& model) const {
  const auto& [near, far] = traffics;
  const auto bytes = [this](const Traffic& of) { return static_cast<double>(of.elements * element_bytes_); };
  // Converted elements are packed before and unpacked after the conversion.
  const double passes = cast_ ? 3 : 1;
  double seconds = model.wait_seconds + passes * (bytes(near) / model.copy_bytes_per_second +
                                                  plan::runs_seconds(model, near.runs, bytes(near)));
  if (far.messages > 0)
    seconds += model.message_seconds + bytes(far) / model.network_bytes_per_second +
               2 * plan::runs_seconds(model, far.runs, bytes(far));
  return seconds;
}

}  // namespace plait::pipe
