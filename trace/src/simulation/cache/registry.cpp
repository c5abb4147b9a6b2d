// The list of all replacement policies, and the lookup of a policy by its name.

#include "simulation/cache/registry.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "simulation/cache/policies/policies.hpp"

namespace plait::simulation {

namespace {

/// Converts to lower case and removes hyphens and underscores, because S3-FIFO is written in many ways.
std::string normalize_name(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != '-' && c != '_') result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

const PolicyKind& find_kind(std::string_view name) {
  // Belady named this policy MIN, others name it OPT.
  const std::string simplified =
      normalize_name(name) == "opt" || normalize_name(name) == "min" ? "belady" : normalize_name(name);
  const auto kind = std::ranges::find(policies(), simplified,
                                      [](const PolicyKind* candidate) { return normalize_name(candidate->name); });
  if (kind != policies().end()) return **kind;
  std::vector<std::string_view> names;
  for (const PolicyKind* candidate : policies()) names.push_back(candidate->name);
  const std::string_view nearest = base::nearest(normalize_name(name), names);
  base::throw_argument_error("there is no replacement policy '", name, "'; the policies are ", base::list_text(names),
                             nearest.empty() ? "" : "; did you mean ", nearest, nearest.empty() ? "" : "?");
}

std::string_view after_question_mark(std::string_view text) {
  const std::size_t mark = text.find('?');
  return mark == std::string_view::npos ? std::string_view() : text.substr(mark + 1);
}

}  // namespace

std::span<const PolicyKind* const> policies() {
  static const PolicyKind* const kPolicies[] = {
      &lru(),   &fifo(),   &clock(),  &lfu(),  &two_queues(),    &arc(),
      &sieve(), &s3fifo(), &belady(), &toss(), &toss_parallel(), &partition(),
  };
  return kPolicies;
}

NamedPolicy::NamedPolicy(std::string_view text)
    : kind_(find_kind(text.substr(0, text.find('?')))),
      parameters_(kind_.name, after_question_mark(text), kind_.parameters) {}

}  // namespace plait::simulation
