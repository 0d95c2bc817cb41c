package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
)

// packedContent is the content of a file, compressed and ready to be stored. It is packed once, before the first
// attempt of the request to save it.
type packedContent struct {
	contentID string
	encoding  Encoding
	// contentType is the media type that the client set for an uploaded file, or "".
	contentType string
	size        int
	sha256      []byte
	// data is the chunk if format is empty, otherwise the object. It is nil if the content is empty.
	data   []byte
	format content.Format
	// isStored means that an earlier attempt of the request has stored the object, or that the client has uploaded it.
	isStored bool
}

// ref returns the reference to the content for the file's record.
func (c *packedContent) ref() content.Ref {
	ref := content.Ref{ContentID: c.contentID, ObjectFormat: c.format}
	if c.format == "" && c.data != nil {
		ref.Chunks = 1
	}
	return ref
}

// Validation messages for content.
const (
	ruleBase64 = "must be base64 with padding (RFC 4648, section 4)"
	ruleSize   = "must be at most 1 MiB after decoding; announce an upload for a larger file"
)

// decodeContent decodes content that a client sent. It returns the rule that the content breaks, or "".
func decodeContent(text string, encoding Encoding) (data []byte, rule string) {
	data = []byte(text)
	if encoding == Base64 {
		var err error
		if data, err = content.FromBase64(text); err != nil {
			return nil, ruleBase64
		}
	}
	if len(data) > content.MaxBytes {
		return nil, ruleSize
	}
	return data, ""
}

// equals reports whether a file has the same bytes. It ignores the encoding: if a client reads a file as text and saves
// the same bytes as base64, the content is equal.
func (c *packedContent) equals(f *File) bool {
	return c.size == f.Size && bytes.Equal(c.sha256, f.SHA256)
}

// parallelObjects is the maximum number of objects that one request reads or writes at the same time.
const parallelObjects = 16

// storeObjects stores the new contents of a plan that are objects. An object is stored before the transaction that
// refers to it, so that no record ever refers to a missing object. If the transaction fails, or its outcome is unknown,
// the object stays: the cleanup's sweep removes objects without a record after a day. A request stores each object
// once, even if it commits several plans. Errors: db.ErrUnavailable.
func (s store) storeObjects(ctx context.Context, projectID string, p plan) error {
	group, ctx := async.WithContext(ctx)
	group.SetLimit(parallelObjects)
	for _, c := range p.changes {
		packed := c.content
		if packed == nil || packed.format == "" || packed.isStored {
			continue
		}
		group.Go(func() error {
			err := s.bucket.Create(ctx, packed.ref().ObjectKey(projectID), packed.data)
			packed.isStored = err == nil
			return storageError(err)
		})
	}
	return group.Wait()
}

// storageError converts objectstore.ErrUnavailable to db.ErrUnavailable.
func storageError(err error) error {
	if errors.Is(err, objectstore.ErrUnavailable) {
		return fmt.Errorf("%w: %w", db.ErrUnavailable, err)
	}
	return err
}

// chunkRecord is the chunk of packed content.
type chunkRecord struct {
	Data []byte `dynamodbav:"data"`
}

// contentsOf reads the contents of files, keyed by content ID: one BatchGet for all chunks, and one GET for each
// object, in parallel. It returns no entry for a content that was deleted. Errors: db.ErrUnavailable.
func (s store) contentsOf(ctx context.Context, projectID string, files ...File) (map[string][]byte, error) {
	group, readCtx := async.WithContext(ctx)
	group.SetLimit(parallelObjects)
	var chunks map[db.Key]db.Item
	group.Go(func() (err error) {
		var keys []db.Key
		for _, f := range files {
			keys = append(keys, f.ChunkKey(projectID))
		}
		chunks, err = s.contents.BatchGet(readCtx, keys...)
		return err
	})
	objects := make([][]byte, len(files)) // nil if the file has no object, or the object does not exist
	for i, f := range files {
		if f.ObjectFormat == "" {
			continue
		}
		group.Go(func() (err error) {
			objects[i], err = s.object(readCtx, projectID, f)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	contents := make(map[string][]byte, len(files))
	for i, f := range files {
		data, err := f.content(projectID, chunks, objects[i])
		if errors.Is(err, errMissingContent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		contents[f.ContentID] = data
	}
	return contents, nil
}

// object reads the object of a file's content. It returns nil if the object does not exist. Errors: db.ErrUnavailable.
func (s store) object(ctx context.Context, projectID string, f File) ([]byte, error) {
	object, err := s.bucket.Get(ctx, f.ObjectKey(projectID))
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	return object, storageError(err)
}

// startObject starts to read the object of a file's content, if it has one. The returned function waits for the object.
func (s store) startObject(ctx context.Context, projectID string, f File) (wait func() ([]byte, error)) {
	if f.ObjectFormat == "" {
		return func() ([]byte, error) { return nil, nil }
	}
	var object []byte
	var reading async.Group
	reading.Go(func() (err error) {
		object, err = s.object(ctx, projectID, f)
		return err
	})
	return func() ([]byte, error) {
		err := reading.Wait()
		return object, err
	}
}

// content returns the content of the file from its chunk, which is in items, or from its object, which is nil if it
// does not exist. If the content does not match the size and the hash in the file's record, content returns an internal
// error. Error: errMissingContent.
func (f File) content(projectID string, items map[db.Key]db.Item, object []byte) ([]byte, error) {
	data := []byte{} // of an empty file
	var err error
	if f.ObjectFormat != "" {
		if object == nil {
			return nil, errMissingContent
		}
		data, err = content.Open(f.ObjectFormat, object)
	}
	if f.Chunks > 0 {
		item := items[db.ChunkKey(projectID, f.ContentID)]
		if item == nil {
			return nil, errMissingContent
		}
		chunk, decodeErr := db.Decode[chunkRecord](item)
		if decodeErr != nil {
			return nil, decodeErr
		}
		data, err = content.Join([][]byte{chunk.Data})
	}
	if err != nil {
		return nil, fmt.Errorf("file: content %s: %w", f.ContentID, err)
	}
	if sum := sha256.Sum256(data); len(data) != f.Size || !bytes.Equal(sum[:], f.SHA256) {
		return nil, fmt.Errorf("file: content %s does not match its record: %d bytes, SHA-256 %x",
			f.ContentID, len(data), sum)
	}
	return data, nil
}
