"""What ci/check does about missing packages, on a machine made of stand-ins for dpkg, apt, sudo and the compiler."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("awk", "bash", "basename", "cat", "chmod", "dirname", "env", "grep", "head", "mkdir", "nproc", "sort", "tail", "true", "xargs")
ALL = ["g++", "cmake", "ninja-build", "binutils", "python3", "python3-venv", "librapidcheck-dev", "libeigen3-dev",
       "libgtest-dev", "libcli11-dev", "nlohmann-json3-dev", "libfmt-dev", "libz3-dev"]
INSTALL = "apt-get install -y --no-install-recommends"


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kvproof-setup-")
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name) / "clone"
        self.bin = pathlib.Path(folder.name) / "bin"
        self.log = pathlib.Path(folder.name) / "calls"
        self.log.touch()
        self.bin.mkdir()
        shutil.copytree(ROOT / "ci", self.clone / "ci")
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.bin / tool)
        # Building yields a command that prints its arguments and ends with status 1, as a failing check does.
        self.tool("cmake", 'if [[ $1 == --version ]]; then echo "cmake version ${CMAKE:-3.25.1}"; exit; fi\n'
                           '[[ $1 == --preset ]] || exit 0\n'
                           'mkdir -p "build/$2/cli"\n'
                           'printf \'#!/usr/bin/env bash\\necho "ran $*"\\nexit 1\\n\' >"build/$2/cli/kvproof"\n'
                           'chmod +x "build/$2/cli/kvproof"')

    def tool(self, name, text):
        path = self.bin / name
        path.write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def machine(self, installed=(), user=1000, sudo=None, apt=0):
        listed = "".join(f"echo installed {name}\n" for name in installed)
        self.tool("dpkg-query", f"{listed}exit {0 if len(installed) == len(ALL) else 1}")
        self.tool("id", f"echo {user}")
        self.tool("apt-get", f'echo "$DEBIAN_FRONTEND apt-get $*" >>{self.log}\necho broken mirror\nexit {apt}')
        if sudo is not None:
            self.tool("sudo", f'[[ $1 == -n ]] || exit 9\nshift\n[[ {sudo} == 0 ]] || exit {sudo}\nexec "$@"')

    def check(self, *arguments, **variables):
        return subprocess.run([self.bin / "bash", self.clone / "ci" / "check", *arguments], capture_output=True, text=True,
                              env={"PATH": str(self.bin), **variables}, stdin=subprocess.DEVNULL, check=False)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines()

    def test_without_root_it_prints_the_exact_command_and_stops(self):
        for sudo in (None, 1):
            self.machine(installed=ALL[:7] + ALL[8:], sudo=sudo)
            done = self.check()
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(done.stderr.splitlines()[-1], f"sudo apt-get update && sudo {INSTALL} libeigen3-dev")
            self.assertEqual(self.calls(), [])

    def test_a_bare_machine_lacks_everything(self):
        self.machine()
        (self.bin / "cmake").unlink()
        done = self.check()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], f"sudo apt-get update && sudo {INSTALL} {' '.join(ALL)}")

    def test_root_installs_what_is_missing(self):
        self.machine(installed=ALL[:-2], user=0)
        self.check()
        self.assertEqual([re.sub(" -o [^ ]+", "", call) for call in self.calls()],
                         ["noninteractive apt-get update", f"noninteractive {INSTALL} {ALL[-2]} {ALL[-1]}"])

    def test_passwordless_sudo_installs_too(self):
        self.machine(installed=ALL[:-1], sudo=0)
        self.check()
        self.assertEqual([call.split()[0] for call in self.calls()], ["noninteractive"] * 2)

    def test_a_failed_installation_is_shown(self):
        self.machine(installed=ALL[:-1], user=0, apt=100)
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertIn("broken mirror", done.stderr)
        self.assertIn("apt-get failed", done.stderr)

    def test_a_tool_from_elsewhere_is_as_good_as_its_package(self):
        self.tool("g++", "exit 0")
        self.machine(installed=[name for name in ALL if name not in ("g++", "cmake")])
        done = self.check()
        self.assertEqual(done.stdout, "ran check\n", done.stderr)

    def test_with_everything_there_apt_is_left_alone_and_the_status_is_the_commands(self):
        self.machine(installed=ALL, user=0)
        done = self.check("--budget", "2 m")
        self.assertEqual((done.returncode, done.stdout), (1, "ran check --budget 2 m\n"), done.stderr)
        self.assertEqual(self.calls(), [])

    def test_a_failed_build_shows_its_end(self):
        self.machine(installed=ALL)
        self.tool("cmake", 'if [[ $1 == --version ]]; then echo cmake version 3.25.1; exit; fi\necho missing semicolon\nexit 1')
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertIn("missing semicolon\nci/check: the build failed", done.stderr)

    def test_an_old_cmake_is_not_used(self):
        self.machine(installed=ALL)
        self.tool("python3", f'echo "python3 $*" >>{self.log}\n[[ $1 == --version ]] && echo Python 3.10.12')
        for version, used in (("3.25.0", True), ("3.31.6", True), ("4.1.0", True), ("3.22.1", False), ("3.9.9", False)):
            self.log.write_text("", encoding="utf-8")
            self.check(CMAKE=version)
            made = any("-m venv" in call for call in self.calls())
            self.assertEqual(made, not used, version)

    def test_usage(self):
        self.machine(installed=ALL)
        self.assertIn("usage: ci/check", self.check("--help").stdout)
        done = self.check("--preset", "tpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected cpu, gpu or asan", done.stderr)
        self.assertEqual(self.check("--preset").returncode, 2)


if __name__ == "__main__":
    unittest.main()
