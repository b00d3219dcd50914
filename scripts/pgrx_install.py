#!/usr/bin/env python3
"""Installs the extension with its tests for `cargo pgrx test`, which calls this as `cargo pgrx install`.

cargo-pgrx does not install the model, ONNX Runtime and the inference program, and would write the SQL script in another
order (decision 18). The build uses cargo-pgrx's environment, so that both share compiled crates.
"""

import argparse
import os

import backend_tests
import install


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pg-config", required=True, help="the server's pg_config")
    parser.add_argument("--release", action="store_true", help="build in the release profile")
    options, _ = parser.parse_known_args()
    installation = install.Installation.find(options.pg_config)
    installation.check(build=True)
    profile = "release" if options.release else "dev"
    staged = install.build(installation, profile, (backend_tests.FEATURE,), dict(os.environ))
    install.copy(staged, installation)


if __name__ == "__main__":
    main()
