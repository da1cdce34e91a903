"""Prints how long hblite takes to start, to rewind and to fork: medians over many times."""

import statistics
import time

import hblite

STARTS = 20
CHANGES = 200


def millis(action, times):
    """The median of an action's duration in milliseconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        durations.append((time.perf_counter() - start) * 1000)
    return statistics.median(durations)


def main():
    servers = []
    print(f"start          {millis(lambda: servers.append(hblite.start()), STARTS):.1f} ms")
    server, *others = servers
    for other in others:
        other.stop()
    server.checkpoint("base")
    print(f"rewind         {millis(lambda: server.rewind('base'), CHANGES):.2f} ms")
    forks = []
    print(f"fork           {millis(lambda: forks.append(server.fork('base')), CHANGES):.2f} ms")
    print(f"               with {len(forks)} forks open")
    server.stop()


if __name__ == "__main__":
    main()
