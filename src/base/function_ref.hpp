/// A reference to a callable object, for parameters that are used only during the call.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace plait::base {

template <typename Signature>
class FunctionRef;

/// Refers to a callable object, which must outlive it. Unlike std::function, it allocates no memory.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename Body>
    requires(!std::is_same_v<std::remove_cvref_t<Body>, FunctionRef>)
  FunctionRef(Body&& body) noexcept  // NOLINT: implicit, like the constructor of std::function
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* callable, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Body>*>(callable))(std::forward<Arguments>(arguments)...);
        }) {}
  Result operator()(Arguments... arguments) const { return call_(body_, std::forward<Arguments>(arguments)...); }

 private:
  void* body_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace plait::base
