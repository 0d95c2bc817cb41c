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

// desk is a user at a project.
type desk struct {
	*browser
	projectID string
}

// desk makes a user with a project of their own.
func (w *world) desk(name string) desk {
	w.t.Helper()
	b := w.user(name)
	return desk{b, b.project("", name+"'s project", Private)}
}

// at is a user at a project that exists.
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

// paths are those of all files, as the list has them.
func (d desk) paths() []any {
	d.w.t.Helper()
	return d.Get(d.files()).Want(d.w.t, http.StatusOK).Values("files", "path")
}

// tree reads what the project counts.
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

// checkTree holds what the project counts against the files that there are.
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

// contentOf is a file's content as an answer has it, decoded.
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

// told are the file events so far, as type and path.
func (d desk) told() []string {
	d.w.t.Helper()
	var told []string
	for _, r := range d.w.storedEvents() {
		if r.ProjectID == d.projectID && strings.HasPrefix(string(r.Type), "file.") {
			p := decoded(d.w.t, r)
			told = append(told, string(r.Type)+" "+p.Data.File.Path)
		}
	}
	return told
}

func etagOf(version string) string { return `"` + version + `"` }
