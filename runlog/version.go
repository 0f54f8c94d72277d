package runlog

import "runtime/debug"

// number is the release of the program. The file formats of this package change only with it.
const number = "0.2.0"

// Version returns the value of "version" in every written file: the release, and the commit if the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return number
	}
	return version(info.Settings)
}

// version returns the version of a build with the given settings.
func version(settings []debug.BuildSetting) string {
	revision, modified := "", ""
	for _, s := range settings {
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
