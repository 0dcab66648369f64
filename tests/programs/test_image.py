"""The image without a container engine.

The steps of the Dockerfile are run, and what comes of them is used.

Each stage has a root of its own: a fresh Debian of the base image's release, with the Python of its version that this
machine has, and what the steps write in a layer above it. A step runs in a mount and process namespace, as its user,
with the image's environment and nothing else of this machine but its way to the package registries. What is not tried
is the base image itself, what an engine adds (its network, limits and seccomp rules), and compose.yaml; nor the
optimizer, which takes a minute of two processors: .ci/wheel tries the kernels as it leaves them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from core.generate import generate
from tests.conftest import ROOT, register, wait_until

LIBRARIES = "libbz2-1.0 libffi8 liblzma5 libncursesw6 libreadline8 libsqlite3-0 libssl3 libuuid1 zlib1g"
"""What the base image has for its Python beyond the least Debian."""
OF_THE_BASE = {"PATH": "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
WAY_OUT = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
REGISTRIES = re.compile(r"PIP_|SSL_CERT|REQUESTS_CA|\w*_proxy$", re.IGNORECASE)
HEALTHY_SECONDS = 90
"""The health check's own patience: its start period and three intervals."""

ENTER = """
layer=$1 base=$2 user=$3 folder=$4; shift 4
mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
mount -t proc proc "$layer/root/proc"
mount --rbind /dev "$layer/root/dev"
exec chroot --userspec="$user" "$layer/root" env -i -C "$folder" "$@"
"""


@dataclass
class Stage:
    """A stage of the Dockerfile.

    Its layer, and what the instructions so far say of commands.
    """

    layer: Path
    base: Path
    user: str = "0:0"
    folder: str = "/"
    environment: dict[str, str] = field(default_factory=OF_THE_BASE.copy)
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("upper", "work", "root"):
            (self.layer / name).mkdir(parents=True)

    def place(self, path: str) -> Path:
        """Where a path of this stage is written, while no command runs in it."""
        return self.layer / "upper" / path.lstrip("/")

    def argv(self, command: list[str], more: dict[str, str]) -> list[str]:
        """A command in this stage's root, as its user, the first process of its namespace."""
        words = [f"{name}={value}" for name, value in {**self.environment, **more}.items()]
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", ENTER, "sh"]
        return [*apart, str(self.layer), str(self.base), self.user, self.folder, *words, *command]

    def run(self, command: list[str]) -> None:
        more = {name: value for name, value in os.environ.items() if REGISTRIES.match(name)} | {"CUSHION_DEBUG": "1"}
        started = time.monotonic()
        done = subprocess.run(self.argv(command, more), capture_output=True, text=True, check=False)
        print(f"{time.monotonic() - started:6.1f} s  {' '.join(command)[:100]}")
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile: the word, and what follows it on one line."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in re.sub(r"\\\n\s*", " ", lines).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path of the repository from the build.

    The last line that matches says.
    """
    parts = path.split("/")
    ways = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    verdict = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        rule = line.removeprefix("!")
        if not rule or rule.startswith("#"):
            continue
        pattern = re.escape(rule).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(pattern, way) for way in ways):
            verdict = not line.startswith("!")
    return verdict


def copy_from_repository(sources: list[str], target: Path) -> None:
    for source in sources:
        path = ROOT / source
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
        sent = [each for each in files if not ignored(str(each.relative_to(ROOT)))]
        assert sent, f"{source} is not there, or .dockerignore keeps it back"
        for file in sent:
            place = target / (file.name if path.is_file() else file.relative_to(path))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def interpreters(version: str) -> list[Path]:
    """The Pythons of a version beside the one that runs here, or itself.

    No virtual environments.
    """
    result = sorted(Path(sys.base_prefix).parent.glob(f"*/bin/python{version}"))
    return [path for path in result if not (path.parents[1] / "pyvenv.cfg").exists()]


def lacking(dockerfile: str, folder: Path) -> list[str]:
    """What this machine does not have of what the steps are run with."""
    wanted = {
        "root, since namespaces and other users are root's to make": os.geteuid() == 0,
        **{f"the program {name}": bool(shutil.which(name)) for name in ("apt-get", "debootstrap", "unshare", "chroot")},
        **{
            f"a Python {version} beside {sys.base_prefix}": bool(interpreters(version))
            for version in re.findall(r"^FROM python:([\d.]+)-", dockerfile, re.MULTILINE)
        },
    }
    absent = [name for name, there in wanted.items() if not there]
    if not absent:
        trial = Stage(folder / "trial", Path("/usr"))
        mount = f"lowerdir={trial.base},upperdir={trial.layer}/upper,workdir={trial.layer}/work"
        command = ["unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o", mount, str(trial.layer / "root")]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        absent += [f"overlay mounts in {folder}: {answer.stderr.strip()}"] if answer.returncode else []
    return absent


def make_base(image: str, folder: Path) -> Path:
    """A root like that of python:VERSION-slim-RELEASE, of Debian's packages and a Python of this machine."""
    match = re.fullmatch(r"python:([\d.]+)-slim-(\w+)", image)
    assert match, image
    version, release = match.groups()
    sources = subprocess.check_output(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"], text=True
    )
    more = ",".join(["ca-certificates", "netbase", "tzdata", *LIBRARIES.split()])
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={more}", release, str(folder), sources.split()[0]],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    shutil.copytree(
        interpreters(version)[-1].parents[1],
        folder / "usr" / "local",
        symlinks=True,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("site-packages", "test", "__pycache__", "share"),
    )
    for name in (*WAY_OUT, f"{Path.home()}/.config/pip/pip.conf"):
        if Path(name).exists():
            place = folder / name.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, place)
    subprocess.run(["chroot", str(folder), "ldconfig"], check=True)
    return folder


def build(dockerfile: str, folder: Path) -> Stage:
    """Do what the instructions say; the last stage."""
    bases: dict[str, Path] = {}
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in instructions(dockerfile):
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            if image not in bases:
                bases[image] = make_base(image, folder / f"base-{len(bases)}")
            stage = stages[name] = Stage(folder / f"stage-{len(stages)}", bases[image])
            continue
        assert stage is not None
        match word:
            case "RUN":
                stage.run(["/bin/sh", "-c", rest])
            case "WORKDIR":
                stage.folder = rest
                stage.place(rest).mkdir(parents=True, exist_ok=True)
            case "ENV":
                for pair in shlex.split(rest):
                    name, _, value = pair.partition("=")
                    stage.environment[name] = string.Template(value).substitute(stage.environment)
            case "USER":
                stage.user = rest
                accounts = [line.split(":") for line in stage.place("/etc/passwd").read_text().splitlines()]
                (stage.environment["HOME"],) = [each[5] for each in accounts if ":".join(each[2:4]) == rest]
            case "COPY" if rest.startswith("--from="):
                name, source, target = rest.removeprefix("--from=").split()
                shutil.copytree(stages[name].place(source), stage.place(target), symlinks=True)
            case "COPY":
                *sources, target = rest.split()
                copy_from_repository(sources, stage.place(f"{stage.folder}/{target}"))
            case "HEALTHCHECK":
                stage.health = json.loads(rest.partition(" CMD ")[2])
            case "CMD":
                stage.command = json.loads(rest)
            case _:
                assert word in ("VOLUME", "EXPOSE"), f"{word} is not known here"
    assert stage is not None
    return stage


@contextmanager
def container(stage: Stage, **environment: str) -> Iterator[int]:
    """The command of an image, running; its process identifier on this machine."""
    with subprocess.Popen(stage.argv(stage.command, environment)) as outer:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        try:
            yield int(wait_until(children.read_text, what="the first process"))
        finally:
            outer.kill()


@pytest.mark.timeout(900)
def test_the_image_serves_after_the_steps_of_its_dockerfile(tmp_path: Path) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    missing = lacking(dockerfile, tmp_path)
    assert not missing, f"this test wants {'; '.join(missing)}"
    image = build(dockerfile, tmp_path)
    assert image.user == "10001:10001"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with container(image, CUSHION_PORT=port) as process:
        root = f"/proc/{process}/root"
        words = [f"{name}={value}" for name, value in {**image.environment, "CUSHION_PORT": port}.items()]
        check = ["chroot", f"--userspec={image.user}", root, "env", "-i", *words, *image.health]

        def healthy() -> bool:
            assert Path(root).exists(), "the service has ended"
            return subprocess.run(check, capture_output=True, check=False).returncode == 0

        assert not healthy()  # a check that says yes to anything would say it here, too
        wait_until(healthy, seconds=HEALTHY_SECONDS, what="health")
        users = {
            line.split()[1] for line in Path(f"/proc/{process}/status").read_text().splitlines() if line[:4] == "Uid:"
        }
        assert users == {"10001"}

        guide = httpx.get(f"http://127.0.0.1:{port}/docs/guide/errors/")
        assert (guide.status_code, 'id="workbook_not_found"' in guide.text) == (200, True), "the image has the guide"

        generate(loans=200, seed=7).write(tmp_path / "deal.xlsx")
        owner = register(f"http://127.0.0.1:{port}")
        workbook = owner.uploaded(tmp_path / "deal.xlsx")
        assert workbook["status"] == "ready", workbook
        run = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], "test_suite": "enhanced"})
        assert len(run.json()["results"]) == 25

        os.kill(process, signal.SIGTERM)  # as `docker stop` does: it drains, and ends its servers
        wait_until(lambda: not Path(f"/proc/{process}").exists(), seconds=60, what="the end")
