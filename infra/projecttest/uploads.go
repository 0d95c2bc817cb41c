package projecttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// Announced is the response to an announcement, with the content to upload.
type Announced struct {
	Client  FilesClient
	Data    []byte
	ID      string            `json:"id"`
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Expires string            `json:"expiresAt"`
}

// TryAnnounce sends the announcement of an upload. changes replaces fields of the request.
func (client FilesClient) TryAnnounce(path string, data []byte, changes Object) slicetest.Response {
	client.Fixture.T.Helper()
	body := Object{"path": path, "size": len(data), "sha256": HexSum(data)}
	for name, value := range changes {
		body[name] = value
	}
	return client.Do(http.MethodPost, URL(client.ProjectID)+"/uploads", body)
}

// Announce announces an upload.
func (client FilesClient) Announce(path string, data []byte, changes Object) Announced {
	client.Fixture.T.Helper()
	return client.AnnouncedOf(client.TryAnnounce(path, data, changes).Want(client.Fixture.T, http.StatusCreated), data)
}

// AnnouncedOf decodes the response to an announcement.
func (client FilesClient) AnnouncedOf(r slicetest.Response, data []byte) Announced {
	client.Fixture.T.Helper()
	a := Announced{Client: client, Data: data}
	if err := json.Unmarshal([]byte(r.Raw), &a); err != nil {
		client.Fixture.T.Fatal(err)
	}
	return a
}

// Put sends the content to the URL, after change has changed the request, and returns the status.
func (a Announced) Put(change func(*http.Request)) int {
	t := a.Client.Fixture.T
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), a.Method, a.URL, bytes.NewReader(a.Data))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range a.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
		change(r)
	}
	return send(t, r).Status
}

// send sends a request to S3.
func send(t *testing.T, r *http.Request) slicetest.Response {
	t.Helper()
	res, err := slicetest.Transfers.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return slicetest.Response{Status: res.StatusCode, Header: res.Header, Raw: string(data)}
}

// Complete sends the request that completes the upload.
func (a Announced) Complete(change ...func(*http.Request)) slicetest.Response {
	a.Client.Fixture.T.Helper()
	return a.Client.Do(http.MethodPost, URL(a.Client.ProjectID)+"/uploads/"+a.ID+"/complete", nil, change...)
}

// Upload announces, uploads and completes a file, and returns the last response.
func (client FilesClient) Upload(path string, data []byte, changes Object) slicetest.Response {
	client.Fixture.T.Helper()
	a := client.Announce(path, data, changes)
	if status := a.Put(nil); status != http.StatusOK {
		client.Fixture.T.Fatalf("PUT %s: got %d, want 200", path, status)
	}
	return a.Complete()
}

// Download downloads the content from the URL of a large file.
func (client FilesClient) Download(item map[string]any) slicetest.Response {
	client.Fixture.T.Helper()
	url, _ := item["url"].(string)
	if url == "" || item["content"] != nil {
		client.Fixture.T.Fatalf("got the file %v, want one with a url and without content", item)
	}
	r, err := http.NewRequestWithContext(client.Fixture.T.Context(), http.MethodGet, url, nil)
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	return send(client.Fixture.T, r).Want(client.Fixture.T, http.StatusOK)
}

// WrittenBytes returns the sum of the counters of written bytes, of all users and days.
func (f *Fixture) WrittenBytes() (n int) {
	f.T.Helper()
	for key, item := range f.Dump(f.Tables.Projects) {
		if !strings.HasPrefix(key.PK, "RATE#written") {
			continue
		}
		counter, err := db.Decode[struct {
			Hits int `dynamodbav:"hits"`
		}](item)
		if err != nil {
			f.T.Fatal(err)
		}
		n += counter.Hits
	}
	return n
}

// WantTree checks the counters of the tree, and the number of written bytes.
func (client FilesClient) WantTree(what string, bytes, uploads, written int) {
	client.Fixture.T.Helper()
	tree := client.Tree()
	got, want := fmt.Sprint(tree.Bytes, tree.Uploads, client.Fixture.WrittenBytes()), fmt.Sprint(bytes, uploads, written)
	if got != want {
		client.Fixture.T.Errorf("%s: got the bytes, open uploads and written bytes %s, want %s", what, got, want)
	}
}

// UploadKeys returns the keys of the objects of all announced uploads, by the upload's ID.
func (client FilesClient) UploadKeys() map[string]string {
	client.Fixture.T.Helper()
	prefix := db.UploadsOf(client.ProjectID)
	items, err := client.Fixture.Projects.QueryAll(client.Fixture.T.Context(), prefix)
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	keys := map[string]string{}
	for _, item := range items {
		u, err := db.Decode[struct {
			ContentID string `dynamodbav:"contentId"`
		}](item)
		if err != nil {
			client.Fixture.T.Fatal(err)
		}
		keys[prefix.Rest(db.KeyOf(item))] = content.Ref{ContentID: u.ContentID}.ObjectKey(client.ProjectID)
	}
	return keys
}

// OpenUploads returns the number of open uploads and their bytes.
func (client FilesClient) OpenUploads() (n, bytes int) {
	client.Fixture.T.Helper()
	items, err := client.Fixture.Projects.QueryAll(client.Fixture.T.Context(), db.UploadsOf(client.ProjectID))
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	for _, item := range items {
		u, err := db.Decode[struct {
			Status string `dynamodbav:"status"`
			Size   int    `dynamodbav:"size"`
		}](item)
		if err != nil {
			client.Fixture.T.Fatal(err)
		}
		if u.Status == "open" {
			n, bytes = n+1, bytes+u.Size
		}
	}
	return n, bytes
}
