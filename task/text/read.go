package text

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/textfile"
)

// maxSize is far above any text of this task in bytes; a larger one is probably a mistake.
const maxSize = 4 << 30

// read returns the text of a file, or of the files of a folder.
func read(path string) (content string, notes []string, err error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return readFolder(path)
	}
	content, err = archive.ReadText(path, maxSize)
	return plain(content), nil, err
}

// plain returns a text whose lines end with LF alone, without the byte order marks of files that were joined.
func plain(content string) string {
	return strings.NewReplacer("\r\n\ufeff", "\n", "\n\ufeff", "\n", "\r\n", "\n").Replace(content)
}

// readFolder joins the text files of a folder and of the folders below it, in the order of their paths. Hidden files are left out. The folder may
// be a symbolic link.
func readFolder(folder string) (content string, notes []string, err error) {
	var joined strings.Builder
	used, others := 0, 0
	root := folder + string(filepath.Separator) // without it, WalkDir does not follow a link
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && path != root:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case !isText(entry.Name()):
			others++
			return nil
		}
		text, err := archive.ReadText(path, maxSize-int64(joined.Len()))
		if err != nil {
			return textfile.InFolder(path, err)
		}
		used++
		joined.WriteString(text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			joined.WriteByte('\n')
		}
		return nil
	})
	switch {
	case err != nil:
		return "", nil, err
	case used == 0:
		return "", nil, fmt.Errorf("%s has no file named .txt, .txt.gz or .txt.xz", folder)
	}
	notes = append(notes, fmt.Sprintf("%s: %d text files, %d other files are not read", folder, used, others))
	return plain(joined.String()), notes, nil
}

// isText reports whether a file of a folder is read.
func isText(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".xz"), ".txt")
}
