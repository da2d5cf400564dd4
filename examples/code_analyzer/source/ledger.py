"""Keeps the books of a small shop."""


def add(entries, amount, note):
    # OPEN: refuse amounts that are not numbers
    return entries + [(amount, note)]


def total(entries):
    return sum(amount for amount, _ in entries)


def report(entries):
    # OPEN: group by month
    lines = [f"{amount:>8.2f}  {note}" for amount, note in entries]
    return "\n".join(lines + [f"{total(entries):>8.2f}  total"])
