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

	"devplatform/shared/config"
	"devplatform/shared/objectstore"
)

// testPut checks that Put stores an object, and replaces it.
func testPut(t *testing.T, b objectstore.Bucket) {
	t.Helper()
	large := make([]byte, 9<<20)
	_, _ = rand.Read(large)
	for _, want := range [][]byte{large, []byte("short"), {}} {
		if err := b.Put(t.Context(), "uploads/a", bytes.NewReader(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Get(t.Context(), "uploads/a"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, error %v, want the %d bytes that were put", len(got), err, len(want))
		}
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
	onBoth(t, func(t *testing.T, b objectstore.Bucket, _ bool) {
		t.Helper()
		ctx := t.Context()
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

// A client for downloads waits for a slow body longer than other clients. It does not wait longer for the header.
func TestDownloads(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(5 * time.Second): // more than the time that other clients wait for a response, 4 s
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
