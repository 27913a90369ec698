# SPDX-License-Identifier: BSD-3-Clause
"""`script/release` in a small repository, whose other programs only note that they were run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDRESS = "https://example.org/people/particles"
pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / "script").is_dir(),
    reason="git and script/ are needed",
)

NOTE = '#!/bin/sh\nbasename "$0" >>"$NOTES"\n'
WHEEL = """#!/bin/sh
cd "$(dirname "$0")/.."
mkdir -p dist .venv/bin
touch dist/it.whl dist/it.tar.gz
for tool in python cffconvert; do
  echo '#!/bin/sh' >.venv/bin/$tool
  echo "echo $tool \\"\\$@\\" >>\\"\\$NOTES\\"; test \\"\\$FAILS\\" != $tool" >>.venv/bin/$tool
  chmod +x .venv/bin/$tool
done
"""


class Repository:
    """A copy of what a release looks at, with another place that it was cloned from."""

    def __init__(self, folder):
        self.folder, self.notes = folder / "here", folder / "notes"
        self.folder.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "NOTES": str(self.notes),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for name, content in {
            "pyproject.toml": f'[project]\nversion = "1.2.0"\n[project.urls]\nRepository = "{ADDRESS}"\n',
            "CHANGELOG.md": "# Changelog\n\n## 1.2.0\n\n## 1.1.0\n",
            "CITATION.cff": f"cff-version: 1.2.0\nversion: 1.2.0\nrepository-code: {ADDRESS}\n",
            ".gitignore": "/build/\n/dist/\n/.venv/\n",
            "script/release": (ROOT / "script" / "release").read_text(),
            "script/wheel": WHEEL,
            "script/bare-root": NOTE,
            "script/aarch64": NOTE,
            ".ci/run": NOTE,
        }.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
            path.chmod(0o755)
        self.git("init", "--quiet")
        # An address like those of ssh, for a folder.
        self.git("remote", "add", "origin", "git@example.org:people/particles.git")
        self.git("config", f"url.{folder}/there.insteadOf", "git@example.org:people/particles.git")
        self.git("init", "--quiet", "--bare", str(folder / "there"))
        self.commit()

    def git(self, *arguments):
        """Run git here and return what it prints."""
        names = ("-c", "user.name=me", "-c", "user.email=me@example.org")
        return subprocess.run(
            ["git", *names, *arguments],
            cwd=self.folder,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self):
        """Commit all there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "All", "--allow-empty")

    def replace(self, name, old, new):
        """Change a file and commit."""
        path = self.folder / name
        path.write_text(path.read_text().replace(old, new))
        self.commit()

    def release(self, *arguments, **environment):
        """Run the program; return its exit code and output."""
        names = {
            f"GIT_{who}_{what}": "me"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        ran = subprocess.run(
            ["script/release", *arguments],
            cwd=self.folder,
            env={**self.environment, **names, **environment},
            check=False,
            capture_output=True,
            text=True,
        )
        return ran.returncode, ran.stdout + ran.stderr

    def noted(self):
        """Return which programs were run."""
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def state(self):
        """Return all that a dry run must not change."""
        files = sorted(path for path in self.folder.rglob("*") if ".git" not in path.parts)
        return (
            self.git("status", "--porcelain"),
            self.git("tag"),
            self.git("rev-parse", "HEAD"),
            files,
        )


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_a_dry_run_finds_all_right_and_changes_nothing(repository):
    before = repository.state()
    code, output = repository.release("--dry-run")
    assert (code, "WRONG" in output) == (0, False), output
    assert repository.state() == before
    assert "to do    .ci/run" in output
    noted = repository.noted()
    assert [line.split()[0] for line in noted] == ["python", "python", "cffconvert"]
    assert "twine check --strict" in noted[1]


def dirty(repository):
    (repository.folder / "new").touch()


def of_another_version(repository):
    repository.replace("CITATION.cff", "\nversion: 1.2.0", "\nversion: 1.1.0")


def tagged(repository):
    repository.git("tag", "v1.2.0")


def tagged_there(repository):
    repository.git("push", "--quiet", "origin", "HEAD:refs/tags/v1.2.0")


def unreachable(repository):
    shutil.rmtree(repository.folder.parent / "there")


def without_origin(repository):
    repository.git("remote", "remove", "origin")


def without_address(repository):
    repository.replace("pyproject.toml", "Repository", "Other")


def cited_elsewhere(repository):
    repository.replace("CITATION.cff", "example.org", "example.com")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (dirty, "?? new"),
        (of_another_version, "pyproject.toml has 1.2.0, CHANGELOG.md 1.2.0, CITATION.cff 1.1.0"),
        (tagged, "WRONG    the tag v1.2.0 is free"),
        (tagged_there, "WRONG    the tag v1.2.0 is free"),
        (unreachable, "WRONG    the tag v1.2.0 is free"),
        (without_origin, "there is no remote called origin"),
        (without_address, f'Repository = "{ADDRESS}"'),
        (cited_elsewhere, f"repository-code: {ADDRESS}"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_released(repository, spoil, words):
    spoil(repository)
    before = repository.state()
    for arguments in ([], ["--dry-run"]):
        code, output = repository.release(*arguments)
        assert (code, output.count("WRONG")) == (1, 1), output
        assert words in output
        assert repository.state() == before
    assert "run" not in repository.noted()  # what takes long waits until all else is right


@pytest.mark.parametrize("fails", ["python", "cffconvert"])
def test_what_is_built_is_looked_at(repository, fails):
    code, output = repository.release(FAILS=fails)
    assert code == 1
    assert "WRONG" in output
    assert repository.git("tag") == ""
    assert not (repository.folder / "dist").exists()


def test_a_release_is_built_and_tagged_and_not_published(repository):
    code, output = repository.release()
    assert code == 0, output
    assert repository.git("tag", "--points-at", "HEAD") == "v1.2.0\n"
    assert repository.git("ls-remote", "origin") == ""
    built = {path.name for path in (repository.folder / "dist").iterdir()}
    assert built == {"it.whl", "it.tar.gz"}
    assert "git push origin v1.2.0" in output
    assert "twine upload" in output
    noted = repository.noted()
    assert noted[0] == "run"
    assert {"bare-root", "aarch64"} <= set(noted) or os.geteuid() != 0
    repository.git("tag", "--delete", "v1.2.0")
    assert repository.release()[0] == 0
    assert repository.noted().count("run") == 1  # it has passed for this commit


def test_a_wrong_option_is_refused(repository):
    assert repository.release("--now") == (2, "usage: script/release [--dry-run]\n")
