"""By what processes that are started together without MPI know each other."""

JOB = "PLAIT_JOB"
SIZE = "PLAIT_SIZE"
RANK = "PLAIT_RANK"
JOB_VARIABLES = (JOB, SIZE, RANK)
