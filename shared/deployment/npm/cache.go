package npm

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"devplatform/shared/objectstore"
)

// An object of the cache has the key packages/<SHA-512 of the tarball> and contains the files of the package that
// bundles can need:
//
//	version of the format  1 byte
//	time of writing        8 bytes, seconds since 1970
//	size of the rest       4 bytes, when it is decompressed
//	the rest               a zstd frame with a checksum: for each file its path and its data, each after its length
//
// Numbers have the big-endian byte order; lengths are varints. The bucket removes objects 30 days after they were
// written, so an object that is used when it is older than refreshAfter is written again.
//
// Only tarballs whose hash was computed and compared are stored. Documents of the registry are not: they change.
const (
	cachePrefix  = "packages/"
	cacheFormat  = 1
	headerSize   = 1 + 8 + 4
	refreshAfter = 15 * 24 * time.Hour
)

func cacheKey(hash sha512Hash) string { return cachePrefix + hex.EncodeToString(hash[:]) }

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(2*maxUnpacked))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// readCache returns the files of a package, or nil if they are not in the cache. A damaged object counts as missing,
// and is removed so that it can be replaced. Errors: objectstore.ErrUnavailable, a *failure.Error if left is used up.
func (i *Installer) readCache(ctx context.Context, hash sha512Hash, left *budget) ([]file, error) {
	key := cacheKey(hash)
	body, size, err := i.deps.Bucket.Open(ctx, key)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	object, files, err := decodeObject(body, size, left)
	if errors.Is(err, errDamaged) {
		i.deps.Logger.WarnContext(ctx, "a cached package is damaged", slog.String("key", key))
		return nil, i.deps.Bucket.DeleteAll(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	written := time.Unix(int64(binary.BigEndian.Uint64(object[1:])), 0) //nolint:gosec // a time that an Installer wrote
	if i.deps.Clock().Sub(written) > refreshAfter {
		if err := i.deps.Bucket.DeleteAll(ctx, key); err == nil {
			i.store(ctx, key, object)
		}
	}
	return files, nil
}

// errDamaged reports that an object of the cache does not have the expected form.
var errDamaged = errors.New("npm: the object is damaged")

// decodeObject reads an object of the cache, and returns it with its files.
func decodeObject(body io.Reader, size int64, left *budget) (object []byte, files []file, err error) {
	if size < headerSize || size > headerSize+2*maxUnpacked {
		return nil, nil, errDamaged
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(body, header); err != nil {
		return nil, nil, err //nolint:wrapcheck // an error of Open's reader
	}
	unpacked := int64(binary.BigEndian.Uint32(header[9:]))
	if header[0] != cacheFormat || unpacked > 2*maxUnpacked || size > headerSize+unpacked+1024 {
		return nil, nil, errDamaged
	}
	if !left.bytes.take(unpacked) {
		return nil, nil, tooLarge()
	}
	defer func() {
		if err != nil {
			left.bytes.left.Add(unpacked)
		}
	}()
	object = append(make([]byte, 0, size), header...)[:size]
	if _, err := io.ReadFull(body, object[headerSize:]); err != nil {
		return nil, nil, err //nolint:wrapcheck // an error of Open's reader
	}
	raw, err := decoder().DecodeAll(object[headerSize:], make([]byte, 0, unpacked))
	if err != nil || int64(len(raw)) != unpacked {
		return nil, nil, errDamaged
	}
	files, err = parseFiles(raw)
	if err == nil && !left.files.take(int64(len(files))) {
		err = tooLarge()
	}
	return object, files, err
}

// parseFiles returns the files in the decompressed part of an object. Their data is a part of raw.
func parseFiles(raw []byte) ([]file, error) {
	next := func() ([]byte, bool) {
		length, n := binary.Uvarint(raw)
		if n <= 0 || length > uint64(len(raw)-n) { //nolint:gosec // n is at most len(raw)
			return nil, false
		}
		field := raw[n : n+int(length)] //nolint:gosec // at most len(raw)
		raw = raw[n+len(field):]
		return field, true
	}
	files := []file{}
	for len(raw) > 0 {
		path, ok := next()
		data, ok2 := next()
		if !ok || !ok2 {
			return nil, errDamaged
		}
		files = append(files, file{string(path), data[:len(data):len(data)]})
	}
	return files, nil
}

// writeCache stores the files of a package. An error is only logged, because the installation has succeeded.
func (i *Installer) writeCache(ctx context.Context, hash sha512Hash, files []file) {
	size := 0
	for _, f := range files {
		size += len(f.path) + len(f.data) + 2*binary.MaxVarintLen32
	}
	raw := make([]byte, 0, size)
	for _, f := range files {
		raw = append(binary.AppendUvarint(raw, uint64(len(f.path))), f.path...)
		raw = append(binary.AppendUvarint(raw, uint64(len(f.data))), f.data...)
	}
	header := make([]byte, headerSize)
	header[0] = cacheFormat
	binary.BigEndian.PutUint32(header[9:], uint32(len(raw))) //nolint:gosec // less than 2 × maxUnpacked
	i.store(ctx, cacheKey(hash), encoder().EncodeAll(raw, header))
}

// store writes an object with the current time. If another installation has written it since, nothing changes.
func (i *Installer) store(ctx context.Context, key string, object []byte) {
	binary.BigEndian.PutUint64(object[1:], uint64(i.deps.Clock().Unix())) //nolint:gosec // after 1970
	err := i.deps.Bucket.Create(ctx, key, object)
	if err != nil && !errors.Is(err, objectstore.ErrExists) {
		i.deps.Logger.WarnContext(ctx, "a package was not cached", slog.String("key", key), slog.Any("error", err))
	}
}
