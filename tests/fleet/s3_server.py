"""A server that speaks S3 (moto) with one bucket, `runs`, on a loopback address. It prints the
address, and ends when its input ends.

It serves one request after the other, so that a conditional write is atomic, as S3 promises and
moto with threads does not.
"""

import logging
import sys
import threading

import boto3
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)
application = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, application, threaded=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
client = boto3.client("s3", endpoint_url=address, region_name="us-east-1",
                      aws_access_key_id="fleet", aws_secret_access_key="made-up")
client.create_bucket(Bucket="runs")
print(address, flush=True)
sys.stdin.read()
