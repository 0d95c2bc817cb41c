package main

import (
	"context"
	"net/http"
	"strings"
)

// The project's first files.
const (
	manifest = "{\n  \"name\": \"cafe-deja\",\n  \"dependencies\": {\n    \"react\": \"^19.0.0\"\n  }\n}\n"
	app      = "export default function App() {\n  return <h1>Café Déjà</h1>;\n}\n"
	old      = "export const opened = 1994;\n"
)

// appPath is the file that is saved again and again.
const appPath = "/src/App.jsx"

// files is the address of the project's files.
func (s *story) files() string { return "/api/projects/" + s.project + "/files" }

// write makes a project, and shows what its files promise to those who write at the same time.
func (s *story) write(ctx context.Context) error {
	var project struct{ ID, Slug, Framework string }
	if err := s.do(ctx, call{method: http.MethodPost, path: "/api/projects", body: object{"name": "Café Déjà", "framework": "react"},
		want: http.StatusCreated, into: &project}); err != nil {
		return err
	}
	s.project = project.ID
	s.screen.fields(field{"id", project.ID}, field{"name", "Café Déjà"}, field{"slug", project.Slug}, field{"framework", project.Framework})
	var batch struct{ Files []file }
	if err := s.do(ctx, call{method: http.MethodPost, path: s.files() + "/batch", body: object{"operations": []object{
		{"op": "create", "path": "/package.json", "content": manifest},
		{"op": "create", "path": appPath, "content": app},
		{"op": "create", "path": "/src/old.jsx", "content": old},
	}}, want: http.StatusOK, into: &batch}); err != nil {
		return err
	}
	for _, f := range batch.Files {
		s.screen.mark("+", f.Path, number(f.Size)+" bytes")
	}
	if err := s.concurrent(ctx); err != nil {
		return err
	}
	return s.allOrNothing(ctx)
}

// concurrent has two people save the same file.
func (s *story) concurrent(ctx context.Context) error {
	s.screen.line("")
	s.screen.say("Two users read a file and change it. The first save succeeds. The second one is rejected, because the file has changed.")
	var read, saved file
	if err := s.do(ctx, call{method: http.MethodGet, path: s.files() + "?path=" + appPath, want: http.StatusOK, into: &read}); err != nil {
		return err
	}
	s.screen.fields(field{"etag", read.ETag})
	match := [2]string{"If-Match", read.ETag}
	if err := s.do(ctx, call{method: http.MethodPost, path: s.files(), header: match,
		body: object{"path": appPath, "content": strings.ReplaceAll(app, "<h1>Café", "<h1>Grand Café")}, want: http.StatusOK, into: &saved}); err != nil {
		return err
	}
	s.screen.fields(field{"If-Match", read.ETag}, field{"new etag", saved.ETag})
	var late refusal
	if err := s.do(ctx, call{method: http.MethodPost, path: s.files(), header: match,
		body: object{"path": appPath, "content": "export default null;\n"}, want: http.StatusPreconditionFailed, into: &late}); err != nil {
		return err
	}
	s.screen.fields(field{"If-Match", read.ETag})
	s.screen.refusal(late)
	return s.history(ctx)
}

// history lists the versions of the file.
func (s *story) history(ctx context.Context) error {
	var history struct {
		Versions []struct {
			Version string
			Size    int
			Current bool
		}
	}
	if err := s.do(ctx, call{method: http.MethodGet, path: s.files() + "/history?path=" + appPath, want: http.StatusOK, into: &history}); err != nil {
		return err
	}
	for _, v := range history.Versions {
		state := "replaced, kept for 30 days"
		if v.Current {
			state = "current"
		}
		s.screen.fields(field{"version", v.Version}, field{"size", number(v.Size) + " bytes, " + state})
	}
	return nil
}

// allOrNothing sends a batch of which one operation can't be done.
func (s *story) allOrNothing(ctx context.Context) error {
	s.screen.line("")
	s.screen.say("A batch succeeds completely or changes nothing. This one creates a file, and updates a file that does not exist.")
	if err := s.refuse(ctx, call{method: http.MethodPost, path: s.files() + "/batch", body: object{"operations": []object{
		{"op": "create", "path": "/half.txt", "content": "half"},
		{"op": "update", "path": "/missing.txt", "content": "?"},
	}}, want: http.StatusNotFound}); err != nil {
		return err
	}
	return s.refuse(ctx, call{method: http.MethodGet, path: s.files() + "?path=/half.txt", want: http.StatusNotFound})
}
