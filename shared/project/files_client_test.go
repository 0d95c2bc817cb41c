package project

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/project/file"
)

// filesClient sends requests of a user to the file endpoints of one project.
type filesClient struct {
	*user
	projectID string
}

// newFilesClient creates a user with a project, and returns a client for the files of the project.
func (f *fixture) newFilesClient(name string) filesClient {
	f.t.Helper()
	u := f.newUser(name)
	return u.filesOf(u.project("", name+"'s project", Private))
}

// filesOf returns a client for the files of an existing project.
func (u *user) filesOf(projectID string) filesClient {
	return filesClient{user: u, projectID: projectID}
}

// url returns the path of the project's file endpoints.
func (client filesClient) url() string { return "/api/projects/" + client.projectID + "/files" }

// post sends a request to create or update a file.
func (client filesClient) post(body any, change ...func(*http.Request)) response {
	client.f.t.Helper()
	return client.Do(http.MethodPost, client.url(), body, change...)
}

func (client filesClient) save(path, content string, change ...func(*http.Request)) response {
	client.f.t.Helper()
	return client.post(object{"path": path, "content": content}, change...)
}

func (client filesClient) saveBytes(path string, data []byte) response {
	client.f.t.Helper()
	return client.post(object{"path": path, "content": base64Of(data), "encoding": "base64"})
}

func (client filesClient) read(path string, change ...func(*http.Request)) response {
	client.f.t.Helper()
	return client.Do(http.MethodGet, client.url()+"?path="+url.QueryEscape(path), nil, change...)
}

func (client filesClient) remove(path string, change ...func(*http.Request)) response {
	client.f.t.Helper()
	return client.Do(http.MethodDelete, client.url()+"?path="+url.QueryEscape(path), nil, change...)
}

func (client filesClient) batch(operations ...object) response {
	client.f.t.Helper()
	return client.Do(http.MethodPost, client.url()+"/batch", object{"operations": operations})
}

// history requests the versions of a file. query has further parameters, each with a leading "&".
func (client filesClient) history(path, query string) response {
	client.f.t.Helper()
	return client.Get(client.url() + "/history?path=" + url.QueryEscape(path) + query)
}

// paths returns the paths of all files in list order.
func (client filesClient) paths() []any {
	client.f.t.Helper()
	return client.Get(client.url()).Want(client.f.t, http.StatusOK).Values("files", "path")
}

// tree reads the project's tree.
func (client filesClient) tree() file.Tree {
	client.f.t.Helper()
	item, err := client.f.projects.Get(client.f.t.Context(), db.TreeKey(client.projectID))
	if err != nil {
		client.f.t.Fatal(err)
	}
	tree, err := db.Decode[file.Tree](item)
	if err != nil {
		client.f.t.Fatal(err)
	}
	return tree
}

// checkTree compares the tree's counters with the stored files and their old versions. After versions have expired, it
// must be called after a recount.
func (client filesClient) checkTree() {
	client.f.t.Helper()
	files, bytes := client.stored(db.FilesOf(client.projectID, ""))
	_, oldBytes := client.stored(db.AllVersionsOf(client.projectID))
	if tree := client.tree(); tree.Files != files || tree.Bytes != bytes || tree.OldBytes != oldBytes {
		client.f.t.Errorf("the tree has the counters %d files, %d bytes and %d bytes of old versions, want %d, %d and %d",
			tree.Files, tree.Bytes, tree.OldBytes, files, bytes, oldBytes)
	}
}

// stored returns the number of stored records under a prefix, and their total size.
func (client filesClient) stored(prefix db.Prefix) (n, bytes int) {
	client.f.t.Helper()
	items, err := client.f.projects.QueryAll(client.f.t.Context(), prefix)
	if err != nil {
		client.f.t.Fatal(err)
	}
	records, err := db.DecodeAll[file.File](items)
	if err != nil {
		client.f.t.Fatal(err)
	}
	for _, record := range records {
		bytes += record.Size
	}
	return len(records), bytes
}

// contentOf returns the decoded content of a file in a response.
func contentOf(t *testing.T, item map[string]any) string {
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

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// randomBytes returns n bytes that cannot be compressed.
func randomBytes(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}

// hexSum returns the SHA-256 hash of data in hexadecimal.
func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileEvents returns the type and path of all file events of the project.
func (client filesClient) fileEvents() []string {
	client.f.t.Helper()
	var list []string
	for _, r := range client.f.storedEvents() {
		if r.ProjectID == client.projectID && strings.HasPrefix(string(r.Type), "file.") {
			p := decodePayload(client.f.t, r)
			list = append(list, string(r.Type)+" "+p.Data.File.Path)
		}
	}
	return list
}

func etagOf(version string) string { return `"` + version + `"` }
