"""One Dask cluster for all tests that need one: its workers are processes and take seconds to start."""

import contextlib
import warnings

import pytest


@pytest.fixture(scope="session")
def cluster():
    """A LocalCluster of one worker process and its client; scale it with `with_workers`."""
    distributed = pytest.importorskip("distributed", reason="pip install 'singleindex[dask]'")
    import dask

    # Any free port for the status pages; nothing but this machine is reached.
    settings = {"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}
    with dask.config.set(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of starting and stopping processes, none of it ours
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        )
        client = distributed.Client(cluster)
        yield cluster, client
        client.close()
        # Where a worker was killed, the cluster may hear of its end before it knew of it, and says so here.
        with contextlib.suppress(KeyError):
            cluster.close()


@pytest.fixture
def with_workers(cluster):
    """Scale the cluster, and return its client."""

    def scale(n_workers):
        cluster, client = cluster_and_client
        cluster.scale(n_workers)
        client.wait_for_workers(n_workers, timeout=60)
        while len(client.scheduler_info(n_workers=-1)["workers"]) > n_workers:
            pass
        return client

    cluster_and_client = cluster
    return scale
