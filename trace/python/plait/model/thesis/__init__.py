"""The numbers that Bordawekar's thesis (1993) prints of the Intel Touchstone Delta, and the model fitted to them."""
