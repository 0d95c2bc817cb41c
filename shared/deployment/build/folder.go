package build

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// writeFiles adds the files of a project that a build may read to its tree.
func writeFiles(t *tree.Tree, in Input) error {
	for name, data := range in.Files {
		if isPrivate(name) || keyFiles.MatchString(name) {
			continue
		}
		if err := t.Add(bytes.NewReader(data), int64(len(data)), name); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	return nil
}

// job is the input of the program.
type job struct {
	Tree      map[string]tree.Span // the files that can be read
	Files     map[string]int       // sizes of the project's files by path
	Settings  map[string][]byte    // files of settings that are not in the tree
	Variables map[string]string
}

func newJob(in Input, t *tree.Tree) job {
	j := job{
		Tree: t.Files(), Files: make(map[string]int, len(in.Files)),
		Settings: map[string][]byte{}, Variables: in.Variables,
	}
	for name, data := range in.Files {
		j.Files[name] = len(data)
		if hiddenSettings.MatchString(name) {
			j.Settings[name] = data
		}
	}
	return j
}

// hiddenSettings matches the files of settings whose names begin with a dot, in any folder: vite.config, which is read
// later, names the folder of the pages.
var hiddenSettings = regexp.MustCompile(`/\.(env(\.local|\.production(\.local)?)?|browserslistrc|gitignore|postcssrc(\.\w+)?)$`)

// result is the result of the program: an error, or an output.
type result struct {
	Error           *failure.Error
	Files           []outputFile
	Rules           map[string]string // files of the project with rules, by path in the site
	Notes, Warnings []string
}

// outputFile is a file of an output.
type outputFile struct {
	Path   string
	Source string // the file of the project that has the content; "" if the content is generated
	Size   int
	Hashed bool

	data []byte
}

// isOutputPath reports whether an output can have a file at a path.
func isOutputPath(name string) bool {
	return strings.HasPrefix(name, "/") && name != "/" && path.Clean(name) == name && !isNeverPublished(name) &&
		!strings.ContainsAny(name, "\\\x00")
}
