"""Pieces of Python out of CPython's own tests, most of them meant to be wrong.

Each string constant and each doctest example of the grammar tests in the
standard library is taken for a program. What CPython's parser says of it, the
compiler left out, is what ours must say."""
import ast
import doctest
import sysconfig
from pathlib import Path

TESTS = """test_syntax test_grammar test_fstring test_patma test_exceptions
    test_named_expressions test_positional_only_arg test_string_literals
    test_eof test_unpack_ex test_unpack test_generators test_genexps
    test_listcomps test_setcomps test_dictcomps test_keywordonlyarg
    test_except_star test_coroutines test_peg_generator/test_c_parser
    test_pep646_syntax test_unparse test_ast test_compile test_tokenize
    test_source_encoding test_unicode_identifiers test_global test_scope
    test_lambda test_with test_async_comprehension test_asyncgen test_numeric
    test_int_literal test_complex test_float test_utf8source test_decorators
    test_dis test_symtable test_codeop test_parser test_type_comments
    test_type_annotations test_annotations test_future_stmt/test_future
    test_cmd_line_script test_traceback test_lib2to3""".split()


def examples(text):
    try:
        for example in doctest.DocTestParser().get_examples(text):
            yield example.source
    except ValueError:
        pass


def snippets():
    """Every distinct text, in a stable order."""
    folder = Path(sysconfig.get_paths()["stdlib"]) / "test"
    seen = {}
    for name in TESTS:
        path = folder / f"{name}.py"
        if not path.exists():
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if not isinstance(node, ast.Constant):
                continue
            if not isinstance(node.value, str):
                continue
            seen[node.value] = True
            for source in examples(node.value):
                seen[source] = True
    return list(seen)


def write_snippets(folder):
    """The paths of the snippets as files in `folder`."""
    paths = []
    for number, text in enumerate(snippets()):
        path = Path(folder) / f"snippet_{number:05}.py"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        paths.append(path)
    return paths
