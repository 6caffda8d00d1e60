"""The pages hold what they say: links resolve, commands exist, tables match the program, and nothing private is left."""

import argparse
import json
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KVPROOF = ""
# Fuzz seeds are bytes, each made by a program that is here (tests/fuzz holds them to it).
BYTES = ROOT / "corpus" / "fuzz"
NOT_SOURCES = {"build", ".git", ".cache", "__pycache__"}

# What a page or a source may link to: standards, the licence, and the conventions of the change log.
KNOWN_HOSTS = {"json-schema.org", "www.apache.org", "keepachangelog.com", "semver.org"}


def sources():
    """The tracked files; in a source tree without git, every file."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        paths = [ROOT / name for name in done.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not NOT_SOURCES & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in paths if path.is_file())


def pages():
    return [path for path in sources() if path.suffix == ".md"]


def text_of(path):
    return path.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def anchors(path):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text_of(path), flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def commands():
    """Every command line of the fenced blocks marked sh, as (page, words)."""
    for page in pages():
        for block in re.findall(r"^```sh\n(.*?)^```$", text_of(page), flags=re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    yield page, words


def presets():
    return {preset["name"] for preset in json.loads(text_of(ROOT / "CMakePresets.json"))["configurePresets"]}


def cells(line):
    return [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]


class Links(unittest.TestCase):
    def test_every_relative_link_resolves(self):
        count = 0
        for page in pages():
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
                if "://" in target:
                    continue
                count += 1
                name, _, anchor = target.partition("#")
                path = (page.parent / name).resolve() if name else page
                self.assertTrue(path.exists(), f"{page.relative_to(ROOT)}: {target}")
                if anchor and path.suffix == ".md":
                    self.assertIn(anchor, anchors(path), f"{page.relative_to(ROOT)}: {target}")
        self.assertGreater(count, 10)

    def test_paths_in_code_spans_exist(self):
        folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - NOT_SOURCES
        for page in pages():
            for span in re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", text_of(page)):
                if span.split("/")[0] in folders:
                    self.assertTrue((ROOT / span).exists(), f"{page.relative_to(ROOT)}: {span}")


class Commands(unittest.TestCase):
    def help_of(self, words):
        """The help of a command, or nothing if the command above it does not list it: --help forgives a wrong name."""
        for depth in range(len(words) + 1):
            done = subprocess.run([KVPROOF, *words[:depth], "--help"], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return None
            listed = re.findall(r"(?m)^  ([a-z]+) ", done.stdout.partition("Subcommands:")[2])
            if depth < len(words) and words[depth] not in listed:
                return None
        return done.stdout

    def test_every_command_shown_exists_with_its_options(self):
        seen = set()
        for page, words in commands():
            if words[0] != "kvproof":
                continue
            line = f"{page.relative_to(ROOT)}: {' '.join(words)}"
            command = words[1:3] if words[1] == "vectors" else words[1:2]
            text = self.help_of(command)
            self.assertIsNotNone(text, line)
            for word in words:
                if word.startswith("--"):
                    self.assertRegex(text, rf"(?m)(^\s+|,){re.escape(word.split('=')[0])}\b", line)
            seen.add(" ".join(command))
        self.assertEqual(seen, {"addresses", "check", "fuzz", "list", "prove", "replay", "selftest", "vectors check", "vectors make"})

    def test_the_workflow_runs_what_there_is(self):
        seen = set()
        for workflow in sorted((ROOT / "ci" / "workflows").glob("*.yml")):
            for line in re.findall(r"(?m)^ +run: (third_party/kvproof/.*)$", text_of(workflow)):
                words = shlex.split(line)
                program = words[0].removeprefix("third_party/kvproof/")
                if program == "ci/check":
                    self.assertTrue(os.access(ROOT / program, os.X_OK), line)
                    self.assertEqual(words[1], "--preset", line)
                    self.assertIn(words[2], presets(), line)
                    command, options = ["check"], words[3:]
                else:
                    preset = re.fullmatch(r"build/(\w+)/cli/kvproof", program)
                    self.assertIsNotNone(preset, line)
                    self.assertIn(preset.group(1), presets(), line)
                    command, options = words[1:2], words[2:]
                text = self.help_of(command)
                self.assertIsNotNone(text, line)
                for word in options:
                    if word.startswith("--"):
                        self.assertRegex(text, rf"(?m)(^\s+|,){re.escape(word)}\b", line)
                seen.add(command[0])
        self.assertEqual(seen, {"check", "prove", "fuzz"})

    def test_an_unknown_command_would_be_seen(self):
        self.assertIsNone(self.help_of(["chekc"]))
        self.assertIsNone(self.help_of(["vectors", "mend"]))

    def test_the_two_commands_come_first_and_scripts_can_be_run(self):
        readme = [words for page, words in commands() if page == ROOT / "README.md"]
        self.assertEqual([words[0] for words in readme[:2]], ["ci/check", "ci/test"])
        for page, words in commands():
            if words[0].startswith("ci/"):
                self.assertTrue(os.access(ROOT / words[0], os.X_OK), f"{page}: {words[0]}")
            for word in words[1:]:
                if words[0].startswith("python3") and word.endswith((".py", ".json")) and "my_" not in word:
                    self.assertTrue((ROOT / word).is_file(), f"{page}: {word}")

    def test_check_page_names_every_option_and_property(self):
        page = text_of(ROOT / "docs" / "check.md")
        for option in re.findall(r"(?m)^\s+(?:-\w,\s*)?(--[a-z]+)", self.help_of(["check"])):
            self.assertIn(f"`{option}", page)
        done = subprocess.run([KVPROOF, "list", "--properties", "--json"], capture_output=True, text=True, check=True)
        names = [entry["name"] for entry in json.loads(done.stdout)["properties"]]
        self.assertEqual(re.findall(r"(?m)^\| `(\w+)` \|", page.split("## Properties")[1]), names)


class Dialects(unittest.TestCase):
    page = ROOT / "docs" / "dialects.md"

    def listed(self):
        done = subprocess.run([KVPROOF, "list", "--dialects", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["dialects"]

    def fields(self, folder):
        """(name, layout) to the dialect's fields, as the program itself writes them into vectors."""
        subprocess.run([KVPROOF, "vectors", "make", "--output", folder], capture_output=True, check=True)
        for path in pathlib.Path(folder).glob("*.json"):
            dialect = json.loads(text_of(path))["cases"][0]["dialect"]
            yield (dialect["name"], dialect["layout"]), dialect

    @staticmethod
    def row(entry, d):
        """What the table must say of a dialect."""
        floor = struct.unpack("<f", int(d["floor_value"], 16).to_bytes(4, "little"))[0]
        other = [f"{name} {d[name]}" for name, usual in (("division", "floor"), ("index_width", "bits64"),
                                                        ("offset_width", "bits64"), ("reciprocal_ulp", 0)) if d[name] != usual]
        return [d["name"], d["layout"], d["floor"] if d["floor"] == "none" else f"{d['floor']} {floor:.0e}".replace("e-0", "e-"),
                d["ratio"], d["scale"], d["quantise"], str(d["fnuz_limit"]) if entry["fnuz"] else "", d["pad"], d["invalid"],
                d["nan"], d["infinity"], ", ".join(other)]

    def test_the_table_is_the_programs(self):
        section = text_of(self.page).split("## The table")[1].split("\n## ")[0]
        table = [cells(line) for line in section.splitlines() if line.startswith("| `")]
        with tempfile.TemporaryDirectory(prefix="kvproof-docs-") as folder:
            fields = dict(self.fields(folder))
        self.assertEqual(table, [self.row(entry, fields[entry["name"], entry["layout"]]) for entry in self.listed()])

    def test_every_value_is_listed_in_order(self):
        names = text_of(ROOT / "reference" / "include" / "kvproof" / "reference" / "names.h")
        schema = json.loads(text_of(ROOT / "corpus" / "schema" / "case-v1.schema.json"))["$defs"]
        members = {**schema["dialect"]["properties"], "index_width": schema["width"]}
        sections = dict(re.findall(r"(?m)^### `(\w+)`[^\n]*\n(.*?)(?=^##|\Z)", text_of(self.page), flags=re.S))
        fields = {"floor": "Floor", "ratio": "Ratio", "scale": "Scale", "quantise": "Quantise", "pad": "Pad",
                  "invalid": "InvalidIndex", "division": "Division", "index_width": "Width", "nan": "NanCode",
                  "infinity": "Infinity"}
        for field, enum in fields.items():
            with self.subTest(field):
                declared = re.search(rf"struct Names<{enum}> .*?values\{{(.*?)\}}", names, flags=re.S).group(1)
                values = re.findall(r'"(\w+)"', declared)
                told = [cells(line)[:2] for line in sections[field].splitlines() if re.match(r"\| \d", line)]
                self.assertEqual(told, [[str(i), value] for i, value in enumerate(values)])
                self.assertEqual(members[field]["enum"], values)


class Private(unittest.TestCase):
    def test_no_private_path_or_unknown_host(self):
        private = re.compile("(?<![\\w.*<>-])/(home|root|work|tmp|Users)/")
        found = []
        for path in sources():
            if BYTES in path.parents:
                continue
            try:
                text = text_of(path)
            except UnicodeDecodeError:
                self.fail(f"{path.relative_to(ROOT)}: not text; nothing built belongs here")
            for number, line in enumerate(text.splitlines(), 1):
                hosts = {host.lower() for host in re.findall(r"https?://([\w.-]+)", line)}
                if private.search(line) or not hosts <= KNOWN_HOSTS:
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
        self.assertEqual(found, [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvproof", required=True)
    known, rest = parser.parse_known_args()
    KVPROOF = os.path.abspath(known.kvproof)
    unittest.main(argv=[sys.argv[0], *rest])
