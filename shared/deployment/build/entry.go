package build

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// pages is what the pages of a project say about its output.
type pages struct {
	app     bool // whether JavaScript outside of /public is source
	pages   []page
	links   map[string]bool // files that pages refer to without bundling them
	imports []string        // keys of import maps
}

// key identifies an entry in the bundler.
func (e entry) key() string {
	if e.inline() {
		return fmt.Sprintf("%s?%d", e.file, e.n)
	}
	return e.file
}

// findPages returns the pages of the project. Errors: *failure.Error; the error of ctx.
func findPages(ctx context.Context, in Input) (*pages, error) {
	t := tree{in.Files, in.Packages}
	s := &pages{app: isApp(in), links: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		if !isPage(name, s.app) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("find the pages: %w", err)
		}
		if err := checkPage(name, in.Files[name]); err != nil {
			return nil, err
		}
		if t.has("/public" + name) {
			return nil, &failure.Error{Code: failure.BuildFailed, Path: "/public" + name, Message: fmt.Sprintf(
				"/public%s and %s would both be published as %s. Delete one of them.", name, name, name)}
		}
		s.pages = append(s.pages, parsePage(name, name, in.Files[name], t))
	}
	if !t.has("/index.html") {
		if err := s.addIndex(t); err != nil {
			return nil, err
		}
	}
	for i := range s.pages {
		p := &s.pages[i]
		s.imports = append(s.imports, p.imports...)
		for _, l := range p.links {
			s.links[l] = true
		}
		for _, e := range p.entries {
			if !e.inline() && !t.has(e.file) {
				return nil, &failure.Error{Code: failure.EntryNotFound, Path: p.source, Line: e.line, Column: 1,
					Message: fmt.Sprintf("The page loads the script %s, which does not exist. Add the file, or correct the "+
						"attribute src of the script.", e.file)}
			}
		}
	}
	return s, nil
}

// maxPageBytes limits the pages, because parsing takes many times their memory.
const maxPageBytes = 5 << 20

func checkPage(name string, data []byte) error {
	if len(data) > maxPageBytes {
		return &failure.Error{Code: failure.BuildFailed, Path: name, Message: fmt.Sprintf(
			"The page has %d bytes, and the limit is %d (5 MiB). Move large data into files of their own.",
			len(data), maxPageBytes)}
	}
	return nil
}

// addIndex adds the page of a project without /index.html: a generated one, or /public/index.html with the entry.
func (s *pages) addIndex(t tree) error {
	file := sourceEntry(t.files)
	template, public := t.read("/public/index.html")
	if err := checkPage("/public/index.html", template); err != nil && file != "" {
		return err
	}
	switch {
	case file == "" && public:
		return nil // /public is a site of its own
	case file == "":
		return &failure.Error{Code: failure.EntryNotFound, Message: "The project has no page. Add /index.html, which loads " +
			"the scripts and styles of the project, or a script /src/main.jsx, for which a page is generated."}
	case !public:
		template = []byte(generatedPage)
	}
	s.app = true
	template = bytes.ReplaceAll(template, []byte("%PUBLIC_URL%"), nil)
	p := parsePage("/index.html", "", template, t)
	if public && len(p.entries) > 0 {
		return nil
	}
	tag := []byte(`<script type="module" src="` + html.EscapeString(file) + `"></script>`)
	if i := bytes.LastIndex(template, []byte("</body>")); i >= 0 {
		template = slices.Concat(template[:i], tag, template[i:])
	} else {
		template = append(template, tag...)
	}
	s.pages = append(s.pages, parsePage("/index.html", "", template, t))
	return nil
}

const generatedPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>App</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="root"></div>
</body>
</html>
`

// sourceEntry returns the script that starts the app if no page names one, or "".
func sourceEntry(files map[string][]byte) string {
	for _, name := range []string{"/src/main", "/src/index"} {
		for _, ext := range []string{".tsx", ".ts", ".jsx", ".js", ".mjs"} {
			if _, ok := files[name+ext]; ok {
				return name + ext
			}
		}
	}
	return ""
}

var pageFolders = regexp.MustCompile(`^/(public|src|node_modules)/|/\.|/node_modules/`)

// isPage reports whether a file is an HTML page whose references are bundled.
func isPage(name string, app bool) bool {
	ext := strings.ToLower(path.Ext(name))
	return (ext == ".html" || ext == ".htm") && !pageFolders.MatchString(name) && !isSource(name, app)
}
