"""check_spdx.py -- what SPDX 2.3 asks of a document in JSON, of what sbom.lua writes; one line for each fault, and status 1.
Usage: check_spdx.py FILE     Depends on: Python alone.  Used by: tests/build/package_spec.lua."""
import json
import re
import sys

KINDS = {"DESCRIBES", "CONTAINS", "DEPENDS_ON", "DYNAMIC_LINK", "STATIC_LINK", "BUILD_TOOL_OF"}
LICENCES = {"MIT", "ISC", "Zlib", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "MPL-2.0", "Apache-2.0", "LGPL-2.1-only",
            "LGPL-2.1-or-later", "LGPL-3.0-or-later", "GPL-2.0-or-later", "GPL-3.0-or-later"}
EXCEPTIONS = {"GCC-exception-3.1", "LLVM-exception"}
DOCUMENT = {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": "SPDXRef-DOCUMENT", "name": r"penumbra-\d+\.\d+\.\d+",
            "documentNamespace": r"https?://[^#]+"}
PACKAGE = {"name": ".+", "downloadLocation": "NOASSERTION", "copyrightText": ".+", "supplier": "NOASSERTION|(Organization|Person): .+",
           "versionInfo": r"[\w.:+~-]+"}
faults = []


def need(holds, *words):
    if not holds:
        faults.append(" ".join(str(word) for word in words))


def need_fields(thing, fields):
    for field, pattern in fields.items():
        value = thing.get(field)
        need(isinstance(value, str) and re.fullmatch(pattern, value), thing.get("SPDXID"), field, "is", repr(value))


def need_licence(thing, field):
    for part in str(thing.get(field)).split(" AND "):
        licence, _, exception = part.partition(" WITH ")
        need(licence in LICENCES and (exception in EXCEPTIONS or not exception), thing["SPDXID"], field, "has", part)


def main(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    need_fields(document, DOCUMENT)
    need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "created")
    need(all(re.match("(Tool|Organization|Person): ", creator) for creator in document["creationInfo"]["creators"]), "creators")
    things = [document] + document["packages"] + document["files"]
    names = {thing["SPDXID"] for thing in things}
    need(len(names) == len(things), "an SPDXID is there twice")
    for name in names:
        need(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), name, "is no SPDXID")
    for package in document["packages"]:
        need_fields(package, PACKAGE)
        need_licence(package, "licenseDeclared")
        need_licence(package, "licenseConcluded")
        code = package.get("packageVerificationCode", {}).get("packageVerificationCodeValue", "")
        need(package["filesAnalyzed"] is bool(re.fullmatch("[0-9a-f]{40}", code)), package["SPDXID"], "has the code", code)
        for reference in package.get("externalRefs", []):
            need(re.fullmatch(r"pkg:deb/debian/[\w.%-]+@[\w.~%-]+", reference["referenceLocator"]), reference)
    for file in document["files"]:
        need(file["fileName"].startswith("./") and re.fullmatch("[0-9a-f]{40}", file["checksums"][0]["checksumValue"]), file)
    reached = {"SPDXRef-DOCUMENT"}
    for link in document["relationships"]:
        ends = {link["spdxElementId"], link["relatedSpdxElement"]}
        need(ends <= names and link["relationshipType"] in KINDS, link)
        reached |= ends
    need(reached == names, "nothing leads to", names - reached)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main(sys.argv[1]))
