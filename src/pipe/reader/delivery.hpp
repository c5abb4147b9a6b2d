/// What one process of a reader takes of an array, planned once from both layouts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "pipe/description.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/region.hpp"
#include "plan/access/section_products.hpp"
#include "redistribution/gather.hpp"
#include "redistribution/message.hpp"

namespace plait::pipe {

/// The call that a delivery is planned for.
struct DeliveryRequest {
  const Layout& layout;  ///< of the region
  const Region& region;
  bool fill_halo = false;
  std::vector<std::int64_t> ranks;  ///< whose local arrays this process has
};

/// cost  Planning: O(pieces of one period for each partner), as a conversion; no rank's plan depends on how many others
///       there are.
class Delivery {
 public:
  /// source: the writer's layout.  errors  kArgument: shapes, or a region, that do not fit.
  Delivery(const Layout& source, std::int64_t element_bytes, const DeliveryRequest& request);

  bool serves(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const;

  /// Fills the arrays, which are those of the ranks.  From memory that can be mapped elements go straight to their
  /// place, in one pass; others come as packed messages, in pieces.
  void run(const StepDescription& step, std::size_t variable, Partners& partners,
           std::span<const copy::LocalArray> arrays, collective::Times& spent);

  struct Traffic {
    std::int64_t messages = 0;
    std::int64_t elements = 0;
    std::int64_t runs = 0;
  };
  Traffic traffic() const;

 private:
  struct Source {
    std::int64_t rank = 0;
    std::vector<plan::Product> products;
    std::unique_ptr<const redistribution::PackedMessage> packed;  // where it comes from another host
  };
  /// One local array.
  struct Target {
    std::int64_t rank = 0;
    std::vector<Source> sources;
    std::optional<redistribution::Gather> gather;  // of the sources that can be mapped
    std::vector<std::size_t> mapped;               // those sources
  };
  void take(const StepDescription& step, std::size_t variable, Partners& partners,
            std::span<const copy::LocalArray> arrays, collective::Times& spent);
  void look_around(Target& target, Partners& partners) const;
  void fill(Target& target, const StepDescription& step, std::size_t variable, Partners& partners,
            const copy::LocalArray& array);

  std::string source_text_;
  std::int64_t element_bytes_;
  Layout layout_;
  Region region_;
  bool fill_halo_;
  std::vector<std::int64_t> ranks_;
  plan::Pairs pairs_;
  std::vector<Target> targets_;
  bool looked_ = false;
  std::optional<redistribution::Stage> stage_;
  std::vector<std::byte> frame_;
};

}  // namespace plait::pipe
