package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"devplatform/shared/deployment/failure"
)

// writeFolder writes the files of a project that a build may read. A file whose path the file system cannot store is
// left out: it can be published, but not bundled.
func writeFolder(dir string, in Input) error {
	made := map[string]bool{"/": true}
	for name, data := range in.Files {
		if isPrivate(name) || isKey(name) || name == manifestPath {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		if folder := path.Dir(name); !made[folder] {
			err = os.MkdirAll(filepath.Dir(file), 0o700)
			made[folder] = err == nil
		}
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil && !errors.Is(err, syscall.ENAMETOOLONG) && !errors.Is(err, syscall.ENOTDIR) &&
			!errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.EEXIST) {
			return fmt.Errorf("build: %w", err)
		}
	}
	for name, data := range map[string][]byte{
		manifestPath: rootManifest(in.Files[manifestPath]), plugAndPlayPath: []byte(plugAndPlay),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	return nil
}

// plugAndPlay is a manifest of Yarn that does not apply to any file. Without it, the bundler would use one in a folder
// above.
const (
	plugAndPlayPath = "/.pnp.data.json"
	plugAndPlay     = `{"packageRegistryData":[],"ignorePatternData":""}`
)

// manifestFields are the fields of the project's package.json that the bundler honors.
var manifestFields = []string{"name", "type", "imports", "exports", "sideEffects", "browser"}

// rootManifest returns the package.json for the bundler. Without one, and without the field browser, the bundler would
// use a package.json in a folder above.
func rootManifest(data []byte) []byte {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(trimBOM(data), &all) // check reports the error
	kept := map[string]json.RawMessage{"browser": json.RawMessage("{}")}
	for _, name := range manifestFields {
		if value, ok := all[name]; ok && (name != "browser" || strings.HasPrefix(string(value), "{")) {
			kept[name] = value
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return []byte(`{"browser":{}}`)
	}
	return text
}

// job is the input of the program.
type job struct {
	Files     map[string]int    // sizes of the project's files by path
	Manifest  []byte            // package.json
	Env       map[string][]byte // files of variables
	Variables map[string]string
}

func newJob(in Input) job {
	j := job{
		Files: make(map[string]int, len(in.Files)), Manifest: in.Files[manifestPath], Env: map[string][]byte{},
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
