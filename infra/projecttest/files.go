package projecttest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// FilesClient sends requests of a user to the file endpoints of one project.
type FilesClient struct {
	*User
	ProjectID string
}

// NewFilesClient creates a user with a project, and returns a client for the files of the project.
func (f *Fixture) NewFilesClient(name string) FilesClient {
	f.T.Helper()
	u := f.NewUser(name)
	return u.FilesOf(u.Project("", name+"'s project", workspace.Private))
}

// FilesOf returns a client for the files of an existing project.
func (u *User) FilesOf(projectID string) FilesClient {
	return FilesClient{User: u, ProjectID: projectID}
}

// URL returns the path of the project's file endpoints.
func (client FilesClient) URL() string { return "/api/projects/" + client.ProjectID + "/files" }

// Post sends a request to create or update a file.
func (client FilesClient) Post(body any, change ...func(*http.Request)) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Do(http.MethodPost, client.URL(), body, change...)
}

// Save sends a request to save text.
func (client FilesClient) Save(path, content string, change ...func(*http.Request)) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Post(Object{"path": path, "content": content}, change...)
}

// SaveBytes sends a request to save binary content.
func (client FilesClient) SaveBytes(path string, data []byte) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Post(Object{"path": path, "content": Base64Of(data), "encoding": "base64"})
}

// Read sends a request to read a file.
func (client FilesClient) Read(path string, change ...func(*http.Request)) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Do(http.MethodGet, client.URL()+"?path="+url.QueryEscape(path), nil, change...)
}

// Remove sends a request to delete a file.
func (client FilesClient) Remove(path string, change ...func(*http.Request)) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Do(http.MethodDelete, client.URL()+"?path="+url.QueryEscape(path), nil, change...)
}

// Batch sends a batch of operations.
func (client FilesClient) Batch(operations ...Object) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Do(http.MethodPost, client.URL()+"/batch", Object{"operations": operations})
}

// History requests the versions of a file. query has further parameters, each with a leading "&".
func (client FilesClient) History(path, query string) slicetest.Response {
	client.Fixture.T.Helper()
	return client.Get(client.URL() + "/history?path=" + url.QueryEscape(path) + query)
}

// Paths returns the paths of all files in list order.
func (client FilesClient) Paths() []any {
	client.Fixture.T.Helper()
	return client.Get(client.URL()).Want(client.Fixture.T, http.StatusOK).Values("files", "path")
}

// Tree reads the project's tree.
func (client FilesClient) Tree() file.Tree {
	client.Fixture.T.Helper()
	item, err := client.Fixture.Projects.Get(client.Fixture.T.Context(), db.TreeKey(client.ProjectID))
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	tree, err := db.Decode[file.Tree](item)
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	return tree
}

// CheckTree compares the tree's counters with the stored files, their old versions and the open uploads. After versions
// have expired, it must be called after a recount.
func (client FilesClient) CheckTree() {
	client.Fixture.T.Helper()
	files, bytes := client.CountStored(db.FilesOf(client.ProjectID, ""))
	_, oldBytes := client.CountStored(db.AllVersionsOf(client.ProjectID))
	uploads, openBytes := client.OpenUploads()
	want := file.Tree{Files: files, Bytes: bytes + openBytes, OldBytes: oldBytes, Uploads: uploads}
	tree := client.Tree()
	got := file.Tree{Files: tree.Files, Bytes: tree.Bytes, OldBytes: tree.OldBytes, Uploads: tree.Uploads}
	if got != want {
		client.Fixture.T.Errorf("got the counters %+v of the tree, want %+v", got, want)
	}
}

// Record returns the stored record of a file.
func (client FilesClient) Record(path string) file.File {
	client.Fixture.T.Helper()
	item, err := client.Fixture.Projects.Get(client.Fixture.T.Context(), db.FileKey(client.ProjectID, path))
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	record, err := db.Decode[file.File](item)
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	return record
}

// CountStored returns the number of stored records under a prefix, and their total size.
func (client FilesClient) CountStored(prefix db.Prefix) (n, bytes int) {
	client.Fixture.T.Helper()
	items, err := client.Fixture.Projects.QueryAll(client.Fixture.T.Context(), prefix)
	if err != nil {
		client.Fixture.T.Fatal(err)
	}
	for _, record := range db.DecodeAll(client.Fixture.T.Context(), items, db.Decode[file.File]) {
		bytes += record.Size
	}
	return len(items), bytes
}

// ContentOf returns the decoded content of a file in a response.
func ContentOf(t *testing.T, item map[string]any) string {
	t.Helper()
	text, ok := item["content"].(string)
	if !ok {
		t.Fatalf("the file has no content: %v", item)
	}
	if item["encoding"] != "base64" {
		return text
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Base64Of returns data in base64.
func Base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// RandomBytes returns n bytes that cannot be compressed.
func RandomBytes(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}

// HexSum returns the SHA-256 hash of data in hexadecimal.
func HexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// FileEvents returns the type and path of all file events of the project.
func (client FilesClient) FileEvents() []string {
	client.Fixture.T.Helper()
	var list []string
	for _, r := range client.Fixture.StoredEvents() {
		if r.ProjectID == client.ProjectID && strings.HasPrefix(string(r.Type), "file.") {
			p := DecodePayload(client.Fixture.T, r)
			list = append(list, string(r.Type)+" "+p.Data.File.Path)
		}
	}
	return list
}
