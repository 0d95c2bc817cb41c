package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
)

const (
	// contentType is the content type of an archive.
	contentType = "application/zip"
	// partSize is the size of the parts of an archive, except the last. One part is in memory at a time.
	partSize = 8 << 20
)

// job is one attempt of a worker to write an archive.
type job struct {
	*Worker

	projectID string
	record    record // with the lease of the worker
	fileCount int    // number of files in the archive
	uploaded  int    // number of parts that this job has uploaded
}

// runUntil runs the job until shortly before ctx ends.
func (j *job) runUntil(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-reserve))
		defer cancel()
	}
	return j.run(ctx)
}

// run writes the archive and makes the export ready. Errors: PROJECT_NOT_FOUND; errLeased if another worker has the
// lease; an error for which isTransient is true. Any other error is permanent.
func (j *job) run(ctx context.Context) error {
	snapshot, err := j.files.Snapshot(ctx, j.projectID)
	if err != nil {
		return err
	}
	j.fileCount = len(snapshot.Files)
	err = j.write(ctx, snapshot)
	if errors.Is(err, objectstore.ErrUploadEnded) {
		// An earlier worker completed the upload and was interrupted before it stored that, or the upload was removed.
		j.abort(ctx)
		err = j.write(ctx, snapshot)
	}
	return err
}

// abort removes the upload if it still exists. If that fails, the bucket's rules remove it.
func (j *job) abort(ctx context.Context) {
	if j.record.Upload != "" {
		_ = j.upload().Abort(ctx)
	}
	j.record.Upload, j.record.Parts = "", nil
}

func (j *job) key() string { return objectKey(j.projectID, j.record.ID) }

func (j *job) upload() objectstore.MultipartUpload {
	return j.bucket.Multipart(j.key(), j.record.Upload)
}

// write continues the export's upload, or starts one, completes it, and makes the export ready.
func (j *job) write(ctx context.Context, snapshot *file.Snapshot) error {
	if j.record.Upload == "" {
		upload, err := j.bucket.StartMultipart(ctx, j.key(), contentType)
		if err != nil {
			return err
		}
		j.record.Upload = upload.ID
		if err := j.store.saveUpload(ctx, j.projectID, j.record); err != nil {
			j.abort(ctx) // the record does not name the upload, so no other worker can abort it
			return err
		}
	}
	w := &partWriter{ctx: ctx, job: j}
	w.buffer.Grow(partSize)
	if err := writeArchive(ctx, w, snapshot); err != nil {
		return err
	}
	etags, err := w.finish()
	if err != nil {
		return err
	}
	if err := j.upload().Complete(ctx, etags); err != nil {
		return err
	}
	j.record.Size = w.size
	return j.store.ready(ctx, j.projectID, j.record, j.now())
}

// partWriter uploads what is written to it in parts. It skips the parts that were uploaded before.
type partWriter struct {
	ctx    context.Context // io.Writer has no context
	job    *job
	buffer bytes.Buffer
	etags  []string // of the parts so far
	size   int      // number of bytes so far
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
	r, n := &w.job.record, len(w.etags)
	data := w.buffer.Bytes()
	sum := sha256.Sum256(data)
	if n >= len(r.Parts) || !bytes.Equal(r.Parts[n].SHA256, sum[:]) {
		etag, err := w.job.upload().Put(w.ctx, n+1, data)
		if err != nil {
			return err
		}
		r.Parts = append(r.Parts[:n], part{ETag: etag, SHA256: sum[:]})
		if err := w.job.store.saveUpload(w.ctx, w.job.projectID, *r); err != nil {
			return err
		}
		w.job.uploaded++
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
