# SPDX-License-Identifier: Apache-2.0
"""Java programs of the tests: the jars of a pom.xml, and one source file compiled against them.

    folder = java_program("kafka", pom)                 -cp folder/*
    folder = java_program("rest-catalog", pom, main)    -cp folder/classes:folder/*

Made once into the cache folder; another pom or source has a folder of its own, so that processes do not meet.
"""

import hashlib
import os
import shutil
import tempfile

from .loopback import CACHE
from .set_up import set_up


def java_program(name, pom, main=None):
    wanted = hashlib.sha256(pom.read_bytes() + (main.read_bytes() if main else b"")).hexdigest()[:12]
    target = CACHE / name / wanted
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    made = tempfile.mkdtemp(dir=target.parent)
    try:
        set_up("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime",
               f"-DoutputDirectory={made}")
        if main:
            set_up("javac", "-cp", f"{made}/*", "-d", f"{made}/classes", main)
        os.rename(made, target)
    except OSError:
        if not target.exists():  # else somebody was faster
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return target
