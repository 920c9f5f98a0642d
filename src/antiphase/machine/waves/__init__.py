"""What waves are while they run: entry state, turns, pending operations, events, faults, host threads."""
