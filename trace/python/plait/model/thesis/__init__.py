"""The measurements of the Intel Touchstone Delta in Bordawekar's thesis (1993), and the model fitted to them."""
