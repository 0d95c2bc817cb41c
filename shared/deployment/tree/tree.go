// Package tree stores the files of a build for a bundler that finds files on the disk, but gets their contents from
// its caller: a folder in which all files are links to an empty one, beside one file with all contents. A file then
// costs little more than its name. Only manifests, which bundlers read themselves, are files of their own. What the
// files mean does not belong here.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Tree is the files of a build. The paths of files are absolute in the tree, such as "/src/main.js". It is safe for
// concurrent use.
type Tree struct {
	dir      string
	contents *os.File

	mu      sync.Mutex
	end     int64 // of the contents
	files   map[string]Span
	folders map[string]bool // that exist
	empty   string          // the path of an empty file
}

// Span is the offset and the size of a file in the contents.
type Span [2]int64

// Size returns the size of a file.
func (s Span) Size() int { return int(s[1]) }

// The names in the folder of a tree.
const (
	filesFolder  = "files"
	contentsFile = "contents"
)

// Create returns a new tree in an empty folder, with manifests that keep bundlers from using those of folders above.
// The caller must call Close.
func Create(dir string) (*Tree, error) {
	t, err := open(dir, os.O_RDWR|os.O_CREATE|os.O_EXCL, map[string]Span{})
	if err != nil {
		return nil, err
	}
	err = os.Mkdir(t.dir, 0o700)
	for name, text := range rootManifests {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("tree: %w", err)
	}
	return t, nil
}

// Open returns a tree that another process has written, with the files that its Files returned. The caller must call
// Close.
func Open(dir string, files map[string]Span) (*Tree, error) { return open(dir, os.O_RDONLY, files) }

func open(dir string, flags int, files map[string]Span) (*Tree, error) {
	contents, err := os.OpenFile(filepath.Join(dir, contentsFile), flags, 0o600) //nolint:gosec // the folder of a build
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	return &Tree{dir: filepath.Join(dir, filesFolder), contents: contents, files: files, folders: map[string]bool{}}, nil
}

// Dir returns the folder of the files on the disk.
func (t *Tree) Dir() string { return t.dir }

// Close closes the file with the contents.
func (t *Tree) Close() { _ = t.contents.Close() }

// Files returns where the files are in the contents.
func (t *Tree) Files() map[string]Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.files)
}

// Has reports whether a file exists.
func (t *Tree) Has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.files[name]
	return ok
}

// Read returns the content of a file. Errors: fs.ErrNotExist; an error of the disk.
func (t *Tree) Read(name string) ([]byte, error) {
	t.mu.Lock()
	span, ok := t.files[name]
	t.mu.Unlock()
	if !ok {
		return nil, fs.ErrNotExist
	}
	data := make([]byte, span.Size())
	_, err := t.contents.ReadAt(data, span[0])
	return data, err //nolint:wrapcheck // names the file
}

// Add adds a file at one or more paths. Its content is the next size bytes of r. A later file with the same path
// replaces an earlier one. Errors: io.ErrUnexpectedEOF if r ends early; those of r; an error of the disk, which is a
// *fs.PathError or *os.LinkError.
func (t *Tree) Add(r io.Reader, size int64, names ...string) error {
	t.mu.Lock()
	span := Span{t.end, size}
	t.end += size
	t.mu.Unlock()
	written, err := io.Copy(io.NewOffsetWriter(t.contents, span[0]), io.LimitReader(r, size))
	if err == nil && written < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if err := t.place(name, span); err != nil {
			return err
		}
		t.files[name] = span
	}
	return nil
}

// place makes a file exist on the disk.
func (t *Tree) place(name string, span Span) error {
	if strings.HasPrefix(path.Base(name), ".pnp.") {
		return nil // bundlers would use such a file of a package
	}
	file := t.dir + filepath.FromSlash(name)
	if folder := filepath.Dir(file); !t.folders[folder] {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err //nolint:wrapcheck // names the folder
		}
		t.folders[folder] = true
	}
	if path.Base(name) == "package.json" && span.Size() <= maxManifest {
		return t.writeManifest(name, file, span)
	}
	if t.folders[file] {
		return &fs.PathError{Op: "link", Path: file, Err: syscall.EISDIR}
	}
	if err := os.Link(t.empty, file); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// There is no empty file yet, or it has too many links.
	created, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in the folder of a build
	if err != nil {
		return err //nolint:wrapcheck // names the file
	}
	t.empty = file
	return created.Close() //nolint:wrapcheck // names the file
}

// writeManifest writes a manifest for the bundler.
func (t *Tree) writeManifest(name, file string, span Span) error {
	data := make([]byte, span.Size())
	if _, err := t.contents.ReadAt(data, span[0]); err != nil {
		return err //nolint:wrapcheck // names the file
	}
	safe, needsEmpty := safeManifest(name, data)
	if needsEmpty {
		empty := path.Join(path.Dir(name), emptyFile)
		t.files[empty] = Span{}
		if err := t.place(empty, Span{}); err != nil {
			return err
		}
	}
	_ = os.Remove(file)                    // it can be a link, if the disk ignores the case of names
	return os.WriteFile(file, safe, 0o600) //nolint:wrapcheck // names the file
}
