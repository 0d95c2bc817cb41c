package scaffold

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"devplatform/shared/assistant/model"
)

// The templates of a piece are in templates/<framework>/<piece>.tmpl. A framework has the pieces that it has templates
// for. Next.js uses the templates of React. The files of a starter are not templates.
//
//go:embed templates
var templates embed.FS

// file is a file to write.
type file struct{ path, content string }

func templateFile(f framework, p piece) string {
	if p == starter {
		return "templates/starter/" + string(f)
	}
	if f == next {
		f = react
	}
	return fmt.Sprintf("templates/%s/%s.tmpl", f, p)
}

func hasTemplate(f framework, p piece) bool {
	_, err := fs.Stat(templates, templateFile(f, p))
	return err == nil
}

// extensions are the extensions of the files of each framework.
var extensions = map[framework]string{static: ".html", react: ".jsx", next: ".jsx", express: ".mjs", golang: ".go"}

// filesOf returns the files of a request.
func filesOf(r request, f model.Facts) ([]file, error) {
	if r.piece == starter {
		return starterFiles(r.framework)
	}
	content, err := render(r)
	return []file{{place(r, f), content}}, err
}

// starterFiles returns the files of a starter. The starters share their styles.
func starterFiles(f framework) ([]file, error) {
	var files []file
	err := fs.WalkDir(templates, "templates/starter", func(name string, entry fs.DirEntry, err error) error {
		target, isOwn := strings.CutPrefix(name, templateFile(f, starter))
		if path.Base(name) == "styles.css" {
			target, isOwn = map[framework]string{static: "/styles.css", react: "/src/styles.css"}[f], true
		}
		if err != nil || entry.IsDir() || !isOwn {
			return err
		}
		content, err := templates.ReadFile(name)
		files = append(files, file{target, string(content)})
		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, fmt.Errorf("read the starter for %s: %w", f, err)
	}
	return files, nil
}

// data is what a template can use.
type data struct {
	// Name is the name of the component, File the name in URLs, and Title the name for people.
	Name, File, Title string
	// Records is the plural of the records, Record the singular.
	Records, Record string
	Fields          []field
	IsNext          bool
	// Indent is the indentation of the sample records.
	Indent string
}

// Numbers are the numbers of the sample records.
func (data) Numbers() []int { return []int{1, 2, 3} }

// OptionalKeys returns the keys of the optional fields as a list of strings in JavaScript.
func (d data) OptionalKeys() string {
	var keys []string
	for _, f := range d.Fields {
		if f.Optional {
			keys = append(keys, strconv.Quote(f.Key))
		}
	}
	return strings.Join(keys, ", ")
}

// GoFields returns the fields of a struct, aligned as gofmt does.
func (d data) GoFields() []string {
	rows := [][3]string{{"ID", "int", "id"}}
	var name, kind int
	for _, f := range d.Fields {
		rows = append(rows, [3]string{f.GoName(), f.GoType(), f.Key})
	}
	for _, row := range rows {
		name, kind = max(name, len(row[0])), max(kind, len(row[1]))
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("%-*s %-*s `json:%q`", name, row[0], kind, row[1], row[2]))
	}
	return lines
}

func render(r request) (string, error) {
	d := data{
		Name: r.componentName(), File: r.fileName(), Title: r.title(), Records: r.recordsName(),
		Record: singular(r.recordsName()), Fields: r.fields, IsNext: r.framework == next, Indent: "  ",
	}
	if r.framework == static {
		d.Indent = "      "
	}
	t, err := template.New(string(r.piece)+".tmpl").Delims("<%", "%>").
		Funcs(template.FuncMap{"capital": capital}).
		ParseFS(templates, templateFile(r.framework, r.piece), "templates/static/layout.tmpl")
	if err != nil {
		return "", fmt.Errorf("parse a template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, d); err != nil {
		return "", fmt.Errorf("execute a template: %w", err)
	}
	return strings.TrimLeft(b.String(), "\n"), nil
}

// place returns the path of the piece's file.
func place(r request, f model.Facts) string {
	base := "/"
	if manifest := nearestManifest(f); manifest != "" {
		base = path.Dir(manifest)
	}
	folder := "components"
	if r.piece == page {
		folder = "pages"
	}
	name := r.componentName() + ".jsx"
	switch r.framework {
	case static:
		return "/" + r.fileName() + ".html"
	case golang:
		return fmt.Sprintf("/%s/%s.go", r.records, r.records)
	case express:
		return path.Join(base, "routes", r.records+".mjs")
	case next:
		if slices.ContainsFunc(f.Paths, func(p string) bool { return strings.HasPrefix(p, path.Join(base, "src/app")+"/") }) {
			base = path.Join(base, "src")
		}
		if r.piece == page {
			return path.Join(base, "app", r.fileName(), "page.jsx")
		}
		return path.Join(base, folder, name)
	default:
		return path.Join(base, "src", folder, name)
	}
}
