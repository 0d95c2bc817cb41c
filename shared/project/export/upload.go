package export

import (
	"bytes"
	"context"
	"crypto/sha256"

	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
)

const (
	// contentType is the content type of an archive.
	contentType = "application/zip"
	// partSize is the size of the parts of an archive, except the last. One part is in memory at a time.
	partSize = 8 << 20
)

// abort removes the upload if it still exists. If that fails, the bucket's rules remove it.
func (a *attempt) abort(ctx context.Context) {
	if a.record.Upload != "" {
		_ = a.upload().Abort(ctx)
	}
	a.record.Upload, a.record.Parts = "", nil
}

func (a *attempt) key() string { return objectKey(a.job.ProjectID, a.job.ID) }

func (a *attempt) upload() objectstore.MultipartUpload {
	return a.bucket.Multipart(a.key(), a.record.Upload)
}

// write continues the export's upload, or starts one, completes it, and makes the export ready.
func (a *attempt) write(ctx context.Context, snapshot *file.Snapshot) error {
	if a.record.Upload == "" {
		upload, err := a.bucket.StartMultipart(ctx, a.key(), contentType)
		if err != nil {
			return err
		}
		a.record.Upload = upload.ID
		if err := a.store.saveUpload(ctx, a.job, a.record); err != nil {
			a.abort(ctx) // the record does not name the upload, so no other worker can abort it
			return err
		}
	}
	w := &partWriter{ctx: ctx, attempt: a}
	w.buffer.Grow(partSize)
	if err := writeArchive(ctx, w, snapshot); err != nil {
		return err
	}
	etags, err := w.finish()
	if err != nil {
		return err
	}
	if err := a.upload().Complete(ctx, etags); err != nil {
		return err
	}
	a.record.Size = w.size
	status := Ready
	if a.record.statusAt(a.now()) == Failed { // its time is over
		status = Failed
	}
	return a.store.end(ctx, a.job, status, w.size)
}

// partWriter uploads what is written to it in parts. It skips the parts that were uploaded before.
type partWriter struct {
	ctx     context.Context // io.Writer has no context
	attempt *attempt
	buffer  bytes.Buffer
	etags   []string // of the parts so far
	size    int      // number of bytes so far
}

// Write implements io.Writer.
func (w *partWriter) Write(p []byte) (int, error) {
	written := len(p)
	w.size += written
	for w.buffer.Len()+len(p) >= partSize {
		n := partSize - w.buffer.Len()
		_, _ = w.buffer.Write(p[:n]) // never fails
		p = p[n:]
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	_, _ = w.buffer.Write(p) // never fails
	return written, nil
}

// flush uploads the buffer as the next part, and stores that it is uploaded.
func (w *partWriter) flush() error {
	r, n := &w.attempt.record, len(w.etags)
	data := w.buffer.Bytes()
	sum := sha256.Sum256(data)
	if n >= len(r.Parts) || !bytes.Equal(r.Parts[n].SHA256, sum[:]) {
		etag, err := w.attempt.upload().Put(w.ctx, n+1, data)
		if err != nil {
			return err
		}
		r.Parts = append(r.Parts[:n], part{ETag: etag, SHA256: sum[:]})
		if err := w.attempt.store.saveUpload(w.ctx, w.attempt.job, *r); err != nil {
			return err
		}
		w.attempt.uploaded++
	}
	w.etags = append(w.etags, r.Parts[n].ETag)
	w.buffer.Reset()
	return nil
}

// finish uploads the rest of the buffer, and returns the entity tags of all parts.
func (w *partWriter) finish() ([]string, error) {
	if w.buffer.Len() == 0 {
		return w.etags, nil
	}
	err := w.flush()
	return w.etags, err
}
