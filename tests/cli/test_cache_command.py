# SPDX-License-Identifier: BSD-3-Clause
"""The cache is shown, and of its folder only what is ours is removed."""

import json
import shutil

import particles as pt
import pytest
from particles import _core
from particles.cli.main import main
from particles.runtime import cache as cache_module
from particles.runtime import linker


def run(capsys, *arguments):
    """Run the command in this process; return its exit code, output and errors."""
    code = main(["cache", *arguments])
    return (code, *capsys.readouterr())


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return a cache folder that holds a file of each kind, and others."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PARTICLES_CACHE", str(folder))
    for kind in ("form", "fastest", "driver"):
        cache_module.write_facts(cache_module.path_of(kind, "fact"), {"known": True})
    monkeypatch.setenv("LIBRARY_PATH", "")
    linker.add_archives()
    context = _core.Context.open(pt.devices()[0].info, str(folder / "programs"))
    context.run_self_test()
    return folder


def test_the_cache_is_shown(cache, capsys):
    sizes = [file.stat().st_size for file in cache.rglob("*") if file.is_file()]
    code, output, _ = run(capsys, "show", "--json")
    facts = json.loads(output)
    assert output == json.dumps(facts, indent=2) + "\n"
    assert (code, facts["folder"], facts["removed"]) == (0, str(cache), False)
    assert all(kind["files"] for kind in facts["kinds"].values())
    assert sum(kind["files"] for kind in facts["kinds"].values()) == len(sizes)
    assert sum(kind["bytes"] for kind in facts["kinds"].values()) == sum(sizes)
    text = run(capsys, "show")[1]
    assert text.startswith(f"cache folder {cache}\n")
    assert f"total    {len(sizes):6} files" in text


def test_all_that_is_ours_is_removed(cache, capsys):
    code, output, errors = run(capsys, "clear")
    assert (code, errors) == (0, "")
    assert output.startswith(f"removed from {cache}\n")
    assert list(cache.iterdir()) == []
    empty = json.loads(run(capsys, "clear", "--json")[1])
    assert empty["removed"]
    assert not any(kind["files"] for kind in empty["kinds"].values())


def test_folders_that_are_gone_are_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "one" / "other" / "cache"))
    path = cache_module.path_of("form", "fact")
    shutil.rmtree(tmp_path / "one")
    cache_module.write_facts(path, {"known": True})
    assert cache_module.read_facts(path) == {"known": True}


def test_what_is_not_ours_stays(cache, capsys, tmp_path):
    key = "0" * 32
    foreign = [cache / "notes.txt", cache / "form-of-mine", cache / f"form-{key}.txt"]
    foreign += [cache / "programs" / "mine.clbin", cache / "empty-archives" / "libm.a"]
    for file in foreign:
        file.write_text("mine")
    target = tmp_path / "elsewhere"
    target.write_text("mine")
    link = cache / f"driver-{key}"
    link.symlink_to(target)
    (cache / f"fastest-{key}").mkdir()
    assert run(capsys, "clear")[0] == 0
    left = {path for path in cache.rglob("*") if not path.is_dir()}
    assert left == {*foreign, link}
    assert (cache / f"fastest-{key}").is_dir()
    assert target.read_text() == "mine"


def test_folders_behind_links_are_not_cleared(cache, capsys, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (cache / "empty-archives").rename(elsewhere)
    (cache / "empty-archives").symlink_to(elsewhere)
    assert run(capsys, "clear")[0] == 0
    assert sorted(file.name for file in elsewhere.iterdir()) == sorted(linker.ARCHIVES)


def test_a_machine_without_a_cache_folder(capsys, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", "/dev/null/cache")
    words = "the cache folder /dev/null/cache is not used, and nothing is kept: "
    for action in ("show", "clear"):
        code, output, errors = run(capsys, action)
        assert (code, errors) == (0, "")
        assert output.startswith(words)


def test_the_folder_of_the_driver_is_told_and_left_alone(cache, capsys, monkeypatch, tmp_path):
    kept = tmp_path / "pocl"
    kept.mkdir()
    (kept / "program.bc").write_text("built")
    monkeypatch.setenv("POCL_CACHE_DIR", str(kept))
    assert (
        f"PoCL keeps what it builds in {kept}: nothing is removed there" in run(capsys, "show")[1]
    )
    assert json.loads(run(capsys, "clear", "--json")[1])["pocl"] == str(kept)
    assert (kept / "program.bc").exists()
