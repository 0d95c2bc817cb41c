package project

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/api"
)

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
	if a := d.do(http.MethodPost, d.files(), object{"path": "/a.txt", "content": "c2FtZQ==", "encoding": "base64"}).want(t, http.StatusOK); a.raw != first.raw {
		t.Errorf("the same bytes, sent otherwise: %s", a.raw)
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
