"""Files of safetensors, as studies and tests of programs read and write them."""
import json, struct


def read(file):
    """{name: (type, shape, bytes)}"""
    data = file.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    return {name: (t["dtype"], t["shape"], data[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]])
            for name, t in json.loads(data[8:begin]).items() if name != "__metadata__"}


def write(file, tensors):
    header, data = {}, b""
    for name, (kind, shape, values) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)
