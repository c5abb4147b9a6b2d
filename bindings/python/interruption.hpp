/// Signals that arrive while the program waits in C++ for another program.
#pragma once

namespace plait::python {

/// Lets Python's handlers of signals end such waits.
void heed_signals();

/// Raises what the handler that ended the last one has raised.  Returns whether there was any.
bool raise_interruption();

}  // namespace plait::python
