#include "pipe/reader/delivery.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "redistribution/share.hpp"

namespace plait::pipe {

namespace {

/// errors  kArgument: steps or dropped dimensions.
plan::SectionPair section_of(const Layout& source, const Region& region) {
  if (region.empty()) return {};
  plan::SectionPair section;
  if (region.size() != source.shape().size())
    throw Error(ErrorKind::kArgument, base::text("the region ", to_string(region), " has ", region.size(),
                                                 " dimensions, but the array has ", source.shape().size()));
  for (const Slice& slice : region) {
    if (slice.single || (slice.step != 1 && slice.count > 1))
      throw Error(ErrorKind::kArgument,
                  base::text("the region ", to_string(region),
                             " leaves out indices or dimensions, which a pipe does not; read the box around it"));
    section.shape.push_back(slice.count);
    section.source_origin.push_back(slice.start);
    section.target_origin.push_back(0);
  }
  return section;
}

}  // namespace

Delivery::Delivery(const Layout& source, std::int64_t element_bytes, const DeliveryRequest& request)
    : source_text_(spelling(source)),
      element_bytes_(element_bytes),
      layout_(request.layout),
      region_(request.region),
      fill_halo_(request.fill_halo),
      ranks_(request.ranks),
      pairs_(source, request.layout, request.fill_halo, section_of(source, request.region)) {
  for (const std::int64_t rank : ranks_) {
    Target& target = targets_.emplace_back();
    target.rank = rank;
    for (const std::int64_t sender : pairs_.senders_of(rank)) {
      std::vector<plan::Product> products = pairs_.products(sender, rank);
      if (!products.empty()) target.sources.push_back({sender, std::move(products), nullptr});
    }
  }
}

bool Delivery::serves(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const {
  return source == source_text_ && element_bytes == element_bytes_ && request.region == region_ &&
         request.fill_halo == fill_halo_ && request.ranks == ranks_ && request.layout.spelled_like(layout_);
}

void Delivery::look_around(Target& target, Partners& partners) const {
  const redistribution::DimensionOrder order = redistribution::order_of(layout_);
  std::vector<redistribution::Share> shares;
  for (std::size_t i = 0; i < target.sources.size(); ++i) {
    Source& source = target.sources[i];
    if (!partners.of(partners.process_of(source.rank)).near()) {
      source.packed = std::make_unique<redistribution::PackedMessage>(source.products, order, element_bytes_);
      continue;
    }
    for (const plan::Product& product : source.products) shares.push_back({target.mapped.size(), product});
    target.mapped.push_back(i);
  }
  if (!shares.empty())
    target.gather.emplace(layout_.padded_shape(target.rank), redistribution::order_of(pairs_.source()), order,
                          element_bytes_, std::move(shares));
}

void Delivery::fill(Target& target, const StepDescription& step, std::size_t variable, Partners& partners,
                    const copy::LocalArray& array) {
  if (!target.gather) return;
  std::vector<copy::LocalArray> sources;
  for (const std::size_t i : target.mapped) {
    const std::int64_t rank = target.sources[i].rank;
    const std::int64_t process = partners.process_of(rank);
    Placement placement = partners.placement(process);
    for (std::size_t v = 0; v <= variable; ++v)
      placement.add(v == variable ? pairs_.source() : Layout::parse(step.variables[v].layout),
                    step.variables[v].type.element_bytes);
    const std::byte* slot = partners.of(process).slot(step.slot, step.number, placement.end());
    // It is only read from.
    sources.push_back(dense_array(pairs_.source(), rank,
                                  const_cast<std::byte*>(slot) + placement.offset(variable, rank), element_bytes_));
  }
  target.gather->fit(sources, array);
  if (!stage_ || stage_->bytes() < target.gather->stage_bytes()) stage_.emplace(target.gather->stage_bytes());
  const redistribution::Gather* const gathers[] = {&*target.gather};
  redistribution::gather(gathers, sources, {&array, 1}, stage_->data(), {});
  for (const std::size_t i : target.mapped)
    partners.of(partners.process_of(target.sources[i].rank)).check(step.slot, step.number);
}

void Delivery::run(const StepDescription& step, std::size_t variable, Partners& partners,
                   std::span<const copy::LocalArray> arrays, collective::Times& spent) {
  try {
    take(step, variable, partners, arrays, spent);
  } catch (...) {
    // Answers that are under way must not be taken for those of the next read.
    for (const Target& target : targets_)
      for (const Source& source : target.sources)
        if (source.packed) partners.leave(partners.process_of(source.rank));
    throw;
  }
}

void Delivery::take(const StepDescription& step, std::size_t variable, Partners& partners,
                    std::span<const copy::LocalArray> arrays, collective::Times& spent) {
  if (!looked_) {
    for (Target& target : targets_) look_around(target, partners);
    looked_ = true;
  }
  // All is asked for at once, so that all processes that have something send at the same time.
  Wanted wanted;
  wanted.step = step.number;
  wanted.slot = step.slot;
  wanted.variable = static_cast<std::int64_t>(variable);
  wanted.fill_halo = fill_halo_;
  wanted.shape = pairs_.section().shape;
  wanted.origin = pairs_.section().source_origin;
  for (const Target& target : targets_)
    for (const Source& source : target.sources) {
      if (!source.packed) continue;
      if (wanted.layout.empty()) wanted.layout = spelling(layout_);
      wanted.sender = source.rank;
      wanted.receiver = target.rank;
      partners.of(partners.process_of(source.rank)).ask(wanted);
    }
  {
    const collective::Stopwatch copying(spent.copy);
    for (std::size_t t = 0; t < targets_.size(); ++t) fill(targets_[t], step, variable, partners, arrays[t]);
  }
  const collective::Stopwatch receiving(spent.io);
  for (std::size_t t = 0; t < targets_.size(); ++t)
    for (const Source& source : targets_[t].sources) {
      if (!source.packed) continue;
      std::vector<std::byte> cut;  // the front of an element whose end the next frame has
      partners.of(partners.process_of(source.rank))
          .take(source.packed->elements() * element_bytes_, frame_,
                [&](std::int64_t offset, std::span<const std::byte> bytes) {
                  const auto first = static_cast<std::int64_t>(offset - static_cast<std::int64_t>(cut.size()));
                  if (!cut.empty() || bytes.size() % static_cast<std::size_t>(element_bytes_) != 0) {
                    cut.insert(cut.end(), bytes.begin(), bytes.end());
                    bytes = cut;
                  }
                  const std::int64_t whole = static_cast<std::int64_t>(bytes.size()) / element_bytes_;
                  const std::int64_t begin = first / element_bytes_;
                  source.packed->unpack(begin, begin + whole, bytes.data(), arrays[t]);
                  std::vector<std::byte> rest(bytes.begin() + whole * element_bytes_, bytes.end());
                  cut = std::move(rest);
                });
    }
}

Delivery::Traffic Delivery::traffic() const {
  Traffic all;
  for (const Target& target : targets_)
    for (const Source& source : target.sources) {
      ++all.messages;
      for (const plan::Product& product : source.products) {
        std::int64_t elements = 1;
        std::int64_t runs = 1;
        for (const plan::Pieces& dimension : product) {
          elements *= plan::elements(dimension);
          runs *= plan::runs(dimension);
        }
        all.elements += elements;
        all.runs += runs;
      }
    }
  return all;
}

}  // namespace plait::pipe
