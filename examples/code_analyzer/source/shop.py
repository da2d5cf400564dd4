"""Prints the books."""

from ledger import add, report


def main():
    entries = add(add([], 12.5, "bread"), -3.25, "flour")
    # OPEN: read the entries from a file
    print(report(entries))


main()
