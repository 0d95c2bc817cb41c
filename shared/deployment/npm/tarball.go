package npm

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/objectstore"
)

// Limits of the tarballs that are downloaded. They wait on the disk until their hash is known.
const (
	maxTarball  = 64 << 20  // compressed bytes of one
	maxTarballs = 256 << 20 // compressed bytes of all
)

// unpackSlots limits the tarballs of all installations that are unpacked at the same time, because the objects of the
// cache that are made of them are in memory.
var unpackSlots = make(chan struct{}, 2)

// sha512Hash is the hash of a tarball.
type sha512Hash [sha512.Size]byte

// parseIntegrity returns the SHA-512 of a package's integrity, such as "sha512-…". A value can have several hashes.
func parseIntegrity(s selectedPackage) (hash sha512Hash, err error) {
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

// download gets a package from the registry, writes its files, and stores them in the cache. No byte of a tarball is
// interpreted before its hash was compared.
func (i *Installer) download(ctx context.Context, c *placedPackage) error {
	file, err := os.CreateTemp("", "package-")
	if err != nil {
		return fmt.Errorf("npm: create a temporary file: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(file.Name()); err != nil { // it exists until it is closed
		return fmt.Errorf("npm: remove a temporary file: %w", err)
	}
	err = i.registry.get(ctx, i.registry.tarballURL(c.selectedPackage), "", c.id(), func(body io.Reader) error {
		return c.save(body, file)
	})
	switch {
	case errors.Is(err, errMissing):
		return fail(failure.DependencyNotFound, "%s is not in the npm registry. Use another version.", c.id())
	case err != nil:
		return err
	}
	select {
	case unpackSlots <- struct{}{}:
		defer func() { <-unpackSlots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	object, err := c.unzip(ctx, file)
	if err != nil {
		return err
	}
	if err := i.deps.Bucket.Create(ctx, cacheKey(c.hash), object); err != nil && !errors.Is(err, objectstore.ErrExists) {
		i.deps.Logger.WarnContext(ctx, "a package was not cached", "package", c.id(), "cause", err.Error())
	}
	return nil
}

// save writes a tarball to a file, replaces what an earlier attempt wrote, and compares the hash.
func (c *placedPackage) save(body io.Reader, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("npm: write a temporary file: %w", err)
	}
	hash := sha512.New()
	limited := &limitReader{reader: body, left: limitOf(maxTarball), err: c.errTooLarge()}
	counted := &limitReader{reader: limited, left: c.usage.tarballs, err: fail(failure.DependencyTooLarge,
		"The packages have more than %d MiB when they are compressed. Remove dependencies from package.json.",
		c.usage.limits.tarballs>>20)}
	size, err := io.Copy(io.MultiWriter(file, hash), counted)
	if err == nil {
		err = file.Truncate(size)
	}
	switch {
	case err != nil:
		return err
	case sha512Hash(hash.Sum(nil)) != c.hash:
		return fail(failure.DependencyNotFound, "%s in the npm registry does not have the expected SHA-512. If "+
			"package-lock.json names it, delete package-lock.json and deploy again; otherwise use another version.",
			c.id())
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

// unzip writes the files of a tarball, and returns them as an object of the cache.
func (c *placedPackage) unzip(ctx context.Context, tarball *os.File) ([]byte, error) {
	damaged := fail(failure.BuildFailed, "The package %s is damaged. Use another version.", c.id())
	unzipped, err := gzip.NewReader(tarball)
	if err != nil {
		return nil, damaged
	}
	var object bytes.Buffer
	compressed, err := zstd.NewWriter(&object, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(cacheWindow),
		zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("npm: compress: %w", err)
	}
	archive := tar.NewWriter(compressed)
	if err := c.unpack(ctx, unzipped, archive); err != nil {
		if isDamage(err) {
			return nil, damaged
		}
		return nil, err
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, fmt.Errorf("npm: compress: %w", err)
	}
	return object.Bytes(), nil
}
