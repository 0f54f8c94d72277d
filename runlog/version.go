package runlog

import "runtime/debug"

// release number of the program; the formats here change only with it.
const number = "0.2.0"

// Version is what every written file says in "version": the release, and the commit where the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return number
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	if revision == "" {
		return number
	}
	return number + revision + modified
}
