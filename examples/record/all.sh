#!/bin/sh
# Records all example runs anew: examples/record/all.sh examples/.prose
# The same rows and files come out each time; a test holds the examples to that.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: $0 FOLDER, such as examples/.prose}
mkdir -p "$out"
for run in hunt-flaky-tests heat-the-school translate-manual ship-tax-rules; do
  sh "$here/$run.sh" "$out"
done
