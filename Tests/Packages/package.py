"""Checks what docker/debian makes of a program: the package, the tarball, the bill of materials and the signature.

    python3 package.py --binary .build/debug/borealis

The program that is packaged is a small one that starts the built one: packing that takes a minute, and what is packed around it is
the same. The bill of materials is that of the built program. Nothing is installed; Tests/Packages/run does that.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

from spdx_tools.spdx.model.relationship import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERSION = "0.0.1+test"
TIME = 1_700_000_000
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
NAME = f"borealis_{VERSION}_{ARCHITECTURE}"
FILES = {
    "etc/borealis/borealis.conf",
    "usr/bin/borealis",
    "usr/lib/systemd/system/borealis.service",
    "usr/lib/sysusers.d/borealis.conf",
    "usr/share/bash-completion/completions/borealis",
    "usr/share/doc/borealis/NEWS.gz",
    "usr/share/doc/borealis/borealis.spdx.json",
    "usr/share/doc/borealis/changelog.gz",
    "usr/share/doc/borealis/copyright",
    "usr/share/fish/vendor_completions.d/borealis.fish",
    "usr/share/man/man1/borealis.1.gz",
    "usr/share/man/man5/borealis.conf.5.gz",
    "usr/share/zsh/vendor-completions/_borealis",
}
STAND_IN = """
#include <unistd.h>
const char *sqlite3_libversion(void);
const char *curl_version(void);
const char *OpenSSL_version(int);
int main(int count, char **arguments) {
  if (count > 100) return !sqlite3_libversion() || !curl_version() || !OpenSSL_version(0);
  execv(PROGRAM, arguments);
  return 127;
}
"""


class Failed(Exception):
    """Something is wrong with what was made."""


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Failed(message)


def output(*command: str | pathlib.Path, **more: Any) -> str:
    ending = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **more)
    expect(ending.returncode == 0, f"{command[0]} ended with {ending.returncode}: {ending.stderr}")
    return ending.stdout


def stand_in(binary: str, folder: pathlib.Path) -> pathlib.Path:
    """A small program that answers as the built one does, with libraries that Debian has."""
    program, source = folder / "program", folder / "program.c"
    source.write_text(STAND_IN)
    output("clang", "-O1", "-s", f'-DPROGRAM="{binary}"', source, "-o", program, "-lsqlite3", "-lcurl", "-lcrypto")
    return program


def package(program: pathlib.Path, folder: pathlib.Path, **environment: str) -> None:
    more = os.environ | {"SOURCE_DATE_EPOCH": str(TIME)} | environment
    output("docker/debian/package", program, VERSION, folder, env=more, umask=int(environment.get("UMASK", "022"), 8))


def check_repetition(program: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The same program, sources and time make the same bytes, whoever packs them and where."""
    one, other = folder / "one", folder / "some" / "where" / "else"
    package(program, one)
    package(program, other, TZ="Asia/Shanghai", LC_ALL="C.UTF-8", UMASK="077")
    names = sorted(path.name for path in one.iterdir())
    expect(names == sorted(["SHA256SUMS", *(f"{NAME}.{ending}" for ending in ("deb", "spdx.json", "tar.xz"))]), f"{names}")
    for name in names:
        expect((one / name).read_bytes() == (other / name).read_bytes(), f"{name} differs from one time to the next")
    print("ok - two packings are identical byte by byte")
    return one


def members(archive: tarfile.TarFile, top: str) -> Iterator[tuple[tarfile.TarInfo, str]]:
    for member in archive:
        expect(member.mtime == TIME and (member.uid, member.gid) == (0, 0), f"{member.name}: time and owner")
        expected = 0o755 if member.isdir() or member.name.endswith("bin/borealis") else 0o644
        expect(member.mode == expected, f"{member.name}: mode {member.mode:o}")
        if member.isfile():
            content = archive.extractfile(member)
            assert content, "it is a file"
            yield member, hashlib.sha256(content.read()).hexdigest()
        expect(member.isfile() or member.isdir(), f"{member.name}: neither a file nor a folder")
        expect(member.name == top or member.name.startswith(top + "/"), f"{member.name}: outside of {top}")


def check_contents(made: pathlib.Path) -> None:
    """The package and the tarball hold the same files, with the rights and the time that they should have."""
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", made / f"{NAME}.deb"], check=True, stdout=subprocess.PIPE)
    whole = made.parent / "data.tar"
    whole.write_bytes(data.stdout)
    with tarfile.open(whole) as archive:
        packed = {member.name.removeprefix("./"): digest for member, digest in members(archive, ".")}
    expect(set(packed) == FILES, f"missing or more: {set(packed) ^ FILES}")
    top = f"borealis-{VERSION}"
    with tarfile.open(made / f"{NAME}.tar.xz") as archive:
        loose = {member.name.removeprefix(top + "/"): digest for member, digest in members(archive, top)}
    expect(loose == packed, "the tarball differs from the package")
    control = output("dpkg-deb", "--field", made / f"{NAME}.deb")
    for library in ("libc6 (>= ", "libcurl4 (>= ", "libsqlite3-0 (>= ", "libssl3 (>= ", "ca-certificates, tzdata, systemd |"):
        expect(library in control, f"{library} is missing in {control}")
    expect(f"\nVersion: {VERSION}\n" in control, "the version")
    expect(output("dpkg-deb", "--info", made / f"{NAME}.deb", "conffiles") == "/etc/borealis/borealis.conf\n", "conffiles")
    for script in ("postinst", "prerm", "postrm"):
        output("sh", "-n", f"docker/debian/{script}")
    print("ok - the package and the tarball hold the same, with the rights and times that they should have")


def check_signature(program: pathlib.Path, folder: pathlib.Path) -> None:
    """The sums are those of the files, and signed by the key that was named; nobody else's signature fits."""
    home = folder / "keys"
    home.mkdir(mode=0o700)
    keys = {"GNUPGHOME": str(home)}
    gpg = ("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "")
    try:
        output(*gpg, "--quick-generate-key", "release@example.com", "ed25519", "sign", "1d", env=os.environ | keys)
        made = folder / "signed"
        package(program, made, SIGN_KEY="release@example.com", **keys)
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], check=True, cwd=made)
        verify = ["gpg", "--verify", str(made / "SHA256SUMS.asc"), str(made / "SHA256SUMS")]
        output(*verify, env=os.environ | keys)
        (made / "SHA256SUMS").write_text((made / "SHA256SUMS").read_text().replace("0", "1", 1))
        expect(subprocess.run(verify, env=os.environ | keys, stderr=subprocess.DEVNULL).returncode == 1, "a changed sum is signed")
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env=os.environ | keys, check=False)
    print("ok - the sums are signed by the key that was named")


def check_materials(binary: str, folder: pathlib.Path) -> None:
    """Every library that the loader maps is listed with the version that is installed, and the image has the same."""
    path = folder / "borealis.spdx.json"
    path.write_text(output("docker/debian/sbom", binary, VERSION, env=os.environ | {"SOURCE_DATE_EPOCH": str(TIME)}))
    document = parse_file(str(path))
    problems = [problem.validation_message for problem in validate_full_spdx_document(document)]
    expect(not problems, f"not valid: {problems}")
    packages = {package.spdx_id: package for package in document.packages}
    versions = {package.name: package.version for package in document.packages}
    for library in re.findall(r" => (/\S+) ", output("ldd", binary)):
        if "/swift/" in library:
            continue
        found = subprocess.run(["dpkg-query", "--search", os.path.realpath(library), library,
                                library.removeprefix("/usr")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        name = found.stdout.split(":")[0]
        expect(name in versions, f"{library} of {name} is not listed")
        expect(versions[name] == output("dpkg-query", "--show", "--showformat", "${Version}", name), f"the version of {name}")
    expect(versions["swift-runtime"] in output("swift", "--version"), "the version of Swift")
    expect(versions["borealis"] == VERSION, "its own version")
    direct = {packages[link.related_spdx_element_id].name for link in document.relationships
              if link.relationship_type == RelationshipType.DYNAMIC_LINK}  # fmt: skip
    stage = (ROOT / "docker/Dockerfile").read_text().split("FROM ${RUNTIME_IMAGE}")[1]
    installed = set(re.search(r"ca-certificates (.*?) tzdata", stage)[1].split()) | {"zlib1g"}  # type: ignore[index]
    # The image of Debian has the C library; libstdc++ is part of Swift's.
    expect(direct - {"libc6", "swift-runtime"} == installed - {"libstdc++6"}, f"linked {direct}, in the image {installed}")
    print(f"ok - the bill of materials has {len(versions)} packages, as the machine and the image have")


def check_unit(binary: str, folder: pathlib.Path) -> None:
    """systemd has nothing to say against the unit, and thinks that little is exposed."""
    text = (ROOT / "docker/borealis.service").read_text()
    expect("ExecStart=/usr/bin/borealis " in text, "the unit starts what the package installs")
    unit = folder / "borealis.service"
    unit.write_text(text.replace("/usr/bin/borealis", binary))
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    expect(verified.returncode == 0 and "borealis.service" not in verified.stdout, f"{verified.stdout}")
    # In tenths: what the network and the capability for low ports cost.
    output("systemd-analyze", "security", "--offline=yes", "--threshold=20", unit)
    print("ok - systemd accepts the unit, with an exposure of at most 2.0")


def check_configuration(binary: str, folder: pathlib.Path) -> None:
    """The settings that are installed are accepted, also those that stand there as comments."""
    text = (ROOT / "docker/debian/borealis.conf").read_text()
    page = output(binary, "man", "borealis.conf")
    for name in re.findall(r"^#?([a-z][a-z-]*) = ", text, re.MULTILINE):
        expect("\\fB" + name.replace("-", "\\-") + "\\fR =" in page, f"{name} is not a setting")
    # Settings that are wrong end the server with status 2, before it makes its folder. A certificate would have to be there.
    password = folder / "smtp-password"
    password.write_text("secret\n")
    whole = re.sub(r"^#((?!tls-)[a-z-]+ = .*)$", r"\1", text, flags=re.MULTILINE)
    file = folder / "borealis.conf"
    for content in (text, whole.replace("/etc/borealis/smtp-password", str(password))):
        file.write_text(content)
        ending = subprocess.run([binary, "serve", "--config", file, "--data", "/proc/none"], stderr=subprocess.PIPE, text=True)
        expect(ending.returncode == 1 and "cannot create /proc/none" in ending.stderr, f"{ending.returncode}: {ending.stderr}")
    print("ok - the server accepts the settings that are installed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, help="the built program")
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as name:
        folder = pathlib.Path(name)
        program = stand_in(binary, folder)
        check_contents(check_repetition(program, folder))
        check_signature(program, folder)
        check_materials(binary, folder)
        check_unit(binary, folder)
        check_configuration(binary, folder)


if __name__ == "__main__":
    expect(shutil.which("dpkg-shlibdeps"), "the package dpkg-dev is missing")
    try:
        main()
    except Failed as failure:
        sys.exit(f"FAILED {failure}")
