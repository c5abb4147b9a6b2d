"""The environment variables by which the processes of one job find each other without MPI."""

JOB = "PLAIT_JOB"
SIZE = "PLAIT_SIZE"
RANK = "PLAIT_RANK"
JOB_VARIABLES = (JOB, SIZE, RANK)
