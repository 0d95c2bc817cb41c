package objectstore_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/config"
	"devplatform/shared/objectstore"
)

// testUploads checks an upload in parts. The object exists when the upload is complete.
func testUploads(t *testing.T, b objectstore.Bucket) {
	t.Helper()
	ctx, first := t.Context(), make([]byte, objectstore.MinPart)
	_, _ = rand.Read(first)
	u, err := b.StartMultipart(ctx, "uploads/a", "application/zip")
	if err != nil {
		t.Fatal(err)
	}
	resumed := b.Multipart("uploads/a", u.ID)
	var etags []string
	for i, data := range [][]byte{first, []byte("rest")} {
		etag, err := resumed.Put(ctx, i+1, data)
		if err != nil {
			t.Fatal(err)
		}
		etags = append(etags, etag)
	}
	if err := u.Complete(ctx, []string{etags[0], etags[0]}); !errors.Is(err, objectstore.ErrUploadEnded) {
		t.Errorf("Complete with the tag of another part: got error %v, want ErrUploadEnded", err)
	}
	if _, _, err := b.Open(ctx, "uploads/a"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("Open of an object whose upload is not complete: got error %v, want ErrNotFound", err)
	}
	if err := u.Complete(ctx, etags); err != nil {
		t.Fatal(err)
	}
	body, size, err := b.Open(ctx, "uploads/a")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || !bytes.Equal(data, append(first, "rest"...)) ||
		size != int64(len(data)) {
		t.Errorf("got %d bytes, size %d, error %v, want the %d bytes of both parts", len(data), size, err, len(first)+4)
	}
}

// An upload that was completed or aborted is recognized. Moto fails for such uploads.
func TestEndedUploads(t *testing.T) {
	t.Parallel()
	ctx, b := t.Context(), newBucket(t, s3test.StartServer(t))
	for name, end := range map[string]func(u objectstore.MultipartUpload, etag string) error{
		"completed": func(u objectstore.MultipartUpload, etag string) error { return u.Complete(ctx, []string{etag}) },
		"aborted":   func(u objectstore.MultipartUpload, _ string) error { return u.Abort(ctx) },
	} {
		u, err := b.StartMultipart(ctx, name, "application/zip")
		if err != nil {
			t.Fatal(err)
		}
		etag, err := u.Put(ctx, 1, []byte("x"))
		if err := errors.Join(err, end(u, etag)); err != nil {
			t.Fatal(err)
		}
		_, putErr := u.Put(ctx, 1, []byte("x"))
		for call, err := range map[string]error{
			"Put": putErr, "Complete": u.Complete(ctx, []string{etag}), "Abort": u.Abort(ctx),
		} {
			if !errors.Is(err, objectstore.ErrUploadEnded) {
				t.Errorf("%s of an upload that was %s: got error %v, want ErrUploadEnded", call, name, err)
			}
		}
	}
}

// S3 refuses a part without reading it, and the rest of its response comes later. The client must not lose the response
// because it still sends the part.
func TestPartIsRefusedEarly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(50 * time.Millisecond)
		_, _ = w.Write([]byte("<Error><Code>NoSuchUpload</Code></Error>"))
	}))
	t.Cleanup(server.Close)
	upload := newClient(server.URL).Bucket("files").Multipart("key", "upload")
	for range 5 {
		if _, err := upload.Put(t.Context(), 1, make([]byte, 8<<20)); !errors.Is(err, objectstore.ErrUploadEnded) {
			t.Errorf("got error %v, want ErrUploadEnded", err)
		}
	}
}

// A connection that breaks while an object is read is an unavailable S3, not the end of the object.
func TestBrokenReader(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("short"))
	}))
	t.Cleanup(server.Close)
	body, size, err := newClient(server.URL).Bucket("files").Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if size != 10 || string(data) != "short" || !errors.Is(err, objectstore.ErrUnavailable) {
		t.Errorf("got %q of %d bytes, error %v, want ErrUnavailable after 5 of 10", data, size, err)
	}
}

// A response without Content-Length must not count as an empty object.
func TestMissingContentLength(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // the rest is sent in chunks
		_, _ = w.Write([]byte("content"))
	}))
	t.Cleanup(server.Close)
	b := newClient(server.URL).Bucket("files")
	if data, err := b.Get(t.Context(), "a"); !errors.Is(err, objectstore.ErrUnavailable) {
		t.Errorf("Get: got %q, error %v, want ErrUnavailable", data, err)
	}
	if size, err := b.Size(t.Context(), "a"); !errors.Is(err, objectstore.ErrUnavailable) {
		t.Errorf("Size: got %d, error %v, want ErrUnavailable", size, err)
	}
}

// A range contains exactly the bytes of that part of the object.
func TestRanges(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) string{
		"embedded": func(t *testing.T) string { t.Helper(); return s3test.StartServer(t) },
		"moto":     moto,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, b := t.Context(), newBucket(t, start(t))
			if err := b.Create(ctx, "a", []byte("0123456789")); err != nil {
				t.Fatal(err)
			}
			for _, tc := range []struct {
				start, length int64
				want          string
			}{{0, 1, "0"}, {0, 10, "0123456789"}, {3, 4, "3456"}, {9, 1, "9"}} {
				body, err := b.OpenRange(ctx, "a", tc.start, tc.length)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(body)
				if err := errors.Join(err, body.Close()); err != nil || string(data) != tc.want {
					t.Errorf("%d bytes from %d: got %q, error %v, want %q", tc.length, tc.start, data, err, tc.want)
				}
			}
			for _, start := range []int64{8, 10} { // the object has fewer bytes
				if _, err := b.OpenRange(ctx, "a", start, 4); err == nil || errors.Is(err, objectstore.ErrNotFound) {
					t.Errorf("4 bytes from %d: got error %v, want another one than ErrNotFound", start, err)
				}
			}
			if _, err := b.OpenRange(ctx, "missing", 0, 1); !errors.Is(err, objectstore.ErrNotFound) {
				t.Errorf("a missing object: got error %v, want ErrNotFound", err)
			}
		})
	}
}

// A client for downloads waits for a slow body longer than other clients. It does not wait longer for the header.
func TestDownloads(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(5 * time.Second):
			_, _ = io.WriteString(w, "x")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	cfg := config.AWS{Region: "us-east-1", AccessKeyID: "local", SecretAccessKey: "local", Endpoint: server.URL}
	if data, err := objectstore.NewDownload(cfg).Bucket("files").Get(t.Context(), "a"); err != nil || string(data) != "x" {
		t.Errorf("download: got %q, error %v, want the body", data, err)
	}
	if _, err := objectstore.New(cfg).Bucket("files").Get(t.Context(), "a"); !errors.Is(err, objectstore.ErrUnavailable) {
		t.Errorf("other client: got error %v, want ErrUnavailable", err)
	}
}
