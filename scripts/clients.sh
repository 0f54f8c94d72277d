#!/usr/bin/env bash
# Tests ut serve with OpenAI's own clients in Go and Python: they list models, complete, sample and stream. The Go client is fetched from the
# module proxy; the Python client is that of PYTHON, and left out by name if it is missing:
#
#	PYTHON=python3 scripts/clients.sh
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
go build -o bin/ut ./cmd/ut
log=$(mktemp)
bin/ut serve models/reverse --address localhost:0 2>"$log" &
server=$!
trap 'kill $server 2>/dev/null || true; rm -f "$log"' EXIT
until address=$(sed -n 's|.* at http://\([^;]*\);.*|\1|p' "$log") && [ -n "$address" ]; do
  kill -0 $server 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.1
done
(cd scripts/clients && go run . "$address")
python=${PYTHON:-python3}
if "$python" -c 'import openai' 2>/dev/null; then
  "$python" scripts/clients/client.py "$address"
else
  echo "Python: left out, $python has no package openai"
fi
