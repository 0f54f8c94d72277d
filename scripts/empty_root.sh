#!/usr/bin/env bash
# Runs the static binary as the Dockerfile's image does, where there is no other file: trains the demo's recipe, decodes, and serves. It needs root,
# or user namespaces; without both it prints one line and does nothing.
#
#	scripts/empty_root.sh [STEPS]
set -euo pipefail
cd "$(dirname "$0")/.."
steps=${1:-60}

root="$(mktemp -d)"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/runs"
CGO_ENABLED=0 "${GO:-go}" build -buildvcs=auto -trimpath -ldflags=-s -o "$root/ut" ./cmd/ut

alone=(chroot)
[ "$(id -u)" = 0 ] || alone=(unshare --map-root-user chroot)
if ! "${alone[@]}" "$root" /ut --version 2>/dev/null; then
	echo "empty root: skipped, because neither root nor user namespaces are available"
	exit 0
fi
run() { "${alone[@]}" "$root" /ut "$@"; }

run doctor
run train demo --set training.steps="$steps" --set training.evaluate_every="$steps" --set training.validation=16 --out /runs/demo 2>/dev/null
answer="$(echo 20182019 | run decode /runs/demo)"
echo "20182019 -> $answer"
[ -n "$answer" ]
run train demo --set training.steps=5 --set training.evaluate_every=5 --set training.validation=16 --out /runs/short 2>/dev/null
run compare /runs/demo /runs/short --count 10 --out /runs/compared.html 2>/dev/null
[ -s "$root/runs/compared.html" ]

: >"$root/log" # the shell of the next line may start later than the loop that reads it
"${alone[@]}" "$root" /ut serve /runs/demo --address 127.0.0.1:0 2>>"$root/log" &
server=$!
address=
for _ in $(seq 100); do
	address="$(sed -n 's/.* at http:\/\/\([0-9.:]*\);.*/\1/p' "$root/log")"
	[ -z "$address" ] || break
	sleep 0.1
done
[ -n "$address" ] || { cat "$root/log"; exit 1; }
exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
body='{"model": "demo", "prompt": "20182019"}'
printf 'POST /v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' "$address" "${#body}" "$body" >&3
reply="$(cat <&3)"
[[ "$reply" == *"\"text\":\"$answer\""* || "$reply" == *"\"text\": \"$answer\""* ]] || { echo "serve answered: $reply"; exit 1; }
kill -TERM "$server"
wait "$server"
server=
echo "empty root: trained, decoded, compared and served"
