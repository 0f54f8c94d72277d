#!/usr/bin/env bash
# Changes the module path everywhere: in go.mod, imports, the modules below examples, documents and generated headers. Names of file formats
# that begin with the same word do not change.
#
#	scripts/module.sh example.com/you/universal-transformer
set -euo pipefail
cd "$(dirname "$0")/.."
new=${1:?name the new module path}
[[ $new =~ ^[A-Za-z0-9._~/-]+$ ]] || { echo "$new is not a module path" >&2; exit 2; }
old=$(sed -n 's/^module //p' go.mod)

escaped=$(sed 's/[.]/\\./g' <<<"$old")
folders=$(git ls-files '*.go' | grep / | cut -d/ -f1 | sort -u | grep -v '^examples$' | paste -sd'|')
git ls-files -z '*.go' '*.s' '*.md' '*go.mod' | xargs -0 sed -E -i.bak \
	-e "s#(^|[^A-Za-z0-9._/-])$escaped/($folders)([^A-Za-z0-9_-]|\$)#\1$new/\2\3#g" \
	-e "s#((^|[[:space:]])(module|require|replace|go doc|ut|const module =) [\"]?)$escaped([\",.;)[:space:]\`]|\$)#\1$new\4#g" \
	-e "s#^(	)$escaped (v[0-9])#\1$new \2#" \
	-e "s#\`$escaped\`#\`$new\`#g"
git ls-files -z '*.go' '*.s' '*.md' '*go.mod' | sed -z 's/$/.bak/' | xargs -0 rm -f
git ls-files -z '*.go' | xargs -0 gofmt -w
echo "$old is now $new"
