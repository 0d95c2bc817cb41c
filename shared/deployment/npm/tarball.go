package npm

import (
	"archive/tar"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"

	"devplatform/shared/deployment/failure"
)

// Limits of one tarball. They are far above those of real packages: most of the bytes of a package that are not in the
// budget are source maps and types.
const (
	maxTarball = 64 << 20  // compressed bytes
	maxStream  = 512 << 20 // bytes that are decompressed, including files that are left out
	maxPath    = 1024
)

// file is a file of a package.
type file struct {
	path string // in the package, such as "dist/index.js"
	data []byte
}

// contents are the files of a package that bundles can need.
type contents struct {
	files      []file
	downloaded bool
}

// budget is the memory that the packages of an installation can still use.
type budget struct{ bytes, files *sharedLimit }

func newBudget() *budget {
	return &budget{bytes: newSharedLimit(maxUnpacked), files: newSharedLimit(maxFiles)}
}

// sha512Hash is the hash of a tarball.
type sha512Hash [sha512.Size]byte

// parseIntegrity returns the SHA-512 of a package's integrity, such as "sha512-…". A value can have several hashes.
func parseIntegrity(s selected) (hash sha512Hash, err error) {
	for part := range strings.FieldsSeq(s.integrity) {
		encoded, ok := strings.CutPrefix(part, "sha512-")
		encoded, _, _ = strings.Cut(encoded, "?") // options
		sum, err := base64.StdEncoding.DecodeString(encoded)
		if ok && err == nil && len(sum) == len(hash) {
			return sha512Hash(sum), nil
		}
	}
	return hash, fail(failure.DependencyNotFound, "%s@%s has no valid SHA-512 integrity. If package-lock.json names it, "+
		"delete package-lock.json and deploy again; otherwise use another version.", s.name, s.version)
}

// download returns the files of a package from the registry. The memory that it takes from left is released if it
// returns an error.
func (r *registry) download(ctx context.Context, s selected, want sha512Hash, left *budget) (files []file, err error) {
	what := s.name + "@" + s.version
	err = r.get(ctx, r.tarballURL(s), "", what, func(body io.Reader) error {
		u := &unpacking{what: what, budget: left}
		if err := u.run(body, want); err != nil {
			u.release()
			return err
		}
		files = u.files
		return nil
	})
	if errors.Is(err, errMissing) {
		err = fail(failure.DependencyNotFound, "%s is not in the npm registry. Use another version.", what)
	}
	return files, err
}

// unpacking is the state of the unpacking of one tarball.
type unpacking struct {
	what     string // the package, for people
	budget   *budget
	files    []file
	reserved int64
}

func (u *unpacking) release() {
	u.budget.bytes.left.Add(u.reserved)
	u.budget.files.left.Add(int64(len(u.files)))
}

// run reads a tarball to its end and checks its hash.
func (u *unpacking) run(body io.Reader, want sha512Hash) error {
	hash := sha512.New()
	whole := io.TeeReader(&limitReader{body, maxTarball, u.tooLarge()}, hash)
	unpackErr := u.unpack(whole)
	var refused *failure.Error
	if errors.As(unpackErr, &refused) {
		return unpackErr
	}
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return err //nolint:wrapcheck // get classifies it
	}
	if sha512Hash(hash.Sum(nil)) != want {
		return fail(failure.DependencyNotFound, "%s in the npm registry does not have the expected SHA-512. If "+
			"package-lock.json names it, delete package-lock.json and deploy again; otherwise use another version.", u.what)
	}
	if unpackErr != nil {
		return fail(failure.BuildFailed, "The package %s is damaged. Use another version.", u.what)
	}
	return nil
}

func (u *unpacking) tooLarge() error {
	return fail(failure.DependencyTooLarge, "The package %s is too large. Use another package.", u.what)
}

func (u *unpacking) unpack(r io.Reader) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err //nolint:wrapcheck // run classifies it
	}
	archive := tar.NewReader(&limitReader{unzipped, maxStream, u.tooLarge()})
	positions := map[string]int{} // a later file with the same path replaces the earlier one
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err //nolint:wrapcheck // run classifies it
		}
		if header.Typeflag != tar.TypeReg {
			continue // npm ignores links and devices, too
		}
		name, err := u.path(header.Name)
		if err != nil {
			return err
		}
		if name == "" || !needed(name) {
			continue
		}
		data, err := u.read(archive, header.Size)
		if err != nil {
			return err
		}
		if at, ok := positions[name]; ok {
			u.files[at].data = data
			continue
		}
		positions[name] = len(u.files)
		u.files = append(u.files, file{name, data})
		if !u.budget.files.take(1) {
			u.files = u.files[:len(u.files)-1]
			return tooLarge()
		}
	}
}

// path returns the path of a file without the first folder, which is often "package". It returns "" for a file that is
// not in a folder.
func (u *unpacking) path(name string) (string, error) {
	if path.IsAbs(name) || strings.Contains("/"+name+"/", "/../") || strings.ContainsAny(name, "\\\x00") ||
		len(name) > maxPath {
		return "", fail(failure.BuildFailed, "The package %s has a file with an unsafe path. Use another version.", u.what)
	}
	_, name, _ = strings.Cut(path.Clean(name), "/")
	return name, nil
}

// read returns the next size bytes. It reserves the memory before it reads, so that a size that is not true has no
// effect.
func (u *unpacking) read(r io.Reader, size int64) ([]byte, error) {
	if !u.budget.bytes.take(size) {
		return nil, tooLarge()
	}
	u.reserved += size
	data := make([]byte, size)
	_, err := io.ReadFull(r, data)
	return data, err //nolint:wrapcheck // run classifies it
}

func tooLarge() error {
	return fail(failure.DependencyTooLarge, "The packages have more than %d MiB or %d files when they are unpacked. "+
		"Remove dependencies from package.json.", maxUnpacked>>20, maxFiles)
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
