package serve

import (
	"embed"
	"io"
	"net/http"

	"universal-transformer/viewer"
)

// pageFiles hold the page on which people try the models. It holds no data and needs no other server.
//
//go:embed page
var pageFiles embed.FS

// pageScripts lists the page's own scripts in the order in which they run, after those of the trace view.
var pageScripts = []string{"client", "answer", "trace", "main"}

// pageEndpoints answer with the page. They need no token: the page asks for it.
func pageEndpoints() []endpoint {
	script := "(() => {\n\"use strict\";\n" + viewer.Script()
	for _, name := range pageScripts {
		script += pageFile(name + ".js")
	}
	script += "})();\n"
	return []endpoint{
		{method: http.MethodGet, path: "/", public: true, show: fixed("text/html", pageFile("page.html"))},
		{method: http.MethodGet, path: "/page.css", public: true, show: fixed("text/css", viewer.Style()+pageFile("page.css"))},
		{method: http.MethodGet, path: "/page.js", public: true, show: fixed("text/javascript", script)},
	}
}

// policy lets the page load what this server sends, and nothing else; text that became markup could run no script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// fixed answers with a text.
func fixed(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = io.WriteString(w, text) // not sent to a request with the method HEAD
	}
}

func pageFile(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
