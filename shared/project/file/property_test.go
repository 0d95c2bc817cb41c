package file_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/shared/workspace"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is a simple model of a project's files.
type model struct {
	files  map[string]string // contents by path
	tags   map[string]string // entity tags by path
	events []string
}

// apply returns the model after a batch, and whether the batch succeeds.
func (m model) apply(ops []object) (model, bool) {
	next := model{maps.Clone(m.files), maps.Clone(m.tags), slices.Clone(m.events)}
	for _, op := range ops {
		path, _ := op["path"].(string)
		content, _ := op["content"].(string)
		old, exists := m.files[path]
		if exists == (op["op"] == "create") || (op["etag"] != nil && op["etag"] != m.tags[path]) {
			return m, false
		}
		switch op["op"] {
		case "create":
			next.files[path] = content
			next.events = append(next.events, "file.created "+path)
		case "update":
			if content != old {
				next.files[path] = content
				next.events = append(next.events, "file.updated "+path)
			}
		case "delete":
			delete(next.files, path)
			next.events = append(next.events, "file.deleted "+path)
		case "rename":
			to, _ := op["to"].(string)
			if _, taken := m.files[to]; taken {
				return m, false
			}
			delete(next.files, path)
			next.files[to] = old
			next.events = append(next.events, "file.deleted "+path, "file.created "+to)
		}
	}
	for path := range next.files {
		for other := range next.files {
			if strings.HasPrefix(other, path+"/") {
				return m, false
			}
		}
	}
	return next, true
}

// After random saves, deletions and batches, the files, their events and the tree's counters match the model.
func TestFilesMatchModel(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	// Each round uses its own project and sends dozens of requests. After a failure, the number of rounds is not limited,
	// so that rapid can shrink the input.
	const rounds = 6
	round, failed := 0, false
	paths := rapid.SampledFrom([]string{"/a", "/a/b", "/a/b/c", "/a-", "/b", "/b/a", "/ab"})
	contents := rapid.SampledFrom([]string{"", "x", "xy", strings.Repeat("longer ", 100)})
	rapid.Check(t, func(rt *rapid.T) {
		if round++; round > rounds && !failed {
			return
		}
		passed := false
		defer func() { failed = failed || !passed }()
		client := f.NewUser(fmt.Sprint("user", round)).FilesOf("")
		client.ProjectID = client.Project("", "Model", workspace.Private)
		m := model{files: map[string]string{}, tags: map[string]string{}}
		check := func(r response, ops ...object) {
			next, possible := m.apply(ops)
			if possible != (r.Status < http.StatusBadRequest) {
				rt.Fatalf("operations %v on files %v: got %d %s, want success: %v", ops, m.files, r.Status, r.Raw, possible)
			}
			m = next
		}
		rt.Repeat(map[string]func(*rapid.T){
			"save": func(rt *rapid.T) {
				path, content := paths.Draw(rt, "path"), contents.Draw(rt, "content")
				op := creation(path, content)
				if _, exists := m.files[path]; exists {
					op = update(path, content)
				}
				check(client.Save(path, content), op)
			},
			"delete": func(rt *rapid.T) {
				path := paths.Draw(rt, "path")
				check(client.Remove(path), deletion(path))
			},
			"batch": func(rt *rapid.T) {
				var ops []object
				unusedPaths := rapid.Permutation([]string{"/a", "/a/b", "/a/b/c", "/a-", "/b", "/b/a", "/ab"}).Draw(rt, "paths")
				for n := rapid.IntRange(1, 3).Draw(rt, "operations"); n > 0; n-- {
					action := rapid.SampledFrom([]string{"create", "update", "delete", "rename"}).Draw(rt, "op")
					op := object{"op": action, "path": unusedPaths[0]}
					unusedPaths = unusedPaths[1:]
					switch op["op"] {
					case "create", "update":
						op["content"] = contents.Draw(rt, "content")
					case "rename":
						op["to"], unusedPaths = unusedPaths[0], unusedPaths[1:]
					}
					tag, exists := m.tags[op["path"].(string)]
					if exists && action != "create" && rapid.Bool().Draw(rt, "conditional") {
						op["etag"] = rapid.SampledFrom([]string{tag, `"another"`}).Draw(rt, "etag")
					}
					ops = append(ops, op)
				}
				check(client.Batch(ops...), ops...)
			},
			"": func(rt *rapid.T) {
				contents := map[string]string{}
				m.tags = map[string]string{}
				for _, item := range client.Get(client.URL() + "?include=content").List("files") {
					path, _ := item["path"].(string)
					contents[path], m.tags[path] = contentOf(t, item), item["etag"].(string)
				}
				if diff := cmp.Diff(m.files, contents); diff != "" {
					rt.Fatalf("mismatch (-want +got):\n%s", diff)
				}
				sum := 0
				for _, content := range m.files {
					sum += len(content)
				}
				if tree := client.Tree(); tree.Files != len(m.files) || tree.Bytes != sum {
					rt.Fatalf("got the tree %+v, want %d files and %d bytes", tree, len(m.files), sum)
				}
			},
		})
		if diff := cmp.Diff(m.events, client.FileEvents()); diff != "" {
			rt.Fatalf("mismatch (-want +got):\n%s", diff)
		}
		passed = true
	})
}
