"""CPython's own parser over a list of files: ast_parse.py LIST

Prints `seconds files bytes failed`; seconds is CPU time of reading and
parsing, without the start of Python."""
import ast
import sys
import time
import warnings


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[1], encoding="utf-8") as file:
        paths = file.read().splitlines()
    size = failed = 0
    start = time.process_time()
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        size += len(data)
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            failed += 1
    print(f"{time.process_time() - start:.4f} {len(paths)} {size} {failed}")


if __name__ == "__main__":
    main()
