package blueprint

import (
	"strings"
	"unicode"
)

// test makes a test of a module that exists, or else the module and its test.
func (m *reactMaker) test() {
	if m.SubjectPath != "" {
		m.testExisting(m.SubjectPath)
		return
	}
	subject := m.subject()
	template, folder, extension := testOf(subject.view)
	if extension == "x" {
		extension = m.component()
	} else {
		extension = m.script()
	}
	path := m.testPath(subject.path, extension)
	v := subject.view
	v.Imports = map[string]string{"subject": importPath(path, stem(subject.path))}
	m.file(path, folder, template, v)
	m.config()
	m.says("`npx vitest run` runs the test in `%s`. The project had nothing of that name to test, so `%s` is new as well.", path, subject.path)
}

// subject makes what is to be tested.
func (m *reactMaker) subject() made {
	switch m.Subject {
	case Page:
		return m.page(m.name("page"))
	case Endpoint:
		return m.endpoint()
	}
	return m.thing(m.Subject)
}

// testOf is the template of the test of a module, its folder, and "x" for a test with markup.
func testOf(v jsView) (template, folder, extension string) {
	switch v.Variant {
	case "form", "details":
		return "test-" + v.Variant, "react", "x"
	case "list", "table":
		return "test-list", "react", "x"
	case "page", "form page", "list page":
		return "test-page", "react", "x"
	case "client", "store":
		return "test-" + v.Variant, "react", ""
	}
	switch {
	case v.Variant == "hook" || strings.HasPrefix(v.Variant, "hook-"):
		return "test-hook", "react", ""
	case v.Has["helper"]:
		return "test-helper", "javascript", ""
	}
	return "test-component", "react", "x"
}

// testPath is a free path beside the subject.
func (m *reactMaker) testPath(subject, extension string) string {
	named := func(suffix string) string { return stem(subject) + suffix + ".test" + extension }
	if !m.at.isUsable(subject[:strings.LastIndexByte(subject, '/')]) {
		named = func(suffix string) string {
			return m.source + "/" + baseName(stem(subject)) + suffix + ".test" + extension
		}
	}
	return named(m.at.free(func(suffix string) []string { return []string{named(suffix)} }))
}

// config makes the configuration of the test runner, if the project has none.
func (m *reactMaker) config() {
	base := m.at.base("package.json")
	for _, file := range m.at.files {
		if name := strings.TrimPrefix(file, base+"/"); strings.HasPrefix(name, "vite.config.") || strings.HasPrefix(name, "vitest.config.") {
			return
		}
	}
	path := base + "/vitest.config.mjs"
	if m.at.isFree(path) {
		m.at.take(path)
		m.file(path, "react", "vitest-config", jsView{})
	}
}

// testExisting makes a test of a module of which the path alone is known.
func (m *reactMaker) testExisting(subject string) {
	v := m.view(m.Spec, m.name("component"))
	v.Has["fields"] = len(m.Fields) > 0
	v.Has["form"] = m.Subject == Form
	base := baseName(stem(subject))
	extension := m.component()
	switch {
	case isHookName(base):
		v.Has["hook"], v.Name, extension = true, base, m.script()
	case m.Subject == Endpoint || m.Subject == Utility:
		v.Has["module"], extension = true, m.script()
		v.Name = jsVariable(nameOf(wordsOf(base), "module"))
	default:
		v.Name = jsType(m.subjectName(subject))
	}
	path := m.testPath(subject, extension)
	v.Imports["subject"] = importPath(path, moduleOf(subject))
	m.file(path, "react", "test-existing", v)
	m.config()
	m.says("`npx vitest run` runs the test in `%s`. It holds what can be told of `%s` without knowing its content: a start to build on.", path, subject)
}

// subjectName is what a component that exists is called: like its file, or like its folder where the file has a role's name.
func (m *reactMaker) subjectName(subject string) name {
	base := baseName(stem(subject))
	if isOneOf(base, []string{"index", "page", "layout", "route"}) {
		return m.name("page")
	}
	return nameOf(wordsOf(base), "component")
}

// moduleOf is how a module is imported: scripts without their extension, anything else with it.
func moduleOf(file string) string {
	for _, extension := range []string{".js", ".jsx", ".ts", ".tsx"} {
		if strings.HasSuffix(file, extension) {
			return stem(file)
		}
	}
	return file
}

// isHookName reports whether an identifier is that of a hook: useToggle.
func isHookName(identifier string) bool {
	rest, ok := strings.CutPrefix(identifier, "use")
	if !ok || rest == "" || !unicode.IsUpper(rune(rest[0])) {
		return false
	}
	for _, r := range rest {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// wordsOf are the words of an identifier or file name: UserProfile, user-profile.
func wordsOf(identifier string) []string {
	var words []string
	start := 0
	runes := []rune(identifier)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}
