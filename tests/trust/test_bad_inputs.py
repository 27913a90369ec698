# SPDX-License-Identifier: BSD-3-Clause
"""Every wrong argument of the table is refused, in its words, and leaves all data as they were."""

import pytest
from particles.cli.main import main

from tests.trust import bad_commands, bad_inputs, bad_places
from tests.trust.bad_inputs import CALLS
from tests.trust.bad_world import World, figures


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What nothing here changes."""
    with figures():
        yield World(tmp_path_factory.mktemp("bad"))


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    with figures():
        yield World(tmp_path_factory.mktemp("changed"))


def refused(error, words, function, arguments):
    with pytest.raises(error) as caught:
        function(**arguments)
    assert caught.type is error
    assert words in str(caught.value)


def try_wrong_values(call, name, world):
    for wrong in call.wrong[name].wrong:
        value = wrong.given(world)
        arguments = call.arguments(world, **{name: value})
        refused(wrong.error, wrong.refusal(name, value), call.function(world), arguments)


ARGUMENTS = [(call, name) for call in CALLS for name in call.wrong]


@pytest.mark.parametrize(
    ("call", "name"), ARGUMENTS, ids=lambda one: one if isinstance(one, str) else one.name
)
def test_wrong_arguments(call, name, world):
    before = world.sum()
    try_wrong_values(call, name, world)
    assert world.sum() == before


@pytest.mark.parametrize("call", [one for one in CALLS if one.together], ids=lambda call: call.name)
def test_arguments_that_are_wrong_together(call, world):
    before = world.sum()
    for together in call.together:
        arguments = call.arguments(world, **together.given)
        words = together.words.partition("{}")[0]
        refused(together.error, words, call.function(world), arguments)
    assert world.sum() == before


@pytest.mark.sampled
def test_everything_works_as_if_nothing_had_been_refused(tmp_path):
    folders = [tmp_path / "tried", tmp_path / "untouched"]
    for folder in folders:
        folder.mkdir()
    tried, untouched = map(World, folders)
    for call, name in ARGUMENTS:
        try_wrong_values(call, name, tried)
    assert tried.result() == untouched.result()


@pytest.mark.parametrize(
    "call", [one for one in CALLS if not one.is_slow], ids=lambda call: call.name
)
def test_the_same_call_is_right_without_what_is_wrong(call, changed):
    call.function(changed)(**call.arguments(changed))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (f"{command} {option} {given}" if option[0] == "-" else f"{command} {given}", words)
        for command, options in bad_commands.COMMANDS.items()
        for option, values in options.items()
        for given, words in values
    ]
    + bad_commands.FLAGS,
)
def test_wrong_options_end_with_2_and_one_line(command, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no series")
    try:
        code = main(command.split())
    except SystemExit as ended:
        code = ended.code
    output, errors = capsys.readouterr()
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert words in errors


def test_no_public_argument_is_left_out():
    public = bad_places.public_arguments()
    left_out = {
        argument
        for argument in public
        if argument not in bad_inputs.NOT_TRIED
        and argument.partition("(")[0] not in bad_inputs.NOT_TRIED
    }
    assert bad_inputs.tried() == left_out


def test_no_option_is_left_out():
    assert bad_commands.tried() == set(bad_places.options_of_commands())


def test_there_are_at_least_500():
    assert sum(bad_inputs.counts()) >= 500


def test_the_page_is_up_to_date():
    assert bad_inputs.PAGE.read_text() == bad_inputs.page()
