"""Branches, calls, barriers, waits, messages, hardware registers and MODE."""
