"""How collective calls run: communicators, errors that all ranks get, calls that are waited for, handles given up."""
