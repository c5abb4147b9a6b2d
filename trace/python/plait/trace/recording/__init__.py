"""Records programs, and describes a recording: the files that it leaves out, and the programs that ran."""
