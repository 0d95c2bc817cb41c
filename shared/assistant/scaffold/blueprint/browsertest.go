package blueprint

import "strings"

// What the tests import, at the versions that they were seen to pass with.
const (
	vitest        = "vitest@^4.1.0"
	jsdom         = "jsdom@^29.1.0" // named by the tests' first line, for vitest to load
	vueTestUtils  = "@vue/test-utils@^2.6.0"
	svelteTesting = "@testing-library/svelte@^5.4.0"
	userEvent     = "@testing-library/user-event@^14.6.0"
	pinia         = "pinia@^4.1.0"
)

// testFile is where the test of a file goes: where the project's others are, beside what they test or in a folder, by the name that
// they have.
func (p *place) testFile(subject, extension string) string {
	folder, base := subject[:strings.LastIndexByte(subject, '/')], baseName(subject)
	base = strings.TrimPrefix(stem(base), "+")
	kind := ".test"
	inFolder := false
	for _, file := range p.files {
		if isForeign(file) {
			continue
		}
		inFolder = inFolder || strings.Contains(file, "/__tests__/")
		if strings.Contains(baseName(file), ".spec.") {
			kind = ".spec"
		}
	}
	if inFolder {
		folder = p.folder(nil, folder+"/__tests__")
	}
	at := func(suffix string) string { return folder + "/" + base + suffix + kind + "." + extension }
	return at(p.free(func(suffix string) []string { return []string{at(suffix)} }))
}

// isScript reports whether a file can be imported without its extension, as bundlers take it.
func isScript(file string) bool {
	return hasSuffix(file, ".js", ".ts", ".jsx", ".tsx")
}

// imported is how a test imports a file: scripts without their extension, as bundlers take them.
func imported(from, to string) string {
	if isScript(to) {
		to = stem(to)
	}
	return importPath(from, to)
}

// existing describes a test's subject that the project has and whose content nobody knows here.
func existing(s Spec, from string) sheet {
	n := nameOf(s.Name, "subject")
	data := sheetOf(s, n.without("component", "card", "details", "test"), n)
	data.Title = n.title()
	if len(s.Fields) > 0 {
		data = data.with(visible(s, n))
	}
	data.Part = &part{Import: imported(from, s.SubjectPath)}
	return data
}

// RequiredKeys are the fields that a form can't be sent without, as strings of JavaScript.
func (v sheet) RequiredKeys() string {
	var keys []string
	for _, f := range v.Inputs {
		if f.Required {
			keys = append(keys, jsString(f.Key))
		}
	}
	return strings.Join(keys, ", ")
}

// ClientImports are the functions of a client that its test calls.
func (v sheet) ClientImports() string {
	var names []string
	for _, f := range []struct{ method, name string }{
		{"POST", "create" + v.Type}, {"DELETE", "delete" + v.Type}, {"GET", "get" + v.Type}, {"GET", "list" + v.TypeMany}, {"PATCH", "patch" + v.Type}, {"PUT", "update" + v.Type},
	} {
		if v.Has(f.method) {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// Cases are what a well-known helper answers, each with its arguments behind it.
func (v sheet) Cases() []string {
	switch v.Shape {
	case "date":
		return []string{"'January 10, 2026', '2026-01-10', 'en-US'", "'', 'no date'"}
	case "currency":
		return []string{"'$1,234.50', 1234.5, 'USD', 'en-US'", "'¥1,235', 1234.5, 'JPY', 'en-US'"}
	case "slug":
		return []string{"'creme-brulee', 'Crème brûlée!'", "'', '?!'"}
	case "truncate":
		return []string{"'short', 'short', 5", "'long…', 'long text', 6"}
	case "capitalize":
		return []string{"'Élan', 'élan'", "'', ''"}
	case "clamp":
		return []string{"1, 0, 1, 3", "2, 2, 1, 3", "3, 9, 1, 3"}
	case "email":
		return []string{"true, 'ada@example.com'", "false, 'ada@example'", "false, 'ada example.com'"}
	}
	return nil
}

// TakesChildren reports whether a test of a component puts something into it.
func (v sheet) TakesChildren() bool {
	return v.Shape == "button" || v.Shape == "dialog" || v.Shape == "content" && len(v.Inputs) == 0
}

// RecordsImports are what a test of an endpoint's records needs of them.
func (v sheet) RecordsImports() string {
	var names []string
	for _, f := range []struct {
		wanted bool
		name   string
	}{
		{v.HasFind(), "find" + v.Type}, {v.Has("GET"), "list" + v.TypeMany}, {v.HasSave(), "read" + v.Type}, {v.Has("DELETE"), "remove" + v.Type}, {v.HasSave(), "save" + v.Type},
	} {
		if f.wanted {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}
