// Conversions of the C interface.

#include "base/errors.hpp"
#include "objects.hpp"

using namespace plait::c;

namespace {

/// Stores the messages if they fit, and their number.
void store_messages(const std::vector<plait::Message>& messages, int64_t capacity, plait_traffic* traffic,
                    int64_t* count) {
  const auto message_count = static_cast<std::int64_t>(messages.size());
  if ((traffic != nullptr || capacity != 0) && capacity < message_count)
    plait::base::throw_argument_error("traffic has room for ", capacity, " messages, but there are ", message_count,
                                      "; make it larger");
  if (capacity >= message_count)
    for (std::size_t i = 0; i < messages.size(); ++i)
      (&output(traffic, "traffic"))[i] = {messages[i].rank, messages[i].elements, messages[i].runs};
  if (traffic == nullptr || count != nullptr) output(count, "count") = message_count;
}

const plait::Conversion& to_conversion(const plait_conversion* conversion) {
  return dereference(conversion, "conversion", "the handle from plait_conversion_create").conversion;
}

}  // namespace

plait_status plait_conversion_create(const plait_layout* source, const plait_layout* target, int fill_halo,
                                     plait_conversion** conversion) {
  if (conversion != nullptr) *conversion = nullptr;
  return guarded(source, [&] {
    plait::Conversion result(to_layout(source, "source"), to_layout(target, "target"), fill_halo != 0);
    plait_conversion*& handle = output(conversion, "conversion");
    handle = new plait_conversion(std::move(result));
  });
}

plait_status plait_conversion_free(plait_conversion** conversion) { return free_handle(conversion); }

plait_status plait_conversion_sends(const plait_conversion* conversion, int64_t rank, int64_t capacity,
                                    plait_traffic* traffic, int64_t* count) {
  return guarded(conversion, [&] { store_messages(to_conversion(conversion).sends(rank), capacity, traffic, count); });
}

plait_status plait_conversion_receives(const plait_conversion* conversion, int64_t rank, int64_t capacity,
                                       plait_traffic* traffic, int64_t* count) {
  return guarded(conversion,
                 [&] { store_messages(to_conversion(conversion).receives(rank), capacity, traffic, count); });
}

plait_status plait_conversion_block(const plait_conversion* conversion, int64_t* block) {
  return guarded(conversion, [&] { output(block, "block") = to_conversion(conversion).block(); });
}

plait_status plait_conversion_explain(const plait_conversion* conversion, char** text) {
  if (text != nullptr) *text = nullptr;
  return guarded(conversion, [&] { store_text(text, "text", [&] { return to_conversion(conversion).explain(); }); });
}
