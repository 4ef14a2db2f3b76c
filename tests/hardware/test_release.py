"""The quick parts of a release: versions files, names, sums, Imager's list, bills of materials, archives."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import arm64_root
import build
import compare
import pytest
import release
import sbom
import versions
from compare import Entry, find_differences, read_packages, read_tree

DIGEST, OTHER = "a" * 64, "b" * 64
LIST = "libc6 2.41-12\nsystemd 257.9-1~deb13u1\n\nmoccasin-mat==0.2.0\nnumpy==2.4.1\n"


@pytest.fixture
def made(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "work").mkdir()
    return release.Release(tmp_path / "out", tmp_path / "work", "trixie", "0.2.0", "https://example.org/v0.2.0")


def test_versions_file_is_read_as_it_was_written():
    one = versions.Requirement("numpy", "2.4.1", (DIGEST, OTHER))
    text = versions.Versions(
        (one, versions.Requirement("lgpio", "0.2.2.0", (DIGEST,))), "20261124T000000Z"
    ).format_file()
    read = versions.parse_versions(text)
    assert read.format_file() == text
    assert read.snapshot == "20261124T000000Z"
    assert one in read.requirements


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("numpy>=2", "'numpy>=2' is not NAME==VERSION"),
        ("numpy==", "'numpy==' is not NAME==VERSION"),
        ("numpy==2.4.1", "numpy needs --hash=sha256:"),
        (f"numpy==2.4.1 --hash=md5:{DIGEST}", "numpy needs --hash=sha256:"),
        (f"numpy==2.4.1 --hash=sha256:{DIGEST[1:]}", "64 hexadecimal digits"),
        (f"numpy==2.4.1 --hash=sha256:{DIGEST} --no-deps", "nothing else"),
        (f"numpy @ https://example.org/numpy.whl --hash=sha256:{DIGEST}", "names an address"),
        (f"lgpio==1 --hash=sha256:{DIGEST}", "lgpio is listed twice"),
        ("# debian-snapshot: yesterday", "'yesterday' is not the date of a snapshot"),
    ],
)
def test_faulty_line_of_a_versions_file_is_named(line, fault):
    with pytest.raises(versions.VersionsError, match=r"^line 2: ") as error:
        versions.parse_versions(f"lgpio==0.2.2.0 --hash=sha256:{DIGEST}\n{line}\n")
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


def test_every_faulty_line_is_reported_at_once():
    with pytest.raises(versions.VersionsError, match=r"line 1: .*\nline 3: "):
        versions.parse_versions(f"numpy\nlgpio==1 --hash=sha256:{DIGEST}\nrich>1\n")


def test_versions_file_without_a_package_is_refused():
    with pytest.raises(versions.VersionsError, match="lists no package"):
        versions.parse_versions("# debian-snapshot: 20261124T000000Z\n")


def test_pip_report_gives_requirements_without_own_package():
    def one(name, **more):
        return {"metadata": {"name": name, "version": "1.0"}, "download_info": {"archive_info": more}}

    chosen = [one("Adafruit_Blinka", hashes={"sha256": DIGEST}), one("moccasin-mat")]
    found = versions.read_report(json.dumps({"install": chosen}), without="moccasin-mat")
    assert [line.format_line() for line in found] == [f"adafruit-blinka==1.0 --hash=sha256:{DIGEST}"]
    with pytest.raises(versions.VersionsError, match="no hash of moccasin-mat"):
        versions.read_report(json.dumps({"install": chosen}), without="")


@pytest.mark.parametrize("path", sorted(Path(build.__file__).parent.glob("versions-*.txt")), ids=lambda path: path.name)
def test_stored_versions_file_is_complete_without_addresses(path):
    text = path.read_text("utf-8")
    assert not re.search(r"https?:|\.(org|com|io)\b", text)
    names = {one.name for one in versions.parse_versions(text).requirements}
    assert {"numpy", "pydantic", "pyserial", "gpiozero", "rpi-ws281x", "mpremote", "soundfile"} <= names
    assert {"httpx", "packaging", "polib", "shtab"} <= names, "the extras of [pi]"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--versions", "FILE"], "line 1: 'nonsense' is not NAME==VERSION"),
        (["--snapshot", "2026-11-24"], "'2026-11-24' is not the date of a snapshot"),
        (["--versions", "missing.txt"], "No such file"),
    ],
)
def test_build_refuses_wrong_versions_before_it_begins(tmp_path, arguments, fault):
    (tmp_path / "file.txt").write_text("nonsense\n", "utf-8")
    words = [str(tmp_path / "file.txt") if word == "FILE" else word for word in arguments]
    command = [sys.executable, build.__file__, str(tmp_path / "card.img"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert fault in done.stdout
    assert "Traceback" not in done.stderr


SNAPSHOTS = """\
Acquire::Snapshots::URI::Origin::Debian "https://old.example/debian/@SNAPSHOTID@/";
Acquire::Snapshots::URI::Override::Label::Debian-Security "https://old.example/security/@SNAPSHOTID@/";
"""


def test_snapshot_sources_are_those_of_the_date(monkeypatch):
    monkeypatch.setattr(build, "run", lambda *command, caught: SNAPSHOTS)
    lines = build.snapshot_sources(["trixie", "trixie-backports"], "20261124T000000Z")
    assert lines[0].endswith("https://old.example/debian/20261124T000000Z/ trixie main non-free-firmware\n")
    assert lines[2].endswith("https://old.example/security/20261124T000000Z/ trixie-security main non-free-firmware\n")
    assert lines[3].endswith("https://old.example/debian/20261124T000000Z/ trixie-backports main non-free-firmware\n")
    assert all("check-valid-until=no" in line for line in lines)


def test_backports_come_from_the_same_archive(monkeypatch):
    monkeypatch.setattr(build, "_suite", lambda: "bookworm")
    found = [arm64_root.Archive("https://deb.example/", name) for name in ("bookworm", "bookworm-updates")]
    monkeypatch.setattr(build, "archives", lambda: found)
    lines = build.own_sources(["trixie", "trixie-backports"])
    assert [line.split()[2] for line in lines] == ["trixie", "trixie-updates", "trixie-backports"]
    assert {line.split()[1] for line in lines} == {"https://deb.example/"}


def test_boot_config_gives_each_model_its_own_lines():
    sections = re.split(r"^\[(\w+)\]$", build.custom_boot_config(), flags=re.MULTILINE)
    lines = {name: set(text.split("\n")) - {""} for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    assert {name for name, some in lines.items() if "dtoverlay=moccasin-mat-spi" in some} == {"pi3", "pi4", "pi02"}
    assert lines["pi5"] == {"os_check=0"}
    assert lines["all"] == set()
    assert not any("dtparam" in line for some in lines.values() for line in some)


def test_snapshot_without_apt_archive_is_refused(monkeypatch):
    monkeypatch.setattr(build, "run", lambda *command, caught: "")
    with pytest.raises(SystemExit, match="--snapshot none"):
        build.snapshot_sources(["trixie"], "20261124T000000Z")


def test_tag_of_another_version_is_refused(tmp_path, capsys):
    assert release.main([str(tmp_path), "--tag", "v9.9.9"]) == 2
    assert f"the tag v9.9.9 is not the version: v{release.read_version()}" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "status"), [("* @somebody\n", 0), ("# who\n* @FILL_IN\n", 2)])
def test_tagged_release_needs_every_contact(tmp_path, monkeypatch, capsys, text, status):
    contacts = tmp_path / "github"
    contacts.mkdir()
    (contacts / "CODEOWNERS").write_text(text, "utf-8")
    monkeypatch.setattr(release, "CONTACTS", contacts)
    monkeypatch.setattr(release, "STEPS", {})
    assert release.main([str(tmp_path / "out"), "--tag", f"v{release.read_version()}"]) == status
    assert ("CODEOWNERS:2" in capsys.readouterr().out) is (status == 2)


def test_open_contacts_are_found_where_they_stand():
    found = {place.partition(":")[0] for place in release.find_blanks(release.CONTACTS)}
    assert found <= {"CODEOWNERS", "SUPPORT.md", "GOVERNANCE.md"}


def test_sums_are_of_every_file_but_their_own(made):
    (made.out / "b.txt").write_text("b", "utf-8")
    (made.out / "a.txt").write_text("a", "utf-8")
    for _ in range(2):
        release.make_sums(made)
    lines = (made.out / "SHA256SUMS").read_text("utf-8").splitlines()
    assert lines == [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}.txt" for name in "ab"]
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made.out, check=True)


def test_imager_list_has_sizes_and_hashes(made):
    image = bytes(5000) + b"card"
    packed = made.out / made.name_card("table", "img.xz")
    packed.write_bytes(lzma.compress(image))
    release.make_imager(made)
    (entry,) = json.loads((made.out / made.name_file("rpi-imager.json")).read_text("utf-8"))["os_list"]
    assert {"name", "description", "icon", "release_date"} <= entry.keys()
    assert entry["extract_size"] == len(image)
    assert entry["extract_sha256"] == hashlib.sha256(image).hexdigest()
    assert entry["image_download_size"] == packed.stat().st_size
    assert entry["image_download_sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert entry["url"] == f"https://example.org/v0.2.0/{packed.name}"
    assert entry["devices"] == list(release.DEVICES)
    assert "init_format" not in entry, "else Imager offers settings that the card does not read"


def test_step_that_needs_a_card_says_so(made):
    with pytest.raises(SystemExit, match="has no card yet"):
        release.make_imager(made)


def test_bill_of_materials_is_complete_and_reproducible():
    pinned = [versions.Requirement("numpy", "2.4.1", (DIGEST,))]
    installed = sbom.parse_list(LIST)
    texts = [sbom.format_sbom("table", installed, pinned, debian=13, epoch=1_790_000_000) for _ in range(2)]
    assert texts[0] == texts[1]
    told = json.loads(texts[0])
    assert told["metadata"]["component"]["version"] == "0.2.0"
    parts = {one["name"]: one for one in told["components"]}
    assert set(parts) == {"libc6", "systemd", "moccasin-mat", "numpy"}
    assert parts["systemd"]["purl"] == "pkg:deb/debian/systemd@257.9-1~deb13u1?arch=arm64&distro=debian-13"
    assert parts["numpy"]["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]


def test_bill_of_materials_omits_hash_of_other_version():
    pinned = [versions.Requirement("numpy", "2.4.2", (DIGEST,))]
    told = json.loads(sbom.format_sbom("table", sbom.parse_list(LIST), pinned, debian=13, epoch=0))
    assert not any("hashes" in one for one in told["components"])


@pytest.mark.slow
def test_bill_of_materials_conforms_to_its_schema():
    def format_with_hash(digest):
        pinned = [versions.Requirement("numpy", "2.4.1", (digest,))]
        return sbom.format_sbom("table", sbom.parse_list(LIST), pinned, debian=13, epoch=0)

    sbom.check_sbom(format_with_hash(DIGEST))
    with pytest.raises(ValueError, match="does not conform to its schema"):
        sbom.check_sbom(format_with_hash("x"))


@pytest.mark.parametrize(("text", "fault"), [("libc6\n", "line 1: 'libc6'"), ("libc6 2.41\n", "lacks"), ("", "lacks")])
def test_faulty_list_of_versions_is_refused(text, fault):
    with pytest.raises(versions.VersionsError, match=fault):
        sbom.parse_list(text)


def test_firmware_archive_has_instructions_and_is_reproducible(made):
    archive = made.out / made.name_file("firmware.zip")
    release.make_firmware(made)
    first = archive.read_bytes()
    release.make_firmware(made)
    assert archive.read_bytes() == first
    names = set(zipfile.ZipFile(archive).namelist())
    assert {"FIRMWARE.txt", "LICENSE", "pinmap.toml", "firmware/main.py", "firmware/board.py"} <= names
    assert ".uf2" in zipfile.ZipFile(archive).read("FIRMWARE.txt").decode()


@pytest.mark.slow
def test_documentation_archive_has_pages_and_pictures(made):
    release.make_documentation(made)
    names = zipfile.ZipFile(made.out / made.name_file("documentation.zip")).namelist()
    assert {"index.html", "play/first-evening/index.html", "hardware/drawings/mat.svg"} <= set(names)
    assert not [name for name in names if name.startswith("tests/")]


def test_tree_differences_are_named_by_kind(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same").write_text("same", "utf-8")
        (tmp_path / name / "text").write_text(name, "utf-8")
        (tmp_path / name / "link").symlink_to(name)
        (tmp_path / name / "mode").touch(0o644 if name == "one" else 0o600)
    (tmp_path / "other/new").mkdir()
    lines = find_differences(read_tree(tmp_path / "one"), read_tree(tmp_path / "other"))
    assert lines == ["link: content", "mode: mode", "new: only in the second", "text: content"]
    owners = ({"x": Entry("-", 0o644, (0, 0))}, {"x": Entry("-", 0o644, (0, 1))})
    assert find_differences(*owners) == ["x: owner"]


def test_packages_are_read_from_dpkgs_status():
    status = "Package: libc6\nStatus: install ok installed\nVersion: 2.41-12\n\nPackage: gone\nStatus: purged\n"
    assert read_packages(status) == {"libc6": "2.41-12"}
    assert compare.PARTITIONS == ("boot", "root", "state")


def test_workflow_calls_the_release_program():
    text = (build.TREE / ".github/workflows/release.yml").read_text("utf-8")
    steps = [step for only in re.findall(r"--only ([a-z ,-]+)", text) for step in only.split()]
    assert sorted(steps) == sorted(release.STEPS)
