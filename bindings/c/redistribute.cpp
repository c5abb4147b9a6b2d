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
  const plait_redistribute_options given = copy_options(options, "plait_redistribute_options");
  RedistributionOptions result;
  result.memory = given.memory;
  if (given.element_name != nullptr) result.element_name = given.element_name;
  result.fill_halo = given.fill_halo != 0;
  if (given.section != nullptr) {
    result.section = plait::Section{to_extents(given.section, given.dimensions, "section"),
                                    to_extents(given.source_origin, given.dimensions, "source_origin"),
                                    to_extents(given.target_origin, given.dimensions, "target_origin")};
  } else if (given.dimensions != 0 || given.source_origin != nullptr || given.target_origin != nullptr) {
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
    const RedistributeArguments call = checked(report, [&] {
      const Layout& source_given = to_layout(ends.source, "source");
      const Layout& target_given = to_layout(ends.target, "target");
      return RedistributeArguments{source_given, target_given,
                                   find(source_given, target_given, everyone, element_bytes),
                                   redistribution_options(options)};
    });
    plait::redistribute(call.source, call.parts.from, call.target, call.parts.to, element_bytes, everyone,
                        call.options);
  });
}

plait_redistribution& to_plan(plait_redistribution* plan) {
  return given(plan, "plan", "the handle from plait_redistribution_create");
}

template <typename Find, typename Also>
Parts find_parts(plait_redistribution& own, Find&& find, Also&& also) {
  const auto report = [&](const std::string& message, int code) { own.plan->fail(message, code); };
  return checked(report, [&] {
    also();
    return find(*own.source, *own.target, own.comm, own.element_bytes);
  });
}

template <typename Find>
plait_status run(plait_redistribution* plan, Find&& find) {
  return guarded(plan, [&] {
    plait_redistribution& own = to_plan(plan);
    const Parts parts = find_parts(own, find, [] {});
    own.plan->run(parts.from, parts.to);
  });
}

template <typename Find>
plait_status start(plait_redistribution* plan, plait_request** request, Find&& find) {
  if (request != nullptr) *request = nullptr;
  return guarded(plan, [&] {
    plait_redistribution& own = to_plan(plan);
    std::unique_ptr<plait_request> handle;
    Parts parts = find_parts(own, find, [&] {
      output(request, "request");
      handle = std::make_unique<plait_request>();
    });
    put(*handle, own.plan->start(std::move(parts.from), std::move(parts.to)));
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
    const RedistributionOptions wanted = checked(report, [&] {
      output(plan, "plan");
      handle = std::make_unique<plait_redistribution>();
      handle->source = to_layout(source, "source");
      handle->target = to_layout(target, "target");
      handle->element_bytes = element_bytes;
      handle->comm = everyone;
      return redistribution_options(options);
    });
    handle->plan.emplace(*handle->source, *handle->target, element_bytes, everyone, wanted);
    *plan = handle.release();
  });
}

plait_status plait_redistribution_free(plait_redistribution** plan) { return release(plan); }

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
    const auto& own = given(plan, "plan", "the handle from plait_redistribution_create");
    hand_out_text(text, "text", [&] { return own.plan->explain(); });
  });
}
