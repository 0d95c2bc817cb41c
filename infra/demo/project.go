package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// The files of the project. appPath is saved several times.
const (
	manifestPath = "/package.json"
	oldPath      = "/src/old.ts"
	appPath      = "/src/App.tsx"
	app          = "export default function App() {\n  return <h1>Café Déjà</h1>;\n}\n"
)

// file is a file in a response.
type file struct {
	Path, ETag, Version string
	Size                int
	Current             bool // in a history
}

// files returns the path of the project's files.
func (s *story) files() string { return "/api/projects/" + s.project + "/files" }

// write creates a project and files, and shows what happens if others write at the same time.
func (s *story) write(ctx context.Context) error {
	var project struct{ ID, Slug, Framework string }
	body := object{"name": "Café Déjà", "framework": "react"}
	if err := s.post(ctx, "/api/projects", body, &project); err != nil {
		return err
	}
	s.project = project.ID
	s.screen.fields("id", project.ID, "name", "Café Déjà", "slug", project.Slug, "framework", project.Framework)
	var batch struct{ Files []file }
	if err := s.post(ctx, s.files()+"/batch", object{"operations": []object{
		{"op": "create", "path": manifestPath, "content": `{"name": "cafe-deja", "dependencies": {"react": "^19.0.0"}}`},
		{"op": "create", "path": appPath, "content": app},
		{"op": "create", "path": oldPath, "content": "export const opened = 1994;\n"},
	}}, &batch); err != nil {
		return err
	}
	for _, f := range batch.Files {
		s.screen.mark("+", f.Path, fmt.Sprint(f.Size, " bytes"))
	}
	if err := s.saveTwice(ctx); err != nil {
		return err
	}
	s.screen.line("")
	s.screen.say("A batch succeeds completely or changes nothing. This one updates a file that does not exist.")
	if err := s.refuse(ctx, call{method: http.MethodPost, path: s.files() + "/batch", body: object{"operations": []object{
		{"op": "create", "path": "/half.txt", "content": "half"},
		{"op": "update", "path": "/missing.txt", "content": "?"},
	}}, want: http.StatusNotFound}); err != nil {
		return err
	}
	return s.refuse(ctx, call{method: http.MethodGet, path: s.files() + "?path=/half.txt", want: http.StatusNotFound})
}

// saveTwice saves a file as two users who have read the same version, and lists the versions.
func (s *story) saveTwice(ctx context.Context) error {
	s.screen.line("")
	s.screen.say("Two users read a file and change it. The first save succeeds. The second one is rejected.")
	var read, saved file
	if err := s.get(ctx, s.files()+"?path="+appPath, &read); err != nil {
		return err
	}
	save := call{method: http.MethodPost, path: s.files(), match: read.ETag, note: "If-Match " + short(read.ETag),
		into: &saved,
		body: object{"path": appPath, "content": strings.ReplaceAll(app, "<h1>Café", "<h1>Grand Café")}}
	if _, err := s.client.do(ctx, save); err != nil {
		return err
	}
	s.screen.fields("new etag", saved.ETag)
	save.body, save.want = object{"path": appPath, "content": "export default null;\n"}, http.StatusPreconditionFailed
	if err := s.refuse(ctx, save); err != nil {
		return err
	}
	var history struct{ Versions []file }
	if err := s.get(ctx, s.files()+"/history?path="+appPath, &history); err != nil {
		return err
	}
	for _, v := range history.Versions {
		state := "replaced, kept for 30 days"
		if v.Current {
			state = "current"
		}
		s.screen.fields("version", v.Version, "size", fmt.Sprint(v.Size, " bytes, ", state))
	}
	return nil
}

// save changes the file of the application.
func (s *story) save(ctx context.Context, heading string) error {
	content := strings.ReplaceAll(app, "Café Déjà", heading)
	return s.post(ctx, s.files(), object{"path": appPath, "content": content}, nil)
}
