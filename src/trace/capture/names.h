/* One function under a second name. */
#pragma once

#define ALIAS(TYPE, NAME, OF, PARAMETERS) __attribute__((visibility("default"), alias(#OF))) TYPE NAME PARAMETERS
