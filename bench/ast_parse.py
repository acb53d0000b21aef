"""CPython's own parser over a list of files: ast_parse.py LIST

Prints `seconds files bytes failed parse`; seconds is CPU time of reading and
parsing, without the start of Python, and parse that of parsing alone."""
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
    texts = []
    for path in paths:
        with open(path, "rb") as file:
            texts.append(file.read())
    read = time.process_time() - start
    for data in texts:
        size += len(data)
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            failed += 1
    seconds = time.process_time() - start
    print(f"{seconds:.4f} {len(paths)} {size} {failed} {seconds - read:.4f}")


if __name__ == "__main__":
    main()
