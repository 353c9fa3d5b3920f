"""Use as many threads as there are cores that nobody else uses.

Threads that wait for each other are slower than one thread as soon as one of them shares its core.
"""
import os
import time

import torch

TICK = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """CPU seconds all processes have used, niced ones and the kernel's part included."""
    with open("/proc/stat") as f:
        fields = [int(x) for x in f.readline().split()[1:]]
    return sum(fields[i] for i in (0, 1, 2, 5, 6)) / TICK


class Threads:
    def __init__(self, most, every=3.0):
        self.most, self.every = most, every
        torch.set_num_threads(most)
        self.mark()

    def mark(self):
        self.wall, self.busy, self.own = time.time(), busy_seconds(), time.process_time()

    def update(self):
        """Call often; looks at the machine every few seconds."""
        wall = time.time() - self.wall
        if wall < self.every:
            return
        others = (busy_seconds() - self.busy - (time.process_time() - self.own)) / wall
        # A core counts as taken when others use more than a tenth of it.
        torch.set_num_threads(max(1, self.most - int(others + 0.9)))
        self.mark()
