"""A dataset in moto, a server that speaks S3, on a loopback address."""

import contextlib
import logging
import os
import urllib.request

KEYS = {"AWS_ACCESS_KEY_ID": "fleet", "AWS_SECRET_ACCESS_KEY": "made-up", "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
BUCKET = "runs"


@contextlib.contextmanager
def served(root):
    """Copies a dataset into a bucket, and serves it until the block ends: the address."""
    import boto3
    from moto.server import ThreadedMotoServer

    os.environ.update(KEYS)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        # All servers of a process share their buckets: this one begins with none.
        reset = urllib.request.Request(f"{address}/moto-api/reset", method="POST")
        urllib.request.urlopen(reset).close()
        client = boto3.client("s3", endpoint_url=address)
        client.create_bucket(Bucket=BUCKET)
        for path in sorted(root.rglob("*.parquet")):
            client.upload_file(str(path), BUCKET, f"fleet/{path.relative_to(root)}")
        yield address
    finally:
        server.stop()
