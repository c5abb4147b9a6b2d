#include "core/file/access_plans.hpp"

#include <algorithm>

namespace plait::core {

plan::AccessPlan make_plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers) {
  plan::AccessOptions options = array.options;
  if (workers.threads) {
    options.memory_bytes = (options.memory_bytes == 0 ? plan::kDefaultMemory : options.memory_bytes) / workers.number;
    options.readers = std::min<std::int64_t>(options.readers, workers.number);
  }
  options.fill_halo = request.action == Action::kFill;
  return {array.section(request.region),
          request.layout,
          {array.type.element_bytes, array.data_offset, workers.number, workers.nodes_apart, request.writes(),
           workers.nodes, workers.threads},
          options};
}

const PlannedAccess& AccessPlans::plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                                       base::FunctionRef<std::string()> words) {
  const auto serves = [&](const std::unique_ptr<PlannedAccess>& old) {
    const SelectedArray& of = old->array;
    return old->action == request.action && old->workers == workers.number && of.data_offset == array.data_offset &&
           of.type.element_bytes == array.type.element_bytes && of.options.memory_bytes == array.options.memory_bytes &&
           of.type.order == array.type.order && of.type.shape == array.type.shape && old->region == request.region &&
           old->layout.spelled_like(request.layout);
  };
  auto found = std::find_if(plans_.begin(), plans_.end(), serves);
  if (found == plans_.end()) {
    if (plans_.size() == kKept) plans_.pop_back();
    found = plans_.insert(plans_.end(), std::make_unique<PlannedAccess>(PlannedAccess{
                                            array, request.layout, request.region, request.action, workers.number,
                                            make_plan(array, request, workers), words()}));
  }
  std::rotate(plans_.begin(), found, found + 1);
  return *plans_.front();
}

}  // namespace plait::core
