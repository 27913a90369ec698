# SPDX-License-Identifier: BSD-3-Clause
"""Small wrong changes of a source text, such as a plus for a minus, one at a time."""

import ast
import hashlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SWAPPED_OF_KIND = {
    "sign": {"+": "-", "-": "+", "+=": "-=", "-=": "+="},
    "weight": {"*": "/", "/": "*", "//": "*"},
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&", "and": "or", "or": "and"}
    | {"true": "false", "false": "true", "True": "False", "False": "True"},
    "limit": {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}
    | {"LEAST_OF": "GREATEST_OF", "GREATEST_OF": "LEAST_OF"}
    | {"LEAST_OF_3": "GREATEST_OF_3", "GREATEST_OF_3": "LEAST_OF_3"},
    "axis": {"row": "lane", "lane": "outer", "axis": "0"},
    "end": {"LOW": "HIGH", "HIGH": "LOW", "begin": "end"},
    "wrap": {"wrap": "min", "%": "-"},
    "margin": {name: f"({name} - 1)" for name in ("MARGIN", "margin", "reach", "reach_")},
}
SWAPPED = {word: after for swaps in SWAPPED_OF_KIND.values() for word, after in swaps.items()}
KIND = {word: kind for kind, swaps in SWAPPED_OF_KIND.items() for word in swaps}

# Operators that join two operands have blanks around them: a pointer's star and a sign have not.
IN_C = re.compile(
    r"(?<= )(?:\+=|-=|<=|>=|==|!=|&&|\|\||[-+*/%<>])(?= )"
    r"|\b(?:true|false|min|max|floor|ceil|LOW|HIGH|row|lane|(?<![.>])begin|begin(?=\()|(?:LEAST|GREATEST)_OF(?:_3)?)\b"
    r"(?=[ ,;)(])"
    r"|(?<=[\[(])axis(?=[\])])|\bwrap(?=\()"
    r"|(?<!\w )(?<![.>\w])(?:MARGIN|margin|reach_?)(?=[ ;,)]|$)(?! =)"
    r"|(?<![\w.])\d(?![\w.])|(?<=REAL\()\d\.\d+(?=\))"
)
CONDITION_IN_C = re.compile(r"(?<=\bif \()[^;{}\n]+(?=\) [\w{*])")
STATEMENT_IN_C = re.compile(
    r"(?<=\n) +(?!return|break|continue|else|for|while)"
    r"(\w[\w>.-]*(?:\[[^]\n]*\])*(?: [-+*/&|]?= [^;{}\n]+|\+\+|--|\([^;{}\n]*\));)(?=\n)"
)
NOT_CODE_IN_C = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:include|if|pragma)[^\n]*'
    r"|throw [^;]*;|static_assert[^;]*;|template <[^>]*>",
    re.DOTALL | re.MULTILINE,
)
BODY_IN_C = re.compile(r"\)(?: const| noexcept| override)* \{")
WORDS_IN_PYTHON = {"+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!="} | {
    *("and", "or", "True", "False", "min", "max")
}
NOT_CHANGED_IN_PYTHON = ("def", "raise", "import", "from", "class", "@", "assert")

IGNORED, DROPPED = "ignored condition", "dropped statement"

# Where it starts, what is there, what comes there, and the kind of mistake.
Mistake = tuple[int, str, str, str]


@dataclass(frozen=True)
class Mutant:
    """Text of a file that is replaced by another."""

    path: str
    start: int
    before: str
    after: str
    kind: str
    line: int
    code: str  # the line with the mistake, or what is left out

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}"

    @property
    def name(self) -> str:
        """Say what is wrong, wherever in its file."""
        return f"{self.kind}: {self.code}"

    def apply(self, text: str) -> str:
        """Return the text with the change."""
        end = self.start + len(self.before)
        assert text[self.start : end] == self.before
        return text[: self.start] + self.after + text[end:]


def swapped(start: int, word: str) -> Mistake:
    """Return the place of an operator, a name or a number."""
    if word.isdecimal():
        return start, word, str(int(word) + 1), "off by one"
    if word[0].isdecimal():
        return start, word, str(float(word) + 0.125), "weight"
    return start, word, SWAPPED[word], KIND[word]


def blanked(text: str) -> str:
    """Return as many blanks, on as many lines."""
    return re.sub(r"[^\n]", " ", text)


def bodies(code: str) -> str:
    """Return what functions of a header do: declarations and first values compute nothing."""
    kept, end = "", 0
    for found in BODY_IN_C.finditer(code):
        start = found.end()
        if start > end:
            kept += blanked(code[end:start])
            end, depth = start, 1
            while depth:
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                end += 1
            kept += code[start:end]
    return kept + blanked(code[end:])


def places_in_c(text: str, is_header: bool = False) -> Iterator[Mistake]:
    """Yield what can be replaced in C++ or OpenCL C."""
    code = NOT_CODE_IN_C.sub(lambda found: blanked(found[0]), text)
    code = bodies(code) if is_header else code
    lines = text.splitlines()
    for found in IN_C.finditer(code):
        joins_text = '"' in lines[text.count("\n", 0, found.start())]
        if not (joins_text and found[0] in ("+", "+=")):  # text has no difference
            yield swapped(found.start(), found[0])
    for found in CONDITION_IN_C.finditer(code):
        if found[0].count("(") == found[0].count(")"):
            yield found.start(), text[found.start() : found.end()], "false", IGNORED
    for found in STATEMENT_IN_C.finditer(code):
        if found[0].count("(") == found[0].count(")"):
            yield found.start(1), text[found.start(1) : found.end(1)], ";", DROPPED


def words_in_python(text: str, starts: list[int]) -> Iterator[Mistake]:
    """Yield operators and words, without annotations, assertions and what is raised."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.NL, tokenize.COMMENT)
    ]
    statement = ""
    for before, token in zip([tokens[0], *tokens], tokens, strict=False):
        if before.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            statement = token.string
        ends = before.type in (tokenize.NAME, tokenize.NUMBER) or before.string in (")", "]")
        joins = ends and not keyword.iskeyword(before.string)
        is_operator = token.type == tokenize.OP and token.string in WORDS_IN_PYTHON and joins
        is_word = token.type == tokenize.NAME and token.string in WORDS_IN_PYTHON
        is_digit = token.type == tokenize.NUMBER and re.fullmatch(r"\d", token.string)
        is_axis = token.string == "axis" and before.string == "["
        start = starts[token.start[0] - 1] + token.start[1]
        asserts = statement in NOT_CHANGED_IN_PYTHON or text.endswith("strict=", 0, start)
        if not asserts and (is_operator or is_word or is_digit or is_axis):
            yield swapped(start, token.string)


def is_effect(node: ast.AST) -> bool:
    """Whether a statement may be dropped and leaves a text in which every name is known."""
    if isinstance(node, ast.Assign):
        return all(isinstance(name, (ast.Attribute, ast.Subscript)) for name in node.targets)
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )


def parts_of_python(text: str, starts: list[int]) -> Iterator[Mistake]:
    """Yield conditions and statements."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If):
            part, after, kind = node.test, "False", IGNORED
        elif is_effect(node):
            part, after, kind = node, "pass", DROPPED
        else:
            continue
        start = starts[part.lineno - 1] + part.col_offset
        end = starts[part.end_lineno - 1] + part.end_col_offset
        yield start, text[start:end], after, kind


def places_in_python(text: str) -> Iterator[Mistake]:
    """Yield what can be replaced in Python."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    yield from words_in_python(text, starts)
    if text.isascii():  # where columns in bytes are those of characters
        yield from parts_of_python(text, starts)


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Return every mutant of a file."""
    text = (root / path).read_text(encoding="utf-8")
    mutants = []
    is_header = path.endswith(".hpp")
    places = places_in_python(text) if path.endswith(".py") else places_in_c(text, is_header)
    for start, word, after, kind in places:
        number = text.count("\n", 0, start) + 1
        begin, end = text.rfind("\n", 0, start) + 1, text.find("\n", start + len(word))
        wrong = text[begin:start] + after + text[start + len(word) : end]
        code = " ".join(word.split()) if kind in (IGNORED, DROPPED) else wrong.strip()
        mutants.append(Mutant(path, start, word, after, kind, number, code))
    return mutants


def language_of(path: str) -> str:
    """Return the language of a file."""
    return {".py": "Python", ".cl": "kernels"}.get(Path(path).suffix, "C++")


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw from each kind of each language in turn, so that a frequent one leaves room for others.

    A lot says which: where a source changes, what is drawn elsewhere stays.
    """

    def lot(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.path} {mutant.name}".encode()).hexdigest()

    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in sorted(mutants, key=lot):
        groups.setdefault((mutant.kind, language_of(mutant.path)), []).append(mutant)
    in_turn = [groups[key] for key in sorted(groups)]
    turns = max(map(len, in_turn), default=0)
    drawn = [group[turn] for turn in range(turns) for group in in_turn if turn < len(group)]
    return drawn[:count]
