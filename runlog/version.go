package runlog

import (
	"path"
	"reflect"
	"regexp"
	"runtime/debug"
)

// number is the release of the program. The file formats of this package change only with it.
const number = "0.2.0"

// modulePath is the path of this module, which forks change.
var modulePath = path.Dir(reflect.TypeFor[Run]().PkgPath())

// Version returns the value of "version" in every written file: the release, and what the build knows of the commit. In programs of other modules that
// is the version of this module, which contains the commit unless it is a tag; in those that take the module from a folder, nothing is known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return number
	}
	return version(info)
}

// version returns the version of a build.
func version(info *debug.BuildInfo) string {
	if info.Main.Path == modulePath {
		return number + revision(info.Settings)
	}
	for _, m := range info.Deps {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return number + ofModule(m.Version)
	}
	return number
}

// revision returns the commit in the settings of a build, which are those of the main module: "+70be9d05caaf".
func revision(settings []debug.BuildSetting) string {
	commit, modified := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + modified
}

// pseudo matches the versions that the go command makes of a commit without a tag.
var pseudo = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})(\+incompatible)?$`)

// ofModule returns the commit in the version of a module, or else the version: "+70be9d05caaf", "+v0.2.1".
func ofModule(version string) string {
	switch commit := pseudo.FindStringSubmatch(version); {
	case commit != nil:
		return "+" + commit[1]
	case version == "" || version == "(devel)":
		return ""
	}
	return "+" + version
}
