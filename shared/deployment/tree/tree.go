// Package tree stores the files of a build for a bundler. A tree is a zip archive in which all files are empty, and one
// file with the contents of all files. The bundler finds files in the archive, and its caller gives it their contents.
// esbuild reads an archive like a folder, so thousands of files need only two files on the disk. Only manifests, which
// bundlers read themselves, have content in the archive. Apart from manifests, the package does not interpret files.
package tree

import (
	"archive/zip"
	"context"
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
)

// Tree is the files of a build. The paths of files are absolute in the tree, such as "/src/main.js". It is safe for
// concurrent use.
type Tree struct {
	dir      string
	contents *os.File
	folders  func() map[string]bool // all folders; used only after the last file was added

	mu    sync.Mutex
	end   int64 // of the contents
	files map[string]Span
}

// Span is the offset and the size of a file in the contents.
type Span [2]int64

// Size returns the size of a file.
func (s Span) Size() int { return int(s[1]) }

// The names in the folder of a tree. esbuild recognizes an archive by its extension.
const (
	archiveFile  = "files.zip"
	contentsFile = "contents"
)

// Create returns a new tree in an empty folder. The caller must call Close.
func Create(dir string) (*Tree, error) {
	t, err := open(dir, os.O_RDWR|os.O_CREATE|os.O_EXCL, map[string]Span{})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, yarnManifest), []byte(emptyYarnManifest), 0o600); err != nil {
		t.Close()
		return nil, fmt.Errorf("tree: %w", err)
	}
	return t, nil
}

// Open returns a tree that another process has finished. files is the result of Files in that process. The caller must
// call Close.
func Open(dir string, files map[string]Span) (*Tree, error) { return open(dir, os.O_RDONLY, files) }

func open(dir string, flags int, files map[string]Span) (*Tree, error) {
	contents, err := os.OpenFile(filepath.Join(dir, contentsFile), flags, 0o600) //nolint:gosec // the folder of a build
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	t := &Tree{dir: dir, contents: contents, files: files}
	t.folders = sync.OnceValue(t.findFolders)
	return t, nil
}

// Dir returns the path of the archive, which is the folder of the files for the bundler.
func (t *Tree) Dir() string { return filepath.Join(t.dir, archiveFile) }

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
	return data, err
}

// HasFolder reports whether a folder of a finished tree exists.
func (t *Tree) HasFolder(name string) bool { return t.folders()[name] }

func (t *Tree) findFolders() map[string]bool {
	folders := map[string]bool{}
	for name := range t.Files() {
		for dir := path.Dir(name); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	return folders
}

// Add adds a file at one or more paths. Its content is the next size bytes of r. A later file with the same path
// replaces an earlier one. Errors: io.ErrUnexpectedEOF if r ends early; the errors of r; an error of the disk, which is
// a *fs.PathError.
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
		t.files[name] = span
	}
	return nil
}

// maxManifests is the maximum size of all manifests in the archive, in bytes. A manifest with several paths counts once
// for each path.
const maxManifests = 64 << 20

// ErrManifests reports that the manifests have more than 64 MiB.
var ErrManifests = errors.New("tree: the manifests are too large")

// Finish writes the archive for the bundler. No files can be added later. It reads all manifests, which can take longer
// than a build may take, so it ends with ctx. Errors: the error of ctx; ErrManifests; an error of the disk.
func (t *Tree) Finish(ctx context.Context) error {
	file, err := os.OpenFile(t.Dir(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	archive := zip.NewWriter(file)
	err = t.writeEntries(ctx, archive)
	if err = errors.Join(err, archive.Close(), file.Close()); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	return nil
}

func (t *Tree) writeEntries(ctx context.Context, archive *zip.Writer) error {
	if !t.Has(rootManifest) { // otherwise bundlers would use a manifest of the folders above
		if err := writeEntry(archive, rootManifest, []byte(emptyManifest)); err != nil {
			return err
		}
	}
	size := 0
	for name, span := range t.Files() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var content []byte
		switch base := path.Base(name); {
		case strings.HasPrefix(base, ".pnp."):
			continue // bundlers would use such a file of a package
		case base == "package.json" && span.Size() <= maxManifest:
			data, err := t.Read(name)
			if err != nil {
				return err
			}
			safe, needsEmpty := safeManifest(name, data)
			content = safe
			if empty := path.Join(path.Dir(name), emptyFile); needsEmpty && !t.Has(empty) {
				t.mu.Lock()
				t.files[empty] = Span{}
				t.mu.Unlock()
				if err := writeEntry(archive, empty, nil); err != nil {
					return err
				}
			}
		}
		if size += len(content); size > maxManifests {
			return ErrManifests
		}
		if err := writeEntry(archive, name, content); err != nil {
			return err
		}
	}
	return nil
}

func writeEntry(archive *zip.Writer, name string, content []byte) error {
	w, err := archive.CreateHeader(&zip.FileHeader{Name: strings.TrimPrefix(name, "/")})
	if err == nil && len(content) > 0 {
		_, err = w.Write(content)
	}
	return err
}
