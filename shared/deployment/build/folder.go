package build

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"

	"devplatform/shared/deployment/build/tree"
	"devplatform/shared/deployment/failure"
)

// writeFiles adds the files of a project that a build may read to its tree. A file whose path the file system cannot
// store can be published, but not bundled.
func writeFiles(t *tree.Tree, in Input) error {
	for name, data := range in.Files {
		if isPrivate(name) || isKey(name) {
			continue
		}
		err := t.Add(bytes.NewReader(data), int64(len(data)), name)
		if err != nil && !errors.Is(err, syscall.ENAMETOOLONG) && !errors.Is(err, syscall.ENOTDIR) &&
			!errors.Is(err, syscall.EISDIR) {
			return fmt.Errorf("build: %w", err)
		}
	}
	return nil
}

// job is the input of the program.
type job struct {
	Tree      map[string]tree.Span // the files that can be read
	Files     map[string]int       // sizes of the project's files by path
	Manifest  []byte               // package.json
	Env       map[string][]byte    // files of variables
	Variables map[string]string
}

func newJob(in Input, t *tree.Tree) job {
	j := job{
		Tree: t.Files(), Files: make(map[string]int, len(in.Files)), Manifest: in.Files[manifestPath], Env: map[string][]byte{},
		Variables: in.Variables,
	}
	for name, data := range in.Files {
		j.Files[name] = len(data)
	}
	for _, name := range envFiles {
		if data, ok := in.Files[name]; ok {
			j.Env[name] = data
		}
	}
	return j
}

// result is the result of the program: an error, or an output.
type result struct {
	Error           *failure.Error
	Files           []published
	Notes, Warnings []string
}

// published is a file of an output.
type published struct {
	Path   string
	Source string // the file of the project that has the content; "" if the content is in data
	Size   int
	Hashed bool

	data []byte
}

// isOutputPath reports whether an output can have a path.
func isOutputPath(name string) bool {
	return strings.HasPrefix(name, "/") && name != "/" && path.Clean(name) == name && !isNeverPublished(name) &&
		!strings.ContainsAny(name, "\\\x00")
}
