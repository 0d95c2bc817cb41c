package npm

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// Limits of one package. Real packages are far below them: most of their bytes are source maps and types, which do not
// count.
const (
	maxStream = 512 << 20 // bytes that are decompressed, including files that are left out
	maxPath   = 1024
	// longPath is a number of bytes: a file counts once more for each longPath bytes of its path, because the paths of all
	// files are in memory.
	longPath = 256
)

// unpack writes the files of a tar archive that bundles can need. If archive is not nil, it also receives them. It
// reads the stream to its end. Errors: *failure.Error; the errors of r; the error of ctx; an error of the disk;
// io.ErrUnexpectedEOF if the archive is empty.
func (c *placedPackage) unpack(ctx context.Context, r io.Reader, archive *tar.Writer) error {
	limited := &limitReader{reader: r, left: limitOf(maxStream), err: c.errTooLarge()}
	files := tar.NewReader(limited)
	for n := 0; ; n++ {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF):
			_, err = io.Copy(io.Discard, limited) // so that the checksum at the end is compared
			return err
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if header.Typeflag != tar.TypeReg {
			continue // npm ignores links and devices, too
		}
		name, err := c.path(header.Name)
		if err != nil {
			return err
		}
		if name == "" || !isNeeded(name) {
			continue
		}
		if err := c.write(name, header.Size, files, archive); err != nil {
			return err
		}
	}
}

// path returns the path of a file without the first folder, which is often "package". It returns "" for a file that is
// not in a folder.
func (c *placedPackage) path(name string) (string, error) {
	if path.IsAbs(name) || strings.Contains("/"+name+"/", "/../") || strings.ContainsAny(name, "\\\x00") ||
		len(name) > maxPath {
		return "", fail(failure.BuildFailed, "The package %s has a file with an unsafe path. Use another version.", c.id())
	}
	_, name, _ = strings.Cut(path.Clean(name), "/")
	return name, nil
}

func (c *placedPackage) errTooLarge() error {
	return fail(failure.DependencyTooLarge, "The package %s is too large. Use another package.", c.id())
}

// write adds a file with size bytes of r to the tree, at all places of the package. It counts the size before it reads,
// so that a size that is not true has no effect. A later file with the same path replaces the earlier one.
func (c *placedPackage) write(name string, size int64, r io.Reader, archive *tar.Writer) error {
	var paths []string
	files := 0
	for _, location := range c.locations {
		file := "/" + location + "/" + name
		paths = append(paths, file)
		files += 1 + len(file)/longPath
	}
	if err := c.usage.add(c.id(), size, int64(files)); err != nil {
		return err
	}
	if archive != nil {
		header := &tar.Header{Name: "package/" + name, Size: size, Mode: 0o644, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		r = io.TeeReader(r, archive)
	}
	return c.tree.Add(r, size, paths...)
}

// unneededEndings are the endings of files that no bundle needs: types, source maps and documents. They are about half
// of the bytes of a package.
var unneededEndings = []string{".d.ts", ".d.mts", ".d.cts", ".map", ".md", ".markdown", ".flow", ".tsbuildinfo"}

func isNeeded(name string) bool {
	name = strings.ToLower(name)
	return !slices.ContainsFunc(unneededEndings, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
