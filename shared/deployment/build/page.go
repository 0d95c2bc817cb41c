package build

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// page is an HTML page of the project. References are counted by the tokens of the document.
type page struct {
	path    string // in the output
	source  string // path in the project, or "" if the page is generated
	data    []byte
	web     string // folder of the project that is the root of the site
	base    string // folder to which relative references belong
	entries map[int]entry
	// dropped are the hints to load a script early that would load its source, beside the bundle.
	dropped map[int]bool
	// headEnd is the number of the token </head>, or -1. Style sheets of scripts are inserted before it.
	headEnd int
	// links are the project's files that other elements refer to, such as images and plain scripts.
	links []string
	// imports are the keys of import maps.
	imports []string
}

// entry is a script or style sheet of a page.
type entry struct {
	file string // path in the project; of the page, if the script is inline
	line int
	code string // content of an inline script
	n    int    // number of an inline script's token
}

func (e entry) inline() bool { return e.code != "" }

// tokens calls f with each token of an HTML document: its number, its bytes and its line.
func tokens(data []byte, f func(n int, t html.Token, raw []byte, line int)) {
	z := html.NewTokenizer(bytes.NewReader(data))
	line := 1
	for n := 0; ; n++ {
		if z.Next() == html.ErrorToken {
			if raw := z.Raw(); len(raw) > 0 {
				f(n, html.Token{Type: html.ErrorToken}, raw, line)
			}
			return
		}
		raw := bytes.Clone(z.Raw())
		f(n, z.Token(), raw, line)
		line += bytes.Count(raw, []byte("\n"))
	}
}

// parsePage finds the entries of a page. A reference to a style sheet that does not exist is left alone.
func parsePage(output, source string, data []byte, project *project) page {
	p := page{
		path: output, source: source, data: data, web: project.web, base: path.Dir(output), entries: map[int]entry{},
		dropped: map[int]bool{}, headEnd: -1,
	}
	open := html.Token{} // the inline script that has begun
	tokens(data, func(n int, tok html.Token, raw []byte, line int) {
		switch {
		case tok.Type != html.TextToken:
		case open.Data == "script":
			p.addInline(n, open, string(raw), line)
		case open.Data == "style":
			p.addStyle(string(raw))
		}
		open = html.Token{}
		switch {
		case tok.Type == html.EndTagToken && tok.Data == "head" && p.headEnd < 0:
			p.headEnd = n
		case tok.Type != html.StartTagToken && tok.Type != html.SelfClosingTagToken:
		case tok.Data == "base":
			if href := attribute(tok, "href"); strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") {
				p.base = path.Dir(href + "x")
			}
		case isModule(tok) && hasAttribute(tok, "src"):
			p.addEntry(n, attribute(tok, "src"), line, project, true)
		case hasRel(tok, "modulepreload") && p.isProjectFile(attribute(tok, "href"), project):
			p.dropped[n] = true
		case hasRel(tok, "stylesheet"):
			p.addEntry(n, attribute(tok, "href"), line, project, false)
		default:
			if tok.Data == "style" || tok.Data == "script" && !hasAttribute(tok, "src") {
				open = tok
			}
			p.addLinks(tok)
		}
	})
	return p
}

// addEntry adds a script or style sheet, unless it is external, or a file of /public, which is not bundled.
func (p *page) addEntry(n int, ref string, line int, project *project, script bool) {
	file, ok := p.resolve(ref)
	if !ok || !project.has(file) && (!script || project.has(project.public+strings.TrimPrefix(file, project.web))) {
		return
	}
	p.entries[n] = entry{file: file, line: line}
}

// isProjectFile reports whether a reference means a file of the project outside of /public.
func (p *page) isProjectFile(ref string, project *project) bool {
	file, ok := p.resolve(ref)
	return ok && project.has(file) && !project.has(project.public+strings.TrimPrefix(file, project.web))
}

// addInline adds an inline module script that imports something, and the keys of an import map.
func (p *page) addInline(n int, script html.Token, code string, line int) {
	switch {
	case strings.EqualFold(attribute(script, "type"), "importmap"):
		var m struct {
			Imports map[string]any `json:"imports"`
		}
		if json.Unmarshal([]byte(code), &m) == nil {
			for key, value := range m.Imports {
				p.imports = append(p.imports, key)
				if ref, ok := value.(string); ok {
					p.addLink(ref)
				}
			}
		}
	case isModule(script) && strings.Contains(code, "import"):
		// The token before this one is the script's tag, which gets the attribute src.
		p.entries[n-1] = entry{file: p.web + p.path, line: line, code: code, n: n}
	}
}

// addLinks adds the files that an element refers to.
func (p *page) addLinks(tok html.Token) {
	for _, a := range tok.Attr {
		switch a.Key {
		case "src", "href", "poster", "data", "content":
			p.addLink(a.Val)
		case "style":
			p.addStyle(a.Val)
		case "srcset", "imagesrcset":
			for _, candidate := range strings.Split(a.Val, ",") {
				if fields := strings.Fields(candidate); len(fields) > 0 {
					p.addLink(fields[0])
				}
			}
		}
	}
}

// styleURL matches url() in a style sheet.
var styleURL = regexp.MustCompile(`(?i)\burl\(\s*("[^"\n]*"|'[^'\n]*'|[^"')\s]*)`)

// addStyle adds the files that url() in a style sheet of the page refers to. They are published as they are.
func (p *page) addStyle(css string) {
	for _, m := range styleURL.FindAllStringSubmatch(css, -1) {
		p.addLink(strings.Trim(m[1], "\"'"))
	}
}

func (p *page) addLink(ref string) {
	if file, ok := p.resolve(ref); ok {
		p.links = append(p.links, file)
	}
}

// resolve returns the path in the project that a reference of the page means. ok is false if it is not a path.
func (p *page) resolve(ref string) (file string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return "", false
	}
	if strings.HasPrefix(u.Path, "/") {
		return p.web + path.Clean(u.Path), true
	}
	return p.web + path.Join(p.base, u.Path), true
}

// render returns the page with the references to the bundled files. The rest of the document stays as it is.
func (p *page) render(b *bundled) []byte {
	var out bytes.Buffer
	var styles []string
	first := -1 // the token before which the style sheets are inserted
	for _, n := range slices.Sorted(maps.Keys(p.entries)) {
		sheet := b.entries[p.entries[n].key()].styles
		if sheet == "" || slices.Contains(styles, sheet) {
			continue
		}
		styles = append(styles, sheet)
		if first < 0 {
			first = n
		}
	}
	if p.headEnd >= 0 {
		first = p.headEnd
	}
	tokens(p.data, func(n int, tok html.Token, raw []byte, _ int) {
		if n == first {
			for _, s := range styles {
				out.WriteString(`<link rel="stylesheet" href="` + html.EscapeString(s) + `">`)
			}
		}
		if p.dropped[n] {
			return
		}
		if e, ok := p.entries[n]; ok {
			out.WriteString(rewrite(tok, b.entries[e.key()].path))
		} else if e, ok := p.entries[n-1]; !ok || !e.inline() {
			out.Write(raw)
		}
	})
	return out.Bytes()
}

// rewrite returns the tag of a script or style sheet with a new reference.
func rewrite(tok html.Token, ref string) string {
	key := "src"
	if tok.Data == "link" {
		key = "href"
	}
	attrs := []html.Attribute{}
	for _, a := range tok.Attr {
		// The integrity is that of the file before it was bundled.
		if a.Key != key && a.Key != "integrity" && (key == "href" || a.Key != "type") {
			attrs = append(attrs, a)
		}
	}
	if key == "src" {
		attrs = append(attrs, html.Attribute{Key: "type", Val: "module"})
	}
	tok.Attr = append(attrs, html.Attribute{Key: key, Val: ref})
	return tok.String()
}

// isModule reports whether a script is bundled. Browsers cannot run TypeScript and JSX, so such a script is one, too.
func isModule(tok html.Token) bool {
	if tok.Data != "script" {
		return false
	}
	kind := strings.ToLower(attribute(tok, "type"))
	ext := path.Ext(attribute(tok, "src"))
	return kind == "module" ||
		(kind == "" || kind == "text/javascript") && slices.Contains([]string{".ts", ".tsx", ".jsx"}, ext)
}

// hasRel reports whether an element is a link with a relation.
func hasRel(tok html.Token, rel string) bool {
	return tok.Data == "link" && slices.Contains(strings.Fields(strings.ToLower(attribute(tok, "rel"))), rel)
}

func attribute(tok html.Token, key string) string {
	for _, a := range tok.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(tok html.Token, key string) bool {
	return slices.ContainsFunc(tok.Attr, func(a html.Attribute) bool { return a.Key == key })
}
