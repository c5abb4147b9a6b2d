// Redistribution of the C interface.

#include "plait/redistribute.hpp"

#include "base/errors.hpp"
#include "local_arrays.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::Comm;
using plait::ConstPart;
using plait::Layout;
using plait::MutablePart;
using plait::RedistributionOptions;

namespace {

RedistributionOptions redistribution_options(const plait_redistribute_options* options) {
  const plait_redistribute_options values = copy_options(options, "plait_redistribute_options");
  RedistributionOptions result;
  result.memory = values.memory;
  if (values.element_name != nullptr) result.element_name = values.element_name;
  result.fill_halo = values.fill_halo != 0;
  if (values.section != nullptr) {
    result.section = plait::Section{to_extents(values.section, values.dimensions, "section"),
                                    to_extents(values.source_origin, values.dimensions, "source_origin"),
                                    to_extents(values.target_origin, values.dimensions, "target_origin")};
  } else if (values.dimensions != 0 || values.source_origin != nullptr || values.target_origin != nullptr) {
    plait::base::throw_argument_error(
        "dimensions or origins of a section were given, but section is NULL; give its shape");
  }
  return result;
}

struct Parts {
  std::vector<ConstPart> from;
  std::vector<MutablePart> to;
};

/// The caller's arrays, as a function from both layouts to parts.
auto dense_arrays(const void* from, int64_t from_bytes, void* to, int64_t to_bytes) {
  return [=](const Layout& source, const Layout& target, const Comm& comm, std::int64_t element_bytes) {
    return Parts{dense_parts(source, comm, element_bytes, DenseArray<const void>{from, from_bytes, "from"}),
                 dense_parts(target, comm, element_bytes, DenseArray<void>{to, to_bytes, "to"})};
  };
}

auto listed_arrays(const plait_const_part* from, int64_t from_count, const plait_part* to, int64_t to_count) {
  return [=](const Layout& source, const Layout& target, const Comm& comm, std::int64_t element_bytes) {
    return Parts{listed_parts(source, comm, element_bytes, PartList<plait_const_part>{from, from_count, "from"}),
                 listed_parts(target, comm, element_bytes, PartList<plait_part>{to, to_count, "to"})};
  };
}

/// The layouts and the arrays of a redistribution.
struct Ends {
  const plait_layout* source;
  const plait_layout* target;
};

template <typename Find>
plait_status redistribute(const plait_comm* comm, const Ends& ends, int64_t element_bytes,
                          const plait_redistribute_options* options, Find&& find) {
  return guarded(comm, [&] {
    const Comm& everyone = to_comm(comm);
    struct RedistributeArguments {
      const Layout& source;
      const Layout& target;
      Parts parts;
      RedistributionOptions options;
    };
    const auto report = [&](const std::string& message, int code) {
      plait::fail_redistribute(message, everyone, code);
    };
    const RedistributeArguments call = run_checks(report, [&] {
      const Layout& source_layout = to_layout(ends.source, "source");
      const Layout& target_layout = to_layout(ends.target, "target");
      return RedistributeArguments{source_layout, target_layout,
                                   find(source_layout, target_layout, everyone, element_bytes),
                                   redistribution_options(options)};
    });
    plait::redistribute(call.source, call.parts.from, call.target, call.parts.to, element_bytes, everyone,
                        call.options);
  });
}

plait_redistribution& to_plan(plait_redistribution* plan) {
  return dereference(plan, "plan", "the handle from plait_redistribution_create");
}

template <typename Find, typename Also>
Parts find_parts(plait_redistribution& handle_object, Find&& find, Also&& also) {
  const auto report = [&](const std::string& message, int code) { handle_object.plan->fail(message, code); };
  return run_checks(report, [&] {
    also();
    return find(*handle_object.source, *handle_object.target, handle_object.comm, handle_object.element_bytes);
  });
}

template <typename Find>
plait_status run(plait_redistribution* plan, Find&& find) {
  return guarded(plan, [&] {
    plait_redistribution& handle_object = to_plan(plan);
    const Parts parts = find_parts(handle_object, find, [] {});
    handle_object.plan->run(parts.from, parts.to);
  });
}

template <typename Find>
plait_status start(plait_redistribution* plan, plait_request** request, Find&& find) {
  if (request != nullptr) *request = nullptr;
  return guarded(plan, [&] {
    plait_redistribution& handle_object = to_plan(plan);
    std::unique_ptr<plait_request> handle;
    Parts parts = find_parts(handle_object, find, [&] {
      output(request, "request");
      handle = std::make_unique<plait_request>();
    });
    store_request(*handle, handle_object.plan->start(std::move(parts.from), std::move(parts.to)));
    *request = handle.release();
  });
}

}  // namespace

plait_status plait_redistribute(const plait_comm* comm, const plait_layout* source, const void* from,
                                int64_t from_bytes, const plait_layout* target, void* to, int64_t to_bytes,
                                int64_t element_bytes, const plait_redistribute_options* options) {
  return redistribute(comm, {source, target}, element_bytes, options, dense_arrays(from, from_bytes, to, to_bytes));
}

plait_status plait_redistribute_parts(const plait_comm* comm, const plait_layout* source, const plait_const_part* from,
                                      int64_t from_count, const plait_layout* target, const plait_part* to,
                                      int64_t to_count, int64_t element_bytes,
                                      const plait_redistribute_options* options) {
  return redistribute(comm, {source, target}, element_bytes, options, listed_arrays(from, from_count, to, to_count));
}

plait_status plait_redistribution_create(const plait_comm* comm, const plait_layout* source, const plait_layout* target,
                                         int64_t element_bytes, const plait_redistribute_options* options,
                                         plait_redistribution** plan) {
  if (plan != nullptr) *plan = nullptr;
  return guarded(comm, [&] {
    const Comm& everyone = to_comm(comm);
    std::unique_ptr<plait_redistribution> handle;
    const auto report = [&](const std::string& message, int code) {
      plait::fail_redistribute(message, everyone, code);
    };
    const RedistributionOptions plan_options = run_checks(report, [&] {
      output(plan, "plan");
      handle = std::make_unique<plait_redistribution>();
      handle->source = to_layout(source, "source");
      handle->target = to_layout(target, "target");
      handle->element_bytes = element_bytes;
      handle->comm = everyone;
      return redistribution_options(options);
    });
    handle->plan.emplace(*handle->source, *handle->target, element_bytes, everyone, plan_options);
    *plan = handle.release();
  });
}

plait_status plait_redistribution_free(plait_redistribution** plan) { return free_handle(plan); }

plait_status plait_redistribution_run(plait_redistribution* plan, const void* from, int64_t from_bytes, void* to,
                                      int64_t to_bytes) {
  return run(plan, dense_arrays(from, from_bytes, to, to_bytes));
}

plait_status plait_redistribution_run_parts(plait_redistribution* plan, const plait_const_part* from,
                                            int64_t from_count, const plait_part* to, int64_t to_count) {
  return run(plan, listed_arrays(from, from_count, to, to_count));
}

plait_status plait_redistribution_start(plait_redistribution* plan, const void* from, int64_t from_bytes, void* to,
                                        int64_t to_bytes, plait_request** request) {
  return start(plan, request, dense_arrays(from, from_bytes, to, to_bytes));
}

plait_status plait_redistribution_start_parts(plait_redistribution* plan, const plait_const_part* from,
                                              int64_t from_count, const plait_part* to, int64_t to_count,
                                              plait_request** request) {
  return start(plan, request, listed_arrays(from, from_count, to, to_count));
}

plait_status plait_redistribution_fail(plait_redistribution* plan, const char* message) {
  return guarded(plan, [&] { to_plan(plan).plan->fail(message == nullptr ? "wrong arguments" : message); });
}

plait_status plait_redistribution_explain(const plait_redistribution* plan, char** text) {
  if (text != nullptr) *text = nullptr;
  return guarded(plan, [&] {
    const auto& handle_object = dereference(plan, "plan", "the handle from plait_redistribution_create");
    store_text(text, "text", [&] { return handle_object.plan->explain(); });
  });
}
