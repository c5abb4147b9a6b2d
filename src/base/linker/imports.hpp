/// Functions that loaded objects take from other ones.
#pragma once

namespace plait::base {

/// Makes all objects that are loaded now call `replacement` where they call the function `name` of another object.
/// Returns the number of addresses that were replaced, 0 on processors other than x86-64 and AArch64.
///
/// A library whose function of that name comes first in the order of the linker would do so only for programs that list
/// it before the original, and not at all for modules that dlopen() has loaded with RTLD_LOCAL, as Python does.  So this
/// writes the tables of addresses in which the dynamic linker keeps what it has found (the technique of GOTCHA).  An
/// object that asks dlsym() for the address gets the original.
/// threads  One at a time.
int redirect_imports(const char* name, void (*replacement)());

/// A number that changes when an object is loaded.
unsigned long long loaded_objects();

}  // namespace plait::base
