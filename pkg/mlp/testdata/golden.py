"""Writes golden.safetensors: a random 64-64-32-1 network evaluated by NumPy, as an independent reference for pkg/mlp.

Run once with Debian's python3-numpy (1.24): python3 golden.py
"""

import json
import struct

import numpy as np

random = np.random.default_rng(20261121)
widths = [64, 64, 32, 1]
tensors = {}
rows = random.standard_normal((16, widths[0])).astype(np.float32)
tensors["golden.inputs"] = rows
signal = rows.astype(np.float64)
for number, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
    weight = (random.standard_normal((outputs, inputs)) / np.sqrt(inputs)).astype(np.float32)
    bias = random.standard_normal(outputs).astype(np.float32)
    tensors[f"layers.{number}.weight"], tensors[f"layers.{number}.bias"] = weight, bias
    signal = signal @ weight.astype(np.float64).T + bias
    if number < len(widths) - 2:
        signal = np.maximum(signal, 0)
tensors["golden.outputs"] = signal[:, 0].astype(np.float32)

header = {
    "__metadata__": {
        "format": "vicinity.dev/model/v1",
        "architecture": "-".join(map(str, widths)),
        "name": "numpy",
        "schema": "none/v0",
        "schemaHash": "numpy",
    }
}
body = b""
for name, values in tensors.items():
    data = values.astype("<f4").tobytes()
    header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(body), len(body) + len(data)]}
    body += data
text = json.dumps(header).encode()
with open("golden.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + body)
