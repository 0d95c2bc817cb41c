package blueprint

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
)

// The templates are templates/<folder>/<name>. Their actions stand between <% and %>, which mean nothing in any of the languages;
// what they render is plain text: names are safe as they are (name), anything else passes through one of the functions.
//
//go:embed templates/*/*
var sources embed.FS

// parsed has one set of templates a folder, each parsed when it is first used.
var parsed sync.Map // folder → func() (*template.Template, error)

// render executes the template of a folder and tidies what comes out.
func render(folder, file string, data any) (string, error) {
	entry, _ := parsed.LoadOrStore(folder, sync.OnceValues(func() (*template.Template, error) {
		return template.New(folder).Delims("<%", "%>").Funcs(functions()).ParseFS(sources, "templates/"+folder+"/*")
	}))
	set, err := entry.(func() (*template.Template, error))()
	if err != nil {
		return "", fmt.Errorf("parse the templates of %s: %w", folder, err)
	}
	var b strings.Builder
	if err := set.ExecuteTemplate(&b, file, data); err != nil {
		return "", fmt.Errorf("execute the template %s/%s: %w", folder, file, err)
	}
	return tidy(b.String()), nil
}

// functions are what templates can call: js writes a text as a string of JavaScript in single quotes, html as text or a
// double-quoted attribute of HTML, join puts texts together, last tells the last index of a list.
func functions() template.FuncMap {
	return template.FuncMap{
		"js":   jsString,
		"html": htmlText,
		"join": strings.Join,
		"last": func(i int, length int) bool { return i == length-1 },
	}
}

// tidy ends every line at its last character and the text with one line end, and leaves no more than one empty line between others, none
// just inside of brackets: templates need not care where a part of theirs is left out.
func tidy(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		last := ""
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		if line == "" && (last == "" || strings.HasSuffix(last, "{") || strings.HasSuffix(last, "(") || strings.HasSuffix(last, "[")) {
			continue
		}
		if closing := strings.TrimLeft(line, " \t"); last == "" && len(out) > 0 && closing != "" && strings.Contains("})]", closing[:1]) {
			out = out[:len(out)-1]
		}
		out = append(out, line)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// jsString is a text as a JavaScript string in single quotes.
func jsString(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(text) + "'"
}

// htmlText is a text in HTML, between tags or in a quoted attribute.
func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(text)
}
