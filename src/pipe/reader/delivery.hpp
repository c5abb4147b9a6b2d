/// What one process of a reader takes of an array, planned once from both layouts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/stopwatch.hpp"
#include "copy/cast/element_cast.hpp"
#include "copy/local_array.hpp"
#include "pipe/description.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/region.hpp"
#include "plan/access/costs.hpp"
#include "plan/section/region_pairs.hpp"
#include "redistribution/gather.hpp"
#include "redistribution/message.hpp"

namespace plait::pipe {

/// The call that a delivery is planned for.
struct DeliveryRequest {
  const Layout& layout;  ///< of the region
  const Region& region;
  bool fill_halo = false;
  std::vector<std::int64_t> ranks;             ///< whose local arrays this process has
  std::optional<copy::ElementCast> cast = {};  ///< where the arrays have elements of another type than the writer's
};

/// What all deliveries of a reader use, one after the other.
struct DeliveryBuffers {
  std::optional<redistribution::Stage> stage;
  std::vector<std::byte> frame;
  std::vector<std::byte> converted;
};

/// cost  Planning: O(pieces of one period for each partner), as a conversion; no rank's plan depends on how many others
///       there are.
class Delivery {
 public:
  /// source: the writer's layout.  The buffers stay as long as this.
  /// errors  kArgument: shapes, or a region, that do not fit, as for a file.
  Delivery(const Layout& source, std::int64_t element_bytes, const DeliveryRequest& request, DeliveryBuffers& buffers);

  /// Whether it is the one for such a call; casts depend on the array that is read.
  bool serves(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const;

  /// Fills the arrays, which are those of the ranks.  From memory that can be mapped elements go straight to their
  /// positions, in one pass; others come as packed messages, in pieces, and so do those that become other ones.
  void run(const StepDescription& step, std::size_t variable, Partners& partners,
           std::span<const copy::LocalArray> arrays, collective::Times& spent);

  struct Traffic {
    std::int64_t messages = 0;
    std::int64_t elements = 0;
    std::int64_t runs = 0;  ///< stretches that follow each other in both local arrays
  };
  Traffic traffic() const;
  /// Of this host through its memory, and of others over the network.
  struct Traffics {
    Traffic near;
    Traffic far;
  };
  /// errors  kSystem: a process of the writer cannot be asked where it is.
  Traffics traffics(Partners& partners) const;
  /// How long run() takes, where the processor and the network have nothing else to do.
  double predicted_seconds(const Traffics& traffics, const plan::CostModel& model) const;

 private:
  struct Source {
    std::int64_t rank = 0;
    std::vector<plan::Product> products;
    bool near = false;
    std::unique_ptr<const redistribution::PackedMessage> packed;  // from another host, or to be cast
    std::unique_ptr<const redistribution::PackedMessage> cast;    // of the elements that they become
  };
  /// One local array.
  struct Target {
    std::int64_t rank = 0;
    std::vector<Source> sources;
    std::optional<redistribution::Gather> gather;  // of the sources that can be mapped
    std::vector<std::size_t> mapped;               // those sources
  };
  Traffic traffic_of(const Target& target, const Source& source) const;
  void take(const StepDescription& step, std::size_t variable, Partners& partners,
            std::span<const copy::LocalArray> arrays, collective::Times& spent);
  void look_around(Target& target, Partners& partners) const;
  void fill(Target& target, const StepDescription& step, std::size_t variable, Partners& partners,
            const copy::LocalArray& array);
  /// The part of a source that can be mapped.
  copy::LocalArray mapped(const Source& source, const StepDescription& step, std::size_t variable, Partners& partners);
  /// Puts elements that lie packed where they belong, from `begin` on in the message.
  void unpack(const Source& source, std::int64_t begin, std::span<std::byte> bytes, const copy::LocalArray& array);
  /// Elements that are converted at a time.
  std::int64_t most_converted() const;
  void receive(const Source& source, Partner& partner, const copy::LocalArray& array);

  std::string source_text_;
  std::int64_t element_bytes_;
  Layout layout_;
  Region region_;
  bool fill_halo_;
  std::vector<std::int64_t> ranks_;
  std::optional<copy::ElementCast> cast_;
  DeliveryBuffers& buffers_;
  plan::RegionPairs pairs_;
  std::vector<Target> targets_;
  bool looked_ = false;
  std::map<std::int64_t, Placement> placements_;  // of the step that is read, by the writer's process
};

}  // namespace plait::pipe
