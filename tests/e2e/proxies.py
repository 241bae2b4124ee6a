"""nginx as a plain proxy that keeps its connections to the service alive."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.servers import free_port, running

CONFIG = """
daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {directory}/bodies;
    proxy_temp_path {directory}/answers;
    upstream petstore {{
        server {upstream};
        keepalive 2;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://petstore;
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
        }}
    }}
}}
"""


@contextmanager
def nginx(directory: Path, upstream: str) -> Iterator[int]:
    """Run a single nginx process for the duration of the block; yield its port."""
    directory.mkdir()
    port = free_port()
    config = directory / "nginx.conf"
    config.write_text(
        CONFIG.format(directory=directory, upstream=upstream, port=port),
        encoding="utf-8",
    )
    command = ["nginx", "-c", str(config), "-p", str(directory)]
    with running(command, port, directory / "nginx.log"):
        yield port
