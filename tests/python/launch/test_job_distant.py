"""Files on other ranks' disks, and Shared Files, of ranks without MPI."""

import time

import jobs
import pytest


@pytest.mark.long
def test_ranks_access_files_of_other_ranks(tmp_path, nothing_left):
    source = f"""
    from plait import distant
    path = "{tmp_path}/own" + str(rank)
    with distant.open(path, "w", comm=comm) as files:
        for server in range(size):
            files.write(rank * 4000, np.full(1000, 100 * rank + server, "i4"), server)
        comm.barrier()
        for server in range(size):
            for part in range(size):
                actual = files.read(part * 4000, np.empty(1000, "i4"), server)
                assert (actual == 100 * part + server).all(), (server, part)
        comm.barrier()
    print("equal")
    """
    assert jobs.check_output(3, source) == "equal\n" * 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("striped", [False, True])
def test_all_ranks_access_a_shared_file(striped, tmp_path):
    source = f"""
    from plait import shared
    with shared.open("{tmp_path}/all", "w", comm=comm, striped={striped}) as file:
        file.write(rank * 5000, np.full(5000, rank, "u1"))
        comm.barrier()
        actual = file.read(0, np.empty(5000 * size, "u1"))
        assert (actual == np.repeat(np.arange(size), 5000)).all()
        comm.barrier()
    print("equal")
    """
    assert jobs.check_output(3, source) == "equal\n" * 3


def test_an_array_on_the_disks_of_all_ranks(tmp_path, nothing_left):
    source = f"""
    whole = np.arange(2400.0).reshape(60, 40)
    rows = plait.Layout((60, 40), "(cyclic(3), *)", grid=(size,))
    columns = plait.Layout((60, 40), "(*, block)", grid=(size,))
    with plait.open("distant:a?folder={tmp_path}", "w", comm=comm, shape=(60, 40), dtype="f8") as file:
        file.write(np.ascontiguousarray(whole[rows.indices(rank)[0]]), rows)
    with plait.open("distant:a?folder={tmp_path}", comm=comm) as file:
        assert (file.read(columns) == whole[:, columns.indices(rank)[1]]).all()
    print("equal")
    """
    assert jobs.check_output(3, source) == "equal\n" * 3


def test_a_killed_rank_is_an_error_of_calls_to_it(tmp_path):
    source = f"""
    from plait import distant
    with distant.open("{tmp_path}/own" + str(rank), "w", comm=comm, temporary=True) as files:
        files.write(0, np.zeros(1000), (rank + 1) % size)
        comm.barrier()
        print("there", flush=True)
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.5)
        try:
            comm.barrier()
        except plait.Error as error:
            print(time.time(), error, flush=True)
        os._exit(0)
    """
    with jobs.start_by_hand(
        jobs.python_command(source), *(jobs.rank_environment(rank, 3) for rank in range(3))
    ) as ranks:
        for process in ranks:
            assert process.stdout.readline() == "there\n"
        ended = time.time()
        for process in (ranks[0], ranks[2]):
            seconds, _, message = process.communicate(timeout=300)[0].partition(" ")
            assert "rank 1 has ended" in message
            assert float(seconds) - ended < 15
