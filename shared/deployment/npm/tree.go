package npm

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"devplatform/shared/deployment/failure"
)

// Limits of one package. They are far above those of real packages: most of the bytes of a package that do not count
// are source maps and types.
const (
	maxStream  = 512 << 20 // bytes that are decompressed, including files that are left out
	maxPath    = 1024
	maxSegment = 255 // the maximum length of a name in the file systems of Linux and macOS
)

// tree writes the files of one package to its places in node_modules.
type tree struct {
	root   *os.Root // the folder of the build
	copies *copies
	used   *usage

	bytes, files int64           // counted in used
	folders      map[string]bool // the folders of the package that are counted
	dir          string          // the folder of the last file, in the first place
	folder       *os.Root        // dir
	buffer       []byte
}

// unpack writes the files of a tar archive that bundles can need. If archive is not nil, it also receives them. It
// reads the stream to its end. Errors: *failure.Error; those of r; the error of ctx; an error of the disk.
func (t *tree) unpack(ctx context.Context, r io.Reader, archive *tar.Writer) error {
	defer t.close()
	limited := &limitReader{reader: r, left: newLimit(maxStream), err: t.tooLarge()}
	files := tar.NewReader(limited)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limited) // so that the checksum at the end is compared
			return err                            //nolint:wrapcheck // the caller classifies it
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err //nolint:wrapcheck // the caller classifies it
		}
		if header.Typeflag != tar.TypeReg {
			continue // npm ignores links and devices, too
		}
		name, err := t.path(header.Name)
		if err != nil {
			return err
		}
		if name == "" || !needed(name) {
			continue
		}
		if err := t.write(name, header.Size, files, archive); err != nil {
			return err
		}
	}
}

// path returns the path of a file without the first folder, which is often "package". It returns "" for a file that is
// not in a folder.
func (t *tree) path(name string) (string, error) {
	if path.IsAbs(name) || strings.Contains("/"+name+"/", "/../") || strings.ContainsAny(name, "\\\x00") ||
		len(name) > maxPath {
		return "", t.unsafe()
	}
	for segment := range strings.SplitSeq(name, "/") {
		if len(segment) > maxSegment {
			return "", t.unsafe()
		}
	}
	_, name, _ = strings.Cut(path.Clean(name), "/")
	return name, nil
}

func (t *tree) unsafe() error {
	return fail(failure.BuildFailed, "The package %s has a file with an unsafe path. Use another version.", t.copies.id())
}

func (t *tree) tooLarge() error {
	return fail(failure.DependencyTooLarge, "The package %s is too large. Use another package.", t.copies.id())
}

// write writes a file with size bytes of r. It counts the size before it reads, so that a size that is not true has no
// effect. A later file with the same path replaces the earlier one.
func (t *tree) write(name string, size int64, r io.Reader, archive *tar.Writer) error {
	files := int64((1 + t.newFolders(path.Dir(name))) * len(t.copies.locations))
	if err := t.used.add(t.copies.id(), size, files); err != nil {
		return err
	}
	t.bytes += size
	t.files += files
	file, err := t.create(path.Join(t.copies.locations[0], name))
	if err != nil {
		return err
	}
	var to io.Writer = struct{ io.Writer }{file} // without ReadFrom, which allocates a buffer for each file
	if archive != nil {
		header := &tar.Header{Name: "package/" + name, Size: size, Mode: 0o644, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return err //nolint:wrapcheck // the buffer of the cache does not fail
		}
		to = io.MultiWriter(file, archive)
	}
	if t.buffer == nil {
		t.buffer = make([]byte, 64<<10)
	}
	_, err = io.CopyBuffer(to, r, t.buffer)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return t.link(name)
}

// newFolders returns the number of folders that a file in dir adds to the package. A path can have hundreds of them.
func (t *tree) newFolders(dir string) (n int) {
	if t.folders == nil {
		t.folders = map[string]bool{}
	}
	for ; dir != "." && !t.folders[dir]; dir = path.Dir(dir) {
		t.folders[dir] = true
		n++
	}
	return n
}

// create opens a new file. It keeps the folder open, because the next file is often in the same one.
func (t *tree) create(name string) (*os.File, error) {
	dir, base := path.Split(name)
	if dir = strings.TrimSuffix(dir, "/"); dir != t.dir {
		t.close()
		if err := t.root.MkdirAll(dir, 0o755); err != nil {
			return nil, t.classify(err)
		}
		folder, err := t.root.OpenRoot(dir)
		if err != nil {
			return nil, t.classify(err)
		}
		t.dir, t.folder = dir, folder
	}
	file, err := t.folder.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if err = t.folder.Remove(base); err == nil {
			file, err = t.folder.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		}
	}
	return file, t.classify(err)
}

// link links the file of the first place from the others.
func (t *tree) link(name string) error {
	first := path.Join(t.copies.locations[0], name)
	for _, location := range t.copies.locations[1:] {
		other := path.Join(location, name)
		err := t.root.MkdirAll(path.Dir(other), 0o755)
		if err == nil {
			err = t.root.Link(first, other)
		}
		if errors.Is(err, fs.ErrExist) {
			if err = t.root.Remove(other); err == nil {
				err = t.root.Link(first, other)
			}
		}
		if err != nil {
			return t.classify(err)
		}
	}
	return nil
}

// classify returns a *failure.Error if a package uses a path for a file and for a folder, and other errors as they are.
func (t *tree) classify(err error) error {
	for _, hostile := range []error{syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.EEXIST} {
		if errors.Is(err, hostile) {
			return t.unsafe()
		}
	}
	return err
}

func (t *tree) close() {
	if t.folder != nil {
		_ = t.folder.Close()
	}
	t.folder, t.dir = nil, ""
}

// unneeded are the endings of files that no bundle needs: types, source maps and documents. They are about half of the
// bytes of a package.
var unneeded = []string{".d.ts", ".d.mts", ".d.cts", ".map", ".md", ".markdown", ".flow", ".tsbuildinfo"}

func needed(name string) bool {
	lower := strings.ToLower(name)
	for _, suffix := range unneeded {
		if strings.HasSuffix(lower, suffix) {
			return false
		}
	}
	return true
}
