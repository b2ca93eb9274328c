"""Names and labels of any text come out of each dialect's parser as they went in, and nothing besides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from singleindex import SingleIndexClassifier
from singleindex.cli.exporting import sql_text
from singleindex.cli.model_file import ModelFile
from singleindex.export import DIALECTS, to_sql
from singleindex.export.as_sql import feature_expressions, literal, quoted
from singleindex.tables.preparation import Preparation

sqlglot = pytest.importorskip("sqlglot")
exp = sqlglot.exp

HOSTILE = [
    "\\", "\\\\", "'", "''", "\\'", "'\\", '"', "`", "\\`", "]", "]]", "--", "/*", "*/", ";", "a\nb",
    "a\r\nb", "a\\\nb", "a\\\r\nb", "a\tb", "\\n", "\\x41", "\\u0041", "\\101", "${x}", "{{ x }}", "%s", "?",
    ":x", "@x", "ünïcode ✓ 🧬", "\u202eabc", "\x1b[31m", "' OR 1=1 --", "\\' OR (SELECT 1) -- ",
    "\\'); DROP TABLE t; --", "\\` FROM u --", "x' || (SELECT 1) || '", "N'", "$$", "q'[", "'''",
    '"""', "r'", "\x7f", "\u2028", "\x0b",
]  # fmt: skip
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=12)
ODD_TEXT = st.text("'\\\"`[]\n\r\t;-*/()nNxu0 aé", min_size=1, max_size=12) | TEXT


# All that a query for a label and a column of a table consists of.
EXPECTED = {
    exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Identifier, exp.Column, exp.Literal, exp.National,
    exp.Paren, exp.Add,
}  # fmt: skip


def parse(text, dialect):
    return sqlglot.parse_one(text, dialect={"ansi": "", "mssql": "tsql"}.get(dialect, dialect))


def text_of(node):
    """Return the text that a literal stands for; one of SQL Server may be a sum in parentheses."""
    if isinstance(node, exp.Paren):
        return text_of(node.this)
    if isinstance(node, exp.Add):
        return text_of(node.left) + text_of(node.right)
    assert isinstance(node, exp.National) or (isinstance(node, exp.Literal) and node.is_string)
    return node.this


def assert_exact(text, dialect):
    """Assert that a query with the text as label, column and table has these three parts only."""
    query = f"SELECT {literal(text, dialect)}, t.{quoted(text, dialect)} FROM {quoted(text, dialect)} AS t"
    select = parse(query, dialect)
    assert {type(node) for node in select.walk()} <= EXPECTED
    label, column = select.expressions
    assert text_of(label) == text
    assert isinstance(column, exp.Column)
    assert column.name == text
    tables = list(select.find_all(exp.Table))
    assert [table.this.this for table in tables] == [text]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back(text, dialect):
    assert_exact(text, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=ODD_TEXT)
def test_any_text_comes_back(dialect, text):
    assume(dialect != "bigquery" or "." not in text)  # there a dot parts a name, quoted or not
    assert_exact(text, dialect)


def test_the_assertion_fails_where_text_gets_out():
    with pytest.raises(AssertionError):
        assert text_of(parse("SELECT 'a' || 'b'", "ansi").expressions[0]) == "ab"
    with pytest.raises(AssertionError):
        assert text_of(parse("SELECT 'a\\\\'", "duckdb").expressions[0]) == "a\\"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_what_no_dialect_can_hold_is_refused(dialect, text):
    for write in (literal, quoted):
        with pytest.raises(ValueError, match="cannot be written in SQL; rename"):
            write(text, dialect)


def test_labels_that_are_no_plain_values_are_refused():
    with pytest.raises(ValueError, match="class labels must be text or numbers"):
        literal(b"x' OR 1", "ansi")


# ---------------------------------------------------------------- whole models


def fitted(labels, names):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, len(names)))
    y = np.array(labels, dtype=object)[np.digitize(X.sum(axis=1), np.linspace(-1, 1, len(labels) + 1)[1:-1])]
    return SingleIndexClassifier().fit(pd.DataFrame(X, columns=names), y)


def shape_of(tree):
    """Return the kinds of nodes in a tree, in order; the sums of SQL Server's texts count as one."""
    return [type(node) for node in tree.walk() if not isinstance(node, exp.National | exp.Literal)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("hostile", ["\\' OR (SELECT 1) -- ", "it's \\", 'a\nb `"]'])
def test_models_with_hostile_names_are_as_those_with_plain_ones(dialect, hostile):
    labels = [hostile, hostile + "'", "z"]
    plain = fitted(["a", "b", "z"], ["x", "y"])
    model = fitted(labels, [hostile, hostile + "\\"])
    found = parse(f"SELECT {to_sql(model, dialect=dialect, value='class')}", dialect)
    expected = parse(f"SELECT {to_sql(plain, dialect=dialect, value='class')}", dialect)
    assert shape_of(found) == shape_of(expected)
    assert {c.name for c in found.find_all(exp.Column)} == {
        {"x": hostile, "y": hostile + "\\"}.get(c.name, c.name) for c in expected.find_all(exp.Column)
    }
    assert {text_of(n) for n in found.find_all(exp.Literal, exp.National) if not n.is_number} == set(labels)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("hostile", ["\\' OR (SELECT 1) -- ", "it's \\", 'a\nb `"]'])
def test_categories_and_fills_of_the_command_line(dialect, hostile):
    model = fitted(["no", "yes"], ["f"])
    preparation = Preparation(["c"], ["category"], [hostile], {"c": ["", hostile]}, {}, "median")
    file = ModelFile(model, preparation, {})
    (expression,) = feature_expressions(preparation.recipe(), {0}, None, dialect)
    texts = [text_of(n) for n in parse(f"SELECT {expression}", dialect).find_all(exp.Literal) if n.is_string]
    assert set(texts) == {hostile}
    query = parse(sql_text(file, dialect, "expected", None, hostile), dialect)
    assert [table.name for table in query.find_all(exp.Table)] == [hostile]
