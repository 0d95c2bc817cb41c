package project

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/api"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
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
	return d.do(http.MethodPost, d.files(), object{"path": path, "content": content}, change...)
}

func (d desk) saveBytes(path string, data []byte) answer {
	d.w.t.Helper()
	return d.do(http.MethodPost, d.files(), object{"path": path, "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"})
}

func (d desk) read(path string, change ...func(*http.Request)) answer {
	d.w.t.Helper()
	return d.do(http.MethodGet, d.files()+"?path="+url.QueryEscape(path), nil, change...)
}

func (d desk) remove(path string, change ...func(*http.Request)) answer {
	d.w.t.Helper()
	return d.do(http.MethodDelete, d.files()+"?path="+url.QueryEscape(path), nil, change...)
}

func (d desk) batch(operations ...object) answer {
	d.w.t.Helper()
	return d.do(http.MethodPost, d.files()+"/batch", object{"operations": operations})
}

func (d desk) history(path, more string) answer {
	d.w.t.Helper()
	return d.get(d.files() + "/history?path=" + url.QueryEscape(path) + more)
}

// paths are those of all files, as the list has them.
func (d desk) paths() []any {
	d.w.t.Helper()
	return d.get(d.files()).want(d.w.t, http.StatusOK).values("files", "path")
}

// tree reads what the project counts.
func (d desk) tree() treeRecord {
	d.w.t.Helper()
	item, err := d.w.projects.Get(d.w.t.Context(), db.TreeKey(d.projectID))
	if err != nil {
		d.w.t.Fatal(err)
	}
	tree, err := decode[treeRecord](item)
	if err != nil {
		d.w.t.Fatal(err)
	}
	return tree
}

// checkTree holds what the project counts against the files that there are.
func (d desk) checkTree() {
	d.w.t.Helper()
	files, err := d.w.service.store.allFiles(d.w.t.Context(), d.projectID)
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

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// content is a file's content as an answer has it, decoded.
func (a answer) content(t *testing.T) string {
	t.Helper()
	return contentOf(t, a.body)
}

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

func TestAFileIsSavedAndRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	w.clock.Advance(time.Second)
	const text = "export const x = \"é\"\n"
	created := d.save("/src/app.ts", text).want(t, http.StatusCreated)
	version, _ := created.body["version"].(string)
	want := map[string]any{
		"path": "/src/app.ts", "size": float64(len(text)), "contentType": "text/typescript; charset=utf-8", "encoding": "utf-8",
		"sha256": hexSum([]byte(text)), "etag": `"` + version + `"`, "version": version,
		"createdAt": "2031-05-05T10:05:01.003Z", "updatedAt": "2031-05-05T10:05:01.003Z", "updatedBy": d.userID,
	}
	want["createdAt"], want["updatedAt"] = created.body["createdAt"], created.body["createdAt"]
	if diff := cmp.Diff(want, created.body); diff != "" {
		t.Errorf("created: %s", diff)
	}
	if created.header.Get("ETag") != want["etag"] || len(version) != 26 {
		t.Errorf("ETag %s, version %s", created.header.Get("ETag"), version)
	}
	list := d.get(d.files()).want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"files": []any{want}}, list.body); diff != "" {
		t.Errorf("list: %s", diff)
	}
	read := d.read("/src/app.ts").want(t, http.StatusOK)
	withContent := map[string]any{"content": text}
	for k, v := range want {
		withContent[k] = v
	}
	if diff := cmp.Diff(withContent, read.body); diff != "" || read.header.Get("ETag") != want["etag"] {
		t.Errorf("read: %s, ETag %s", diff, read.header.Get("ETag"))
	}

	w.clock.Advance(time.Second)
	updated := d.save("/src/app.ts", "").want(t, http.StatusOK)
	if updated.text("createdAt") != created.text("createdAt") || updated.text("updatedAt") == created.text("updatedAt") ||
		updated.text("version") <= version || updated.body["size"] != float64(0) || updated.text("sha256") != hexSum(nil) {
		t.Errorf("updated: %s", updated.raw)
	}
	if a := d.read("/src/app.ts").want(t, http.StatusOK); a.content(t) != "" || a.text("encoding") != "utf-8" {
		t.Errorf("read: %s", a.raw)
	}
	d.checkTree()
}

func TestUnchangedContentIsNoChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	first := d.save("/a.txt", "same").want(t, http.StatusCreated)
	w.clock.Advance(time.Minute)
	before := w.dump(w.names.projects)
	again := d.save("/a.txt", "same").want(t, http.StatusOK)
	batch := d.batch(object{"op": "update", "path": "/a.txt", "content": "same"}).want(t, http.StatusOK)
	if again.raw != first.raw || again.header.Get("ETag") != first.header.Get("ETag") {
		t.Errorf("%s, was %s", again.raw, first.raw)
	}
	if diff := cmp.Diff([]any{first.body}, batch.body["files"]); diff != "" {
		t.Error(diff)
	}
	if len(d.told()) != 1 || len(w.dump(w.names.projects)) != len(before) || len(w.dump(w.names.contents)) != 1 {
		t.Errorf("something was written: %v", d.told())
	}
	if a := d.do(http.MethodPost, d.files(), object{"path": "/a.txt", "content": "c2FtZQ==", "encoding": "base64"}).want(t, http.StatusOK); a.text("version") == first.text("version") || a.text("encoding") != "base64" {
		t.Errorf("another encoding is another version: %s", a.raw)
	}
}

func TestContentsOfEveryKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	for name, tc := range map[string]struct {
		data         []byte
		as, answered string
		contentType  string
	}{
		"/noise.bin":    {noise(1 << 20), "base64", "base64", "application/octet-stream"},
		"/text.txt":     {[]byte(strings.Repeat("0123456789abcde\n", 1<<16)), "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/nul.txt":      {[]byte("line one\x00line two"), "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/controls":     {bytes.Repeat([]byte{1, 0}, 1000), "utf-8", "base64", "text/plain; charset=utf-8"},
		"/quotes.json":  {bytes.Repeat([]byte(`"`), 1000), "utf-8", "base64", "application/json"},
		"/ascii.base64": {[]byte("hello"), "base64", "base64", "application/octet-stream"},
		"/logo.PNG":     {[]byte("\x89PNG\r\n\x1a\n"), "base64", "base64", "image/png"},
		"/emoji.md":     {[]byte("😀\u2028 <b>"), "utf-8", "utf-8", "text/markdown; charset=utf-8"},
		"/empty":        {nil, "utf-8", "utf-8", "text/plain; charset=utf-8"},
		"/empty.bin":    {nil, "base64", "base64", "application/octet-stream"},
	} {
		sent := string(tc.data)
		if tc.as == "base64" {
			sent = base64.StdEncoding.EncodeToString(tc.data)
		}
		body := object{"path": name, "content": sent, "encoding": tc.as}
		saved := d.do(http.MethodPost, d.files(), body).want(t, http.StatusCreated)
		read := d.read(name).want(t, http.StatusOK)
		if read.content(t) != string(tc.data) || read.text("encoding") != tc.answered || saved.text("encoding") != tc.as {
			t.Errorf("%s: %d bytes as %s came back as %d bytes as %s", name, len(tc.data), tc.as, len(read.content(t)), read.text("encoding"))
		}
		if saved.text("contentType") != tc.contentType || read.text("sha256") != hexSum(tc.data) || read.body["size"] != float64(len(tc.data)) {
			t.Errorf("%s: %.300s", name, saved.raw)
		}
	}
	d.checkTree()
}

func TestPreconditionsOfWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	ifMatch := func(tag string) func(*http.Request) { return header("If-Match", tag) }
	ifNone := header("If-None-Match", "*")

	d.save("/a", "1", ifMatch("*")).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.save("/a", "1", ifMatch(`"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`)).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	first := d.save("/a", "1", ifNone).want(t, http.StatusCreated).header.Get("ETag")
	d.save("/a", "2", ifNone).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.save("/a", "1", ifNone).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed) // unchanged, and yet
	second := d.save("/a", "2", ifMatch(first)).want(t, http.StatusOK).header.Get("ETag")
	d.save("/a", "3", ifMatch(first)).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.save("/a", "2", ifMatch(first)).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.save("/a", "3", ifMatch("W/"+second)).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	third := d.save("/a", "3", ifMatch(first+", "+second)).want(t, http.StatusOK).header.Get("ETag")
	d.save("/a", "3", ifMatch(third)).want(t, http.StatusOK)

	d.remove("/a", ifMatch(first)).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.remove("/a", ifNone).want(t, http.StatusPreconditionFailed, api.CodePreconditionFailed)
	d.remove("/a", ifMatch(third)).want(t, http.StatusOK)
	d.remove("/a", ifMatch(third)).want(t, http.StatusNotFound, api.CodeFileNotFound)
	if diff := cmp.Diff([]string{"file.created /a", "file.updated /a", "file.updated /a", "file.deleted /a"}, d.told()); diff != "" {
		t.Error(diff)
	}
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	tag := d.save("/a", "content").want(t, http.StatusCreated).header.Get("ETag")
	for _, value := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		a := d.read("/a", header("If-None-Match", value)).want(t, http.StatusNotModified)
		if a.raw != "" || a.header.Get("ETag") != tag {
			t.Errorf("%s: %q, ETag %s", value, a.raw, a.header.Get("ETag"))
		}
		if a.calls != 3 {
			t.Errorf("%s: %d calls", value, a.calls)
		}
	}
	d.save("/a", "other").want(t, http.StatusOK)
	if a := d.read("/a", header("If-None-Match", tag)).want(t, http.StatusOK); a.content(t) != "other" {
		t.Error(a.raw)
	}
	d.read("/b", header("If-None-Match", "*")).want(t, http.StatusNotFound, api.CodeFileNotFound)
}

func TestFilesAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	for _, path := range []string{"/a", "/b", "/c", "/d#e?f"} {
		d.save(path, path).want(t, http.StatusCreated)
	}
	a := d.remove("/a").want(t, http.StatusOK)
	if a.body["success"] != true || a.text("message") == "" || len(a.body) != 2 {
		t.Errorf("%s", a.raw)
	}
	d.remove("/a").want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.read("/a").want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.do(http.MethodDelete, d.files(), object{"path": "/b"}).want(t, http.StatusOK)
	d.do(http.MethodDelete, d.files()+"?path=/c", object{"path": "/c"}).want(t, http.StatusOK)
	d.do(http.MethodDelete, d.files()+"?path=/c", object{"path": "/d#e?f"}).want(t, http.StatusBadRequest, api.CodeValidationFailed)
	d.do(http.MethodDelete, d.files(), nil).want(t, http.StatusBadRequest, api.CodeValidationFailed)
	d.do(http.MethodDelete, d.files(), object{}).want(t, http.StatusBadRequest, api.CodeValidationFailed)
	if diff := cmp.Diff([]any{"/d#e?f"}, d.paths()); diff != "" {
		t.Error(diff)
	}
	d.remove("/d#e?f").want(t, http.StatusOK)
	d.checkTree()
}

func TestAPathIsAFileOrAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	d.save("/src/lib/x.ts", "x").want(t, http.StatusCreated)
	for _, path := range []string{"/src", "/src/lib", "/src/lib/x.ts/y", "/src/lib/x.ts/y/z"} {
		d.save(path, "no").want(t, http.StatusConflict, api.CodeConflict)
		d.batch(object{"op": "create", "path": path, "content": ""}).want(t, http.StatusConflict, api.CodeConflict)
	}
	for _, path := range []string{"/src/lib/x.tsx", "/src/li", "/src/lib2", "/sr", "/src/lib/x.t", "/src.ts", "/src-/a", "/src0"} {
		d.save(path, "beside").want(t, http.StatusCreated)
	}
	d.save("/other", "o").want(t, http.StatusCreated)
	for _, to := range []string{"/src", "/src/lib", "/src/lib/x.ts/deep"} {
		d.batch(object{"op": "rename", "path": "/other", "to": to}).want(t, http.StatusConflict, api.CodeConflict)
	}
	d.batch(object{"op": "rename", "path": "/other", "to": "/other/inner"}).want(t, http.StatusOK)
	d.batch(object{"op": "rename", "path": "/other/inner", "to": "/other"}).want(t, http.StatusOK)
	d.remove("/src/lib/x.ts").want(t, http.StatusOK)
	d.save("/src/lib/x.ts/y", "now it is a folder").want(t, http.StatusCreated)
	d.save("/src/lib/x.ts/y", "which does not get in the way of updates").want(t, http.StatusOK)
	d.checkTree()
}

func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	var all []any
	for _, path := range []string{"/a", "/b/1", "/b/2", "/b#", "/c", "/é"} {
		d.save(path, "content of "+path).want(t, http.StatusCreated)
		all = append(all, path)
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if diff := cmp.Diff(all, d.paths()); diff != "" {
		t.Error(diff)
	}
	for prefix, want := range map[string][]any{
		"/b/": {"/b/1", "/b/2"}, "/b": {"/b#", "/b/1", "/b/2"}, "/b/1": {"/b/1"}, "/x": {}, "b": {}, "/": all,
		strings.Repeat("/x", 900): {},
	} {
		for _, limit := range []int{0, 1, 2, 100} {
			got := []any{}
			for _, a := range pages(t, d, fmt.Sprintf("?prefix=%s", url.QueryEscape(prefix)), limit) {
				got = append(got, a.values("files", "path")...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.20s, %d at a time: %s", prefix, limit, diff)
			}
		}
	}
	for _, limit := range []int{0, 1, 4} {
		n := 0
		for _, a := range pages(t, d, "?include=content", limit) {
			for _, f := range a.list("files") {
				n++
				if contentOf(t, f) != "content of "+f["path"].(string) {
					t.Errorf("%v", f)
				}
			}
		}
		if n != len(all) {
			t.Errorf("%d files with contents", n)
		}
	}
}

// pages follows the cursors of a list to its end.
func pages(t *testing.T, d desk, query string, limit int) []answer {
	t.Helper()
	if limit > 0 {
		query += fmt.Sprintf("&limit=%d", limit)
	}
	var all []answer
	for cursor := ""; ; {
		a := d.get(d.files()+query+cursor).want(t, http.StatusOK)
		all = append(all, a)
		if n := len(a.list("files")); limit > 0 && (n > limit || (n < limit && a.text("nextCursor") != "" && !strings.Contains(query, "content"))) {
			t.Fatalf("a page of %d, at most %d", n, limit)
		}
		next := a.text("nextCursor")
		if next == "" {
			return all
		}
		if len(all) > 200 {
			t.Fatal("the list does not end")
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}

func TestAListWithContentsIsPagedByBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	sizes := map[string]int{}
	for i := range 5 {
		path := fmt.Sprintf("/%d.bin", i)
		d.saveBytes(path, noise(1<<20)).want(t, http.StatusCreated)
		sizes[path] = 1 << 20
	}
	d.save("/z.txt", strings.Repeat("\n\n\nabcde", 1<<17)).want(t, http.StatusCreated)
	sizes["/z.txt"] = 1 << 20
	for _, limit := range []int{0, 2} {
		got := map[string]int{}
		for _, a := range pages(t, d, "?include=content", limit) {
			if len(a.raw) > 5<<20 {
				t.Errorf("a page of %d bytes", len(a.raw))
			}
			for _, f := range a.list("files") {
				got[f["path"].(string)] = len(contentOf(t, f))
			}
		}
		if diff := cmp.Diff(sizes, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
}

func TestForeignCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	other := d.at(d.project("", "Other", Private))
	for _, p := range []desk{d, other} {
		for i := range 3 {
			p.save(fmt.Sprintf("/a/%d", i), "x").want(t, http.StatusCreated)
			p.save("/a/0", fmt.Sprint(i)).want(t, http.StatusOK)
		}
	}
	cursor := d.get(d.files() + "?limit=1").text("nextCursor")
	versions := d.history("/a/0", "&limit=1").text("nextCursor")
	if cursor == "" || versions == "" {
		t.Fatal("no cursors")
	}
	for _, path := range []string{
		other.files() + "?cursor=" + cursor, d.files() + "?prefix=/a&cursor=" + cursor, d.files() + "?cursor=" + versions,
		d.files() + "?cursor=nonsense", d.files() + "?cursor=" + cursor[:len(cursor)-2] + "xx",
		d.files() + "/history?path=/a/0&cursor=" + cursor, d.files() + "/history?path=/a/1&cursor=" + versions,
		other.files() + "/history?path=/a/0&cursor=" + versions,
	} {
		if a := d.get(path).want(t, http.StatusBadRequest, api.CodeValidationFailed); !strings.Contains(a.text("error"), "cursor") {
			t.Errorf("%s: %s", path, a.raw)
		}
	}
	d.get(d.files()+"?limit=2&cursor="+cursor).want(t, http.StatusOK)
}

// Every bad request has its clear error, and leaves nothing behind.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	d.save("/there", "x").want(t, http.StatusCreated)
	before := len(w.dump(w.names.projects)) + len(w.dump(w.names.contents)) + len(w.dump(w.names.events))
	bad := func(a answer, status int, code api.Code, message string) {
		t.Helper()
		if a.status != status || a.text("code") != string(code) || !strings.Contains(a.text("error"), message) {
			t.Errorf("%d %s, want %d %s %q", a.status, a.raw, status, code, message)
		}
	}
	invalid := func(a answer, message string) {
		t.Helper()
		bad(a, http.StatusBadRequest, api.CodeValidationFailed, message)
	}
	for path, rule := range map[string]string{
		"": "path: must not be empty", "/": "path: must name a file", "a": "path: must begin with a slash", "/a/../b": "path: must not have a segment . or ..",
		"//a": "path: must name a file", "/a/": "path: must name a file", `/a\b`: "path: must not contain a backslash", "/a\nb": "path: must not contain control characters",
		"/a\u0085": "path: must not contain control characters", "/" + strings.Repeat("a", 512): "path: must be at most 512 bytes long",
		"/cafe\u0301": "path: must be in Unicode normal form C",
	} {
		invalid(d.save(path, "x"), rule)
		invalid(d.read(path), rule)
		invalid(d.remove(path), rule)
		invalid(d.do(http.MethodDelete, d.files(), object{"path": path}), "path: ")
		invalid(d.history(path, ""), "path: ")
		invalid(d.batch(object{"op": "create", "path": path, "content": ""}), "operations[0]."+rule)
		invalid(d.batch(object{"op": "rename", "path": "/there", "to": path}), "operations[0].to: ")
	}
	invalid(d.save("/a\x00", "x"), "path: must not contain ")
	invalid(d.do(http.MethodPost, d.files(), object{"path": "/a"}), "content: is required")
	invalid(d.do(http.MethodPost, d.files(), object{"content": "a"}), "path: is required")
	invalid(d.do(http.MethodPost, d.files(), object{}), "path: is required")
	invalid(d.do(http.MethodPost, d.files(), object{"path": 1, "content": "a"}), "path: must be a string")
	invalid(d.do(http.MethodPost, d.files(), object{"path": "/a", "content": nil}), "content: must be a string")
	invalid(d.do(http.MethodPost, d.files(), object{"path": "/a", "content": "a", "encoding": "utf8"}), "encoding: must be one of")
	invalid(d.do(http.MethodPost, d.files(), nil), "body: is required")
	invalid(d.do(http.MethodPost, d.files(), `{"path":"/a","content":"\ud800"}`), "body: is not valid JSON")
	for _, text := range []string{"A", "AA", "AB==", "AA==\n", "-_-_", " "} {
		invalid(d.do(http.MethodPost, d.files(), object{"path": "/a", "content": text, "encoding": "base64"}), "content: must be base64")
		invalid(d.batch(object{"op": "create", "path": "/a", "content": text, "encoding": "base64"}), "operations[0].content: must be base64")
	}
	bad(d.save("/a", strings.Repeat("a", 1<<20+1)), http.StatusRequestEntityTooLarge, api.CodePayloadTooLarge, "1 MiB")
	bad(d.saveBytes("/a", noise(1<<20+1)), http.StatusRequestEntityTooLarge, api.CodePayloadTooLarge, "1 MiB")
	invalid(d.get(d.files()+"?include=contents"), "include: must be one of")
	invalid(d.get(d.files()+"?limit=0"), "limit")
	invalid(d.get(d.files()+"?limit=101"), "limit")
	invalid(d.get(d.files()+"?limit=x"), "limit")
	invalid(d.get(d.files()+"?version=01K9ZQ3V7M8T5XW2ABCDEFGHJK"), "path: is required with a version")
	invalid(d.get(d.files()+"/history"), "path: is required")
	for _, other := range []string{"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", d.userID, "x", w.ids.New(id.Project), strings.ToLower(d.projectID)} {
		p := d.at(other)
		for _, a := range []answer{p.save("/a", "x"), p.read("/a"), p.get(p.files()), p.remove("/a"), p.history("/a", ""), p.batch(object{"op": "delete", "path": "/a"})} {
			bad(a, http.StatusNotFound, api.CodeProjectNotFound, "There is no such project.")
		}
	}
	if after := len(w.dump(w.names.projects)) + len(w.dump(w.names.contents)) + len(w.dump(w.names.events)); after != before {
		t.Errorf("%d items were left behind", after-before)
	}
}

func TestVersionsAndHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	var versions []string
	for i := range 5 {
		w.clock.Advance(time.Second)
		versions = append(versions, d.save("/a", fmt.Sprint("content ", i)).text("version"))
	}
	newest := slices.Clone(versions)
	slices.Reverse(newest)
	history := d.history("/a", "").want(t, http.StatusOK)
	list := history.list("versions")
	for i, v := range list {
		content := fmt.Sprint("content ", 4-i)
		if len(v) != 6 || v["version"] != newest[i] || v["current"] != (i == 0) || v["size"] != float64(len(content)) ||
			v["sha256"] != hexSum([]byte(content)) || v["updatedBy"] != d.userID {
			t.Errorf("%d: %v", i, v)
		}
		a := d.get(d.files()+"?path=/a&version="+newest[i]).want(t, http.StatusOK)
		if a.content(t) != content || a.text("version") != newest[i] || a.header.Get("ETag") != etag(newest[i]) || a.text("updatedAt") != v["createdAt"] {
			t.Errorf("%d: %s", i, a.raw)
		}
	}
	if len(list) != 5 || history.text("nextCursor") != "" {
		t.Fatalf("%s", history.raw)
	}
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for cursor := ""; ; {
			a := d.history("/a", fmt.Sprintf("&limit=%d%s", limit, cursor)).want(t, http.StatusOK)
			for _, v := range a.values("versions", "version") {
				got = append(got, v.(string))
			}
			if a.text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + a.text("nextCursor")
		}
		if diff := cmp.Diff(newest, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}

	w.clock.Advance(versionRetention / 2)
	d.batch(object{"op": "rename", "path": "/a", "to": "/b"}).want(t, http.StatusOK)
	if got := d.history("/a", "").want(t, http.StatusOK).values("versions", "current"); len(got) != 5 || got[0] != false {
		t.Errorf("the history of a path that was left: %v", got)
	}
	if got := d.history("/b", "").want(t, http.StatusOK).values("versions", "current"); len(got) != 1 || got[0] != true {
		t.Errorf("the history of a new path: %v", got)
	}
	d.get(d.files()+"?path=/a").want(t, http.StatusNotFound, api.CodeFileNotFound)
	if a := d.get(d.files()+"?path=/a&version="+newest[0]).want(t, http.StatusOK); a.content(t) != "content 4" {
		t.Error(a.raw)
	}
	d.get(d.files()+"?path=/b&version="+newest[1]).want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.get(d.files()+"?path=/a&version=none").want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.get(d.files()+"?path=/a&version=a%23b").want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.history("/never", "").want(t, http.StatusNotFound, api.CodeFileNotFound)

	w.clock.Advance(versionRetention/2 + time.Minute) // those that were replaced at the beginning are gone, the one renamed isn't
	if got := d.history("/a", "").want(t, http.StatusOK).values("versions", "version"); len(got) != 1 || got[0] != newest[0] {
		t.Errorf("after 30 days: %v", got)
	}
	d.get(d.files()+"?path=/a&version="+newest[1]).want(t, http.StatusNotFound, api.CodeFileNotFound)
	w.clock.Advance(versionRetention)
	d.history("/a", "").want(t, http.StatusNotFound, api.CodeFileNotFound)
	d.history("/b", "").want(t, http.StatusOK)
}

func TestWhoMayDoWhatWithFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.user("olive")
	place := owner.workspace("Team")
	byRole := map[string]*browser{"owner": owner, "outsider": w.user("eve")}
	for _, role := range []workspace.Role{workspace.Admin, workspace.Member, workspace.Viewer} {
		byRole[string(role)] = w.user(string(role))
		w.join(place, byRole[string(role)], role)
	}
	calls := map[string]func(desk) answer{
		"list":    func(d desk) answer { return d.get(d.files()) },
		"content": func(d desk) answer { return d.get(d.files() + "?include=content") },
		"read":    func(d desk) answer { return d.read("/a") },
		"version": func(d desk) answer { return d.get(d.files() + "?path=/a&version=none") },
		"history": func(d desk) answer { return d.history("/a", "") },
		"save":    func(d desk) answer { return d.save("/new", rand.Text()) },
		"delete":  func(d desk) answer { return d.remove("/none") },
		"batch":   func(d desk) answer { return d.batch(object{"op": "update", "path": "/a", "content": "x"}) },
	}
	const ok, noFile, denied, noProject = http.StatusOK, http.StatusNotFound, http.StatusForbidden, -http.StatusNotFound
	member := map[string]int{"list": ok, "content": ok, "read": ok, "version": noFile, "history": ok, "save": ok, "delete": noFile, "batch": ok}
	viewer := map[string]int{"list": ok, "content": ok, "read": ok, "version": noFile, "history": ok, "save": denied, "delete": denied, "batch": denied}
	nobody := map[string]int{"list": noProject, "content": noProject, "read": noProject, "version": noProject, "history": noProject, "save": noProject, "delete": noProject, "batch": noProject}
	reader := map[string]int{"list": ok, "content": ok, "read": ok, "version": denied, "history": denied, "save": denied, "delete": denied, "batch": denied}
	for visibility, want := range map[Visibility]map[string]map[string]int{
		Private: {"owner": member, "admin": member, "member": nobody, "viewer": nobody, "outsider": nobody},
		Team:    {"owner": member, "admin": member, "member": member, "viewer": viewer, "outsider": nobody},
		Public:  {"owner": member, "admin": member, "member": member, "viewer": viewer, "outsider": reader},
	} {
		projectID := owner.project(place, string(visibility), visibility)
		owner.at(projectID).save("/a", "x").want(t, http.StatusCreated)
		owner.at(projectID).save("/new", "x").want(t, http.StatusCreated)
		for role, expected := range want {
			for name, call := range calls {
				a := call(byRole[role].at(projectID))
				code := map[int]api.Code{noFile: api.CodeFileNotFound, denied: api.CodeAccessDenied, noProject: api.CodeProjectNotFound, ok: ""}[expected[name]]
				if status := max(expected[name], -expected[name]); a.status != status || a.text("code") != string(code) {
					t.Errorf("%s, %s, %s: %d %s, want %d %s", visibility, role, name, a.status, a.raw, status, code)
				}
			}
		}
		w.join(place, byRole["member"], workspace.Viewer)
		byRole["member"].at(projectID).save("/new", "y").want(t, map[Visibility]int{Private: http.StatusNotFound}[visibility]|map[Visibility]int{Team: http.StatusForbidden, Public: http.StatusForbidden}[visibility])
		w.join(place, byRole["member"], workspace.Member)
	}
}

func TestFileEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	first := d.save("/a", "secret one").want(t, http.StatusCreated)
	second := d.save("/a", "secret two").want(t, http.StatusOK)
	renamed := d.batch(object{"op": "rename", "path": "/a", "to": "/b"}).want(t, http.StatusOK).list("files")[0]
	d.remove("/b").want(t, http.StatusOK)
	d.save("/c", strings.Repeat("x", 1<<20+1)).want(t, http.StatusRequestEntityTooLarge)
	d.remove("/c").want(t, http.StatusNotFound)

	file := func(path string, item map[string]any) event.File {
		size, _ := item["size"].(float64)
		sum, _ := item["sha256"].(string)
		version, _ := item["version"].(string)
		return event.File{Path: path, Size: int(size), SHA256: sum, Version: version}
	}
	want := []struct {
		kind     event.Type
		file     event.File
		replaced bool
	}{
		{event.FileCreated, file("/a", first.body), false},
		{event.FileUpdated, file("/a", second.body), true},
		{event.FileDeleted, file("/a", second.body), false}, // goes on as /b
		{event.FileCreated, file("/b", renamed), false},
		{event.FileDeleted, file("/b", renamed), true},
	}
	var records []event.Record
	for _, r := range w.storedEvents() {
		if strings.Contains(string(r.Payload), "secret") {
			t.Errorf("content in an event: %s", r.Payload)
		}
		if strings.HasPrefix(string(r.Type), "file.") {
			records = append(records, r)
		}
	}
	if len(records) != len(want) {
		t.Fatalf("%d events", len(records))
	}
	for i, r := range records {
		p := decoded(t, r)
		expected := event.Data{
			Actor: event.Actor{ID: d.userID, Username: "ada"}, Project: &event.Project{ID: d.projectID, Name: "ada's project"}, File: &want[i].file,
		}
		if diff := cmp.Diff(expected, p.Data); diff != "" || r.Type != want[i].kind || p.Type != r.Type {
			t.Errorf("%d: %s, want %s: %s", i, r.Type, want[i].kind, diff)
		}
		if (r.Replaced != nil) != want[i].replaced || r.ProjectID != d.projectID {
			t.Errorf("%d: replaced %v", i, r.Replaced)
		}
	}
	if records[1].Replaced.Chunks != 1 || records[1].Replaced.ID == records[4].Replaced.ID {
		t.Errorf("%+v, %+v", records[1].Replaced, records[4].Replaced)
	}
}
