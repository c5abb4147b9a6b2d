/// The transfer of one array to one process of a reader, planned once from both layouts.
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
#include "exchange/gather.hpp"
#include "exchange/message.hpp"
#include "pipe/reader/partners.hpp"
#include "pipe/step_description.hpp"
#include "plait/region.hpp"
#include "plan/access/costs.hpp"
#include "plan/section/region_pairs.hpp"

namespace plait::pipe {

/// The read for which a delivery is planned.
struct DeliveryRequest {
  const Layout& layout;  ///< the reader's layout of the region
  const Region& region;
  bool fill_halo = false;
  std::vector<std::int64_t> ranks;  ///< ranks whose local arrays this process has
  /// The conversion, if the arrays have another element type than the writer's.
  std::optional<copy::ElementCast> cast = {};
};

/// Buffers that all deliveries of a reader use, one delivery at a time.
struct DeliveryBuffers {
  std::optional<exchange::Stage> stage;
  std::vector<std::byte> frame;
  std::vector<std::byte> converted;
};

/// The plan of a read of one array by one process of the reader, and its execution, which may be repeated for the same
/// array of later steps.
/// cost  Planning: O(pieces of one period for each partner), as for a conversion, independent of the number of other
/// ranks.
class Delivery {
 public:
  /// source: the writer's layout.  The buffers must outlive this object.
  /// errors  kArgument: shapes or a region that do not match, as for a file.
  Delivery(const Layout& source, std::int64_t element_bytes, const DeliveryRequest& request, DeliveryBuffers& buffers);

  /// Returns true if this delivery can be reused for a read of an array with that layout and element size.
  bool matches(const std::string& source, std::int64_t element_bytes, const DeliveryRequest& request) const;

  /// Fills the arrays of the ranks.  Elements in mapped memory are copied to their positions in one pass.  Elements of
  /// other hosts, and elements that are converted, arrive as packed messages, in pieces.
  void run(const StepDescription& step, std::size_t variable, Partners& partners,
           std::span<const copy::LocalArray> arrays, collective::Times& spent);

  /// An amount of data, for explain().
  struct Traffic {
    std::int64_t messages = 0;
    std::int64_t elements = 0;
    std::int64_t runs = 0;  ///< elements contiguous in both local arrays count as one run
  };
  Traffic traffic() const;
  /// The traffic from mapped memory of this host (local), and from the network (remote).
  struct Traffics {
    Traffic local;
    Traffic remote;
  };
  /// errors  kSystem: the endpoints of a process cannot be obtained.
  Traffics traffics(Partners& partners) const;
  /// Predicts the seconds of run() on an idle machine and network.
  double predicted_seconds(const Traffics& traffics, const plan::CostModel& model) const;

 private:
  /// A rank of the writer that has elements of a local array, and which elements these are.
  struct Source {
    std::int64_t rank = 0;
    std::vector<plan::Product> products;
    bool is_on_this_host = false;
    std::unique_ptr<const exchange::PackedMessage> packed;  // set if the source is on another host or is converted
    std::unique_ptr<const exchange::PackedMessage> cast;    // set if it is converted: unpacks the converted elements
  };
  /// A local array of the reader.
  struct Target {
    std::int64_t rank = 0;
    std::vector<Source> sources;
    std::optional<exchange::Gather> gather;  // copies the elements of mapped sources
    std::vector<std::size_t> mapped;         // indices of those sources
  };
  Traffic count_traffic(const Target& target, const Source& source) const;
  /// Executes run(); after an error, connections may have outstanding answers.
  void transfer(const StepDescription& step, std::size_t variable, Partners& partners,
                std::span<const copy::LocalArray> arrays, collective::Times& spent);
  /// Determines which sources are on this host, and plans the copies of their elements.  This is done once, because the
  /// hosts of processes do not change.
  void prepare(Target& target, Partners& partners) const;
  void copy_from_this_host(Target& target, const StepDescription& step, std::size_t variable, Partners& partners,
                           const copy::LocalArray& array);
  /// Returns the local array of a source on this host, in its mapped slot.
  copy::LocalArray map_array(const Source& source, const StepDescription& step, std::size_t variable,
                             Partners& partners);
  /// Unpacks, and converts if necessary, a part of a source's message that begins at element `begin`.
  void unpack(const Source& source, std::int64_t begin, std::span<std::byte> bytes, const copy::LocalArray& array);
  /// Returns the number of elements that are converted at a time.
  std::int64_t max_converted_elements() const;
  /// Receives the elements of a source on another host into a local array.
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
  bool is_prepared_ = false;
  std::map<std::int64_t, Placement> placements_;  // of the current step, by process number of the writer
};

}  // namespace plait::pipe
