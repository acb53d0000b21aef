"""`python -m npufuse` is the npufuse command: it replaces this process."""
import os
import sys

from npufuse._find import find_npufuse_bin


def main():
    try:
        command = find_npufuse_bin()
    except FileNotFoundError as error:
        print(f"npufuse: {error}", file=sys.stderr)
        return 2
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
