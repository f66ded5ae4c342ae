"""What MLPScore is compared with: PyTorch, and the predecessor's way over HTTP.

Both are optional. PyTorch (python3-torch) evaluates a network of 64-64-32-1 for all nodes at once on one thread. The
HTTP path (python3-flask) is a service as the predecessor's was: it gets the pod and all nodes as JSON and answers with a
score for each, from a network of 4-16-1 with 97 parameters, evaluated node by node. Medians are printed.
"""

import json
import statistics
import threading
import time
import urllib.request

REPEATS = 30


def median_ms(run, repeats=REPEATS):
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def bench_torch():
    try:
        import torch
    except ImportError:
        print("PyTorch: skipped, there is no python3-torch here")
        return
    torch.set_num_threads(1)
    net = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
    )
    with torch.inference_mode():
        for rows in (500, 5000):
            inputs = torch.rand(rows, 64)
            print(f"PyTorch {torch.__version__}, one thread, {rows} rows: {median_ms(lambda: net(inputs)):.2f} ms")


def scorer():
    """Returns a function from four numbers to a score: PyTorch's where it is there, else plain Python's."""
    try:
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Sigmoid())

        def score(values):
            with torch.no_grad():
                return int(100 * net(torch.tensor(values)).item())

        return score, "PyTorch"
    except ImportError:
        weights = [[0.01 * (i + j) for i in range(4)] for j in range(16)]
        return lambda values: int(sum(max(0.0, sum(w * v for w, v in zip(row, values))) for row in weights)) % 100, "plain Python"


def node(i):
    return {
        "metadata": {"name": f"node-{i:04d}", "labels": {"kubernetes.io/hostname": f"node-{i:04d}"}},
        "status": {
            "capacity": {"cpu": "96", "memory": "393216Mi", "pods": "110"},
            "allocatable": {"cpu": "96", "memory": "393216Mi", "pods": "110"},
        },
    }


def bench_http():
    try:
        import logging

        import flask
        from werkzeug.serving import make_server
    except ImportError:
        print("HTTP path: skipped, there is no python3-flask here")
        return
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    score, how = scorer()
    app = flask.Flask("scorer")

    @app.post("/score")
    def answer():
        question = flask.request.get_json()
        scores = {}
        for n in question["nodes"]:
            allocatable = n["status"]["allocatable"]
            memory = float(allocatable["memory"].removesuffix("Mi")) * 2**20
            scores[n["metadata"]["name"]] = score([float(allocatable["cpu"]), memory, 4.0, 8.0 * 2**30])
        return {"scores": scores}

    server = make_server("127.0.0.1", 0, app)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    body = json.dumps({"pod": {"metadata": {"name": "p"}}, "nodes": [node(i) for i in range(1213)]}).encode()

    def ask():
        request = urllib.request.Request(
            f"http://127.0.0.1:{server.server_port}/score", data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            if len(json.load(response)["scores"]) != 1213:
                raise SystemExit("the service did not score all nodes")

    print(f"HTTP path, network of 97 parameters by {how}, 1213 nodes: {median_ms(ask, 10):.1f} ms")
    server.shutdown()


bench_torch()
bench_http()
