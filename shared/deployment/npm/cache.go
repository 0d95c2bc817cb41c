package npm

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/klauspost/compress/zstd"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/objectstore"
)

// An object of the cache has the SHA-512 of a tarball in its key, and contains the files of the package that bundles
// can need: a tar archive, compressed with zstd, with a checksum. Only tarballs whose hash was compared are stored. The
// bucket removes objects 30 days after they were written.
//
// Change the number in cachePrefix if other files of a package are kept.
const (
	cachePrefix = "packages/2/"
	cacheWindow = 1 << 20 // bytes that the decompression of an object needs
)

func cacheKey(hash sha512Hash) string { return cachePrefix + hex.EncodeToString(hash[:]) }

// readCache writes the files of a package if they are in the cache, and reports whether they are. A damaged object
// counts as missing, and is removed so that it can be replaced. Files that readCache added from a damaged object are
// added again later, and count twice. Errors: objectstore.ErrUnavailable; the errors of unpack.
func (i *Installer) readCache(ctx context.Context, c *placedPackage) (found bool, err error) {
	key := cacheKey(c.hash)
	body, _, err := i.deps.Bucket.Open(ctx, key)
	if errors.Is(err, objectstore.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	decoder, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(cacheWindow))
	if err == nil {
		defer decoder.Close()
		err = c.unpack(ctx, decoder, nil)
	}
	if err == nil || !isDamage(err) {
		return err == nil, err
	}
	i.deps.Logger.WarnContext(ctx, "a cached package is damaged", "key", key, "cause", err.Error())
	return false, i.deps.Bucket.DeleteAll(ctx, key)
}

// isDamage reports whether an error of unpack means that the archive is damaged.
func isDamage(err error) bool {
	_, isRefused := errors.AsType[*failure.Error](err)
	_, isDisk := errors.AsType[*fs.PathError](err)
	return !isRefused && !isDisk && !errors.Is(err, objectstore.ErrUnavailable) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
