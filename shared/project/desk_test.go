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

// desk is the client of a user for one project.
type desk struct {
	*browser
	projectID string
}

// desk creates a user with a project.
func (w *world) desk(name string) desk {
	w.t.Helper()
	b := w.user(name)
	return desk{b, b.project("", name+"'s project", Private)}
}

// at returns the desk of the user for an existing project.
func (b *browser) at(projectID string) desk { return desk{b, projectID} }

func (d desk) files() string { return "/api/projects/" + d.projectID + "/files" }

func (d desk) save(path, content string, change ...func(*http.Request)) answer {
	d.w.t.Helper()
	return d.Do(http.MethodPost, d.files(), object{"path": path, "content": content}, change...)
}

func (d desk) saveBytes(path string, data []byte) answer {
	d.w.t.Helper()
	return d.Do(http.MethodPost, d.files(), object{"path": path, "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"})
}

func (d desk) read(path string, change ...func(*http.Request)) answer {
	d.w.t.Helper()
	return d.Do(http.MethodGet, d.files()+"?path="+url.QueryEscape(path), nil, change...)
}

func (d desk) remove(path string, change ...func(*http.Request)) answer {
	d.w.t.Helper()
	return d.Do(http.MethodDelete, d.files()+"?path="+url.QueryEscape(path), nil, change...)
}

func (d desk) batch(operations ...object) answer {
	d.w.t.Helper()
	return d.Do(http.MethodPost, d.files()+"/batch", object{"operations": operations})
}

func (d desk) history(path, more string) answer {
	d.w.t.Helper()
	return d.Get(d.files() + "/history?path=" + url.QueryEscape(path) + more)
}

// paths returns the paths of all files in list order.
func (d desk) paths() []any {
	d.w.t.Helper()
	return d.Get(d.files()).Want(d.w.t, http.StatusOK).Values("files", "path")
}

// tree reads the project's tree.
func (d desk) tree() file.Tree {
	d.w.t.Helper()
	item, err := d.w.projects.Get(d.w.t.Context(), db.TreeKey(d.projectID))
	if err != nil {
		d.w.t.Fatal(err)
	}
	tree, err := db.Decode[file.Tree](item)
	if err != nil {
		d.w.t.Fatal(err)
	}
	return tree
}

// checkTree compares the tree's counters with the stored files.
func (d desk) checkTree() {
	d.w.t.Helper()
	items, err := d.w.projects.QueryAll(d.w.t.Context(), db.FilesOf(d.projectID, ""))
	if err != nil {
		d.w.t.Fatal(err)
	}
	files, err := db.DecodeAll[file.File](items)
	if err != nil {
		d.w.t.Fatal(err)
	}
	sum := 0
	for _, f := range files {
		sum += f.Size
	}
	if tree := d.tree(); tree.Files != len(files) || tree.Bytes != sum {
		d.w.t.Errorf("the tree counts %d files and %d bytes, there are %d and %d", tree.Files, tree.Bytes, len(files), sum)
	}
}

// contentOf returns the decoded content of a file in a response.
func contentOf(t *testing.T, item map[string]any) string {
	t.Helper()
	text, ok := item["content"].(string)
	if !ok {
		t.Fatalf("no content: %v", item)
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

func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileEvents returns the type and path of all file events of the project.
func (d desk) fileEvents() []string {
	d.w.t.Helper()
	var list []string
	for _, r := range d.w.storedEvents() {
		if r.ProjectID == d.projectID && strings.HasPrefix(string(r.Type), "file.") {
			p := decoded(d.w.t, r)
			list = append(list, string(r.Type)+" "+p.Data.File.Path)
		}
	}
	return list
}

func etagOf(version string) string { return `"` + version + `"` }
