"""Counts the results that ctest wrote as JUnit XML. The last line printed is the count; status 1 unless all is well."""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped. A test that ctest could not start is "notrun", and that is a failure, not a skip."""
    status = case.get("status")
    if status == "run":
        return "passed"
    skipped = case.find("skipped")
    if status == "disabled" or (skipped is not None and skipped.get("message", "").startswith("SKIP_")):
        return "skipped"
    return "failed"


def main(path):
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no results: {error}")
        print("0 passed, 0 failed")
        return 1
    names = {"passed": [], "failed": [], "skipped": []}
    for case in cases:
        names[outcome(case)].append(case.get("name"))
    for kind in ("skipped", "failed"):
        for name in names[kind]:
            print(f"{kind}: {name}")
    if not names["passed"] and not names["failed"]:
        print("no test ran")
    skipped = f", {len(names['skipped'])} skipped" if names["skipped"] else ""
    print(f"{len(names['passed'])} passed, {len(names['failed'])} failed{skipped}")
    return 0 if names["passed"] and not names["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
